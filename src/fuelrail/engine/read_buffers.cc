#include "fuelrail/engine/read_buffers.h"

#include <algorithm>
#include <utility>

namespace fuelrail {
namespace {

constexpr size_t kSmallest = 1024;
constexpr size_t kNearClasses = 3;  // a buffer up to 1.75 times too large is reused

SizeClass class_of(size_t bytes) { return size_class_of(std::max(bytes, kSmallest)); }

}  // namespace

bool ReadBuffers::has_room() const {
  return in_use_ < always_ || (in_use_bytes_ <= limit_bytes_ - limit_bytes_ / 4 &&
                               in_use_ <= limit_count_ - limit_count_ / 4);
}

bool ReadBuffers::admits(size_t bytes) const {
  if (has_room()) return true;
  return in_use_ < limit_count_ && in_use_bytes_ < limit_bytes_ &&
         bytes <= limit_bytes_ - in_use_bytes_;
}

ReadBuffer ReadBuffers::take(size_t bytes) {
  const SizeClass wanted = class_of(bytes);
  ReadBuffer buffer;
  for (size_t i = wanted.index; i <= wanted.index + kNearClasses && i < kSizeClasses; ++i) {
    if (idle_[i].empty()) continue;
    buffer = std::move(idle_[i].back());
    idle_[i].pop_back();
    idle_bytes_ -= buffer.capacity;
    break;
  }
  if (!buffer.data) {
    free_idle(wanted.capacity);
    buffer = {std::make_unique_for_overwrite<std::byte[]>(wanted.capacity), wanted.capacity};
    ++allocations_;
  }
  ++in_use_;
  in_use_bytes_ += buffer.capacity;
  return buffer;
}

void ReadBuffers::give_back(ReadBuffer buffer) {
  if (!buffer.data) return;
  --in_use_;
  in_use_bytes_ -= buffer.capacity;
  if (in_use_bytes_ + idle_bytes_ + buffer.capacity > kept_bytes_) return;
  idle_bytes_ += buffer.capacity;
  idle_[class_of(buffer.capacity).index].push_back(std::move(buffer));
}

// Frees idle buffers, the largest first, until `bytes_wanted` more bytes are within kept_bytes_.
void ReadBuffers::free_idle(size_t bytes_wanted) {
  for (size_t i = kSizeClasses; i-- > 0;) {
    while (!idle_[i].empty()) {
      if (in_use_bytes_ + idle_bytes_ + bytes_wanted <= kept_bytes_) return;
      idle_bytes_ -= idle_[i].back().capacity;
      idle_[i].pop_back();
    }
  }
}

}  // namespace fuelrail
