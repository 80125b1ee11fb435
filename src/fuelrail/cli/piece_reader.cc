#include "fuelrail/cli/piece_reader.h"

#include <algorithm>

#include "fuelrail/base/crc32.h"
#include "fuelrail/base/error.h"
#include "fuelrail/cli/opening.h"
#include "fuelrail/cli/signals.h"
#include "fuelrail/container/image_record.h"

namespace fuelrail::cli {
namespace {

constexpr uint64_t kHeadBytes = uint64_t{64} << 10;
constexpr uint64_t kLongestOfBytes = uint64_t{32} << 20;
constexpr uint64_t kLongestOfImages = (uint64_t{1} << 29) - 1;

}  // namespace

PieceReader::PieceReader(const Container& container)
    : container_(container),
      longest_(container.schema().has("image") ? kLongestOfImages : kLongestOfBytes) {
  for (const RecordFile* file : record_files_of(container)) {
    if (const auto* ffrecord = dynamic_cast<const ffrecord::FfrecordContainer*>(file)) {
      files_.push_back(ffrecord);
    }
  }
}

const ffrecord::FfrecordContainer* PieceReader::file_of(uint64_t i) const {
  const std::string path = container_.place(i).path;
  const auto found =
      std::find_if(files_.begin(), files_.end(),
                   [&](const ffrecord::FfrecordContainer* file) { return file->uri() == path; });
  return found == files_.end() ? nullptr : *found;
}

bool PieceReader::is_long(uint64_t i) const {
  return !files_.empty() && container_.extent(i).length > longest_ && file_of(i) != nullptr;
}

Bytes PieceReader::read_piece(const Extent& extent, uint64_t at, uint64_t length) {
  piece_.resize(std::min(length, extent.length - at));
  extent.source->read(extent.offset + at, piece_);
  return piece_;
}

Bytes PieceReader::head(uint64_t i) { return read_piece(container_.extent(i), 0, kHeadBytes); }

void PieceReader::read(uint64_t i, const std::function<void(Bytes piece)>& take) {
  const Place place = container_.place(i);
  const Extent extent = container_.extent(i);
  const auto at_place = [&place](const auto& act) {
    try {
      act();
    } catch (Error& error) {
      error.add({.path = place.path, .record = place.record, .offset = place.offset});
      throw;
    }
  };
  uint32_t crc = 0;
  for (uint64_t done = 0; done < extent.length; done += piece_.size()) {
    throw_if_interrupted();
    at_place([&] { crc = crc32(read_piece(extent, done, kPieceBytes), crc); });
    take(piece_);
  }
  at_place([&] { check_payload_crc(crc, file_of(i)->table().crc(place.record)); });
}

}  // namespace fuelrail::cli
