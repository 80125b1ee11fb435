#include "fuelrail/container/ffrecord/record_pieces.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "fuelrail/base/crc32.h"
#include "fuelrail/base/error.h"

namespace fuelrail::ffrecord {
namespace {

// Whether these bytes are there, and none was ever written. (Nobody reads at a descriptor's own
// position, which lseek moves.)
bool is_hole(const Source& source, uint64_t offset, uint64_t length) {
  const int file = source.descriptor();
  if (file < 0) return false;
  off_t data = ::lseek(file, static_cast<off_t>(offset), SEEK_DATA);
  if (data < 0 && errno == ENXIO) data = ::lseek(file, 0, SEEK_END);  // nothing but holes follow
  return data >= 0 && static_cast<uint64_t>(data) >= offset + length;
}

}  // namespace

bool has_hole(const Source& source, uint64_t offset, uint64_t length) {
  if (source.descriptor() < 0) return false;
  const off_t hole = ::lseek(source.descriptor(), static_cast<off_t>(offset), SEEK_HOLE);
  return hole >= 0 && static_cast<uint64_t>(hole) < offset + length;
}

Bytes RecordPieces::next(MutableBytes buffer) {
  const uint64_t begin = table_.offset(record_);
  const uint64_t left = table_.length(record_) - done_;
  const MutableBytes piece = buffer.first(std::min<uint64_t>(left, buffer.size()));
  try {
    if (is_hole(source_, begin + done_, piece.size())) {
      std::fill(piece.begin(), piece.end(), std::byte{0});
    } else {
      source_.read(begin + done_, piece);
    }
    crc_ = crc32(piece, crc_);
    done_ += piece.size();
    if (piece.empty()) check_record_crc(crc_, table_.crc(record_));
  } catch (Error& error) {
    error.add({.path = source_.uri(), .record = record_, .offset = begin});
    throw;
  }
  return piece;
}

}  // namespace fuelrail::ffrecord
