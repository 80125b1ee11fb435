#include "fuelrail/cli/piece_reader.h"

#include <algorithm>

#include "fuelrail/cli/opening.h"
#include "fuelrail/cli/signals.h"
#include "fuelrail/container/image_record.h"

namespace fuelrail::cli {
namespace {

constexpr uint64_t kHeadBytes = uint64_t{64} << 10;
constexpr uint64_t kLongestOfBytes = uint64_t{32} << 20;

}  // namespace

PieceReader::PieceReader(const Container& container)
    : container_(container),
      longest_(is_opaque(container) ? kLongestOfBytes : kMaxImageRecordBytes) {
  for (const RecordFile* file : record_files_of(container)) {
    if (file->has_long_records()) files_.push_back(file);
  }
}

const RecordFile* PieceReader::file_of(uint64_t i) const {
  const std::string path = container_.place(i).path;
  const auto found = std::find_if(files_.begin(), files_.end(),
                                  [&](const RecordFile* file) { return file->uri() == path; });
  return found == files_.end() ? nullptr : *found;
}

bool PieceReader::is_long(uint64_t i) const {
  return !files_.empty() && container_.extent(i).length > longest_ && file_of(i) != nullptr;
}

Bytes PieceReader::head(uint64_t i) {
  const Extent extent = container_.extent(i);
  piece_.resize(std::min(kHeadBytes, extent.length));
  extent.source->read(extent.offset, piece_);
  return piece_;
}

void PieceReader::read(uint64_t i, const std::function<void(Bytes piece)>& take) {
  piece_.resize(kPieceBytes);
  throw_if_interrupted();
  file_of(i)->read_pieces(container_.place(i).record, piece_, [&take](Bytes piece) {
    take(piece);
    throw_if_interrupted();
  });
}

}  // namespace fuelrail::cli
