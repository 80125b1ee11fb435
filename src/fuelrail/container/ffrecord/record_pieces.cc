#include "fuelrail/container/ffrecord/record_pieces.h"

#include <algorithm>

#include "fuelrail/base/crc32.h"
#include "fuelrail/base/error.h"

namespace fuelrail::ffrecord {
Bytes RecordPieces::next(MutableBytes buffer) {
  const uint64_t begin = table_.offset(record_);
  const uint64_t left = table_.length(record_) - done_;
  const MutableBytes piece = buffer.first(std::min<uint64_t>(left, buffer.size()));
  try {
    if (source_.is_hole(begin + done_, piece.size())) {
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
