#include "fuelrail/storage/block_reader.h"

#include <algorithm>
#include <cstring>

namespace fuelrail {

BlockReader::BlockReader(const Source& source, uint64_t block_bytes)
    : source_(source), source_bytes_(source.size_bytes()), block_bytes_(block_bytes) {}

bool BlockReader::holds(uint64_t offset, uint64_t length) const {
  return offset >= begin_ && offset - begin_ <= filled_ && length <= filled_ - (offset - begin_);
}

Bytes BlockReader::at(uint64_t offset, uint64_t length) {
  if (holds(offset, length)) return {buffer_.get() + (offset - begin_), length};
  const uint64_t wanted = std::min(std::max(length, block_bytes_), source_bytes_ - offset);
  // Bytes that the old and the new window share are moved, not read again.
  const uint64_t kept = holds(offset, 0) ? begin_ + filled_ - offset : 0;
  const std::byte* kept_at = buffer_.get() + (kept == 0 ? 0 : offset - begin_);
  if (wanted > capacity_) {
    auto larger = std::make_unique_for_overwrite<std::byte[]>(wanted);
    if (kept != 0) std::memcpy(larger.get(), kept_at, kept);
    buffer_ = std::move(larger);
    capacity_ = wanted;
  } else if (kept != 0) {
    std::memmove(buffer_.get(), kept_at, kept);
  }
  begin_ = offset;
  filled_ = 0;  // until the read has succeeded
  source_.read(offset + kept, {buffer_.get() + kept, wanted - kept});
  filled_ = wanted;
  return {buffer_.get(), length};
}

}  // namespace fuelrail
