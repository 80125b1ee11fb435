#include "fuelrail/batch/arena.h"

#include <algorithm>
#include <limits>
#include <new>

namespace fuelrail {
namespace {

constexpr size_t kBlockAlignment = 64;  // cache line, widest vector register
// Room for a dozen photographs. Untouched parts of a block use only address space.
constexpr size_t kBlockBytes = size_t{16} << 20;
constexpr size_t kMostBytes = std::numeric_limits<size_t>::max() / 2 - kBlockAlignment;

}  // namespace

Arena::~Arena() {
  for (const Block& block : blocks_)
    ::operator delete(block.data, std::align_val_t{kBlockAlignment});
}

std::byte* Arena::allocate(size_t bytes) {
  if (bytes > kMostBytes) throw std::bad_alloc();
  const size_t size =
      (std::max<size_t>(bytes, 1) + kBlockAlignment - 1) / kBlockAlignment * kBlockAlignment;
  const Lock lock(mutex_);
  auto block = std::find_if(blocks_.begin(), blocks_.end(), [size](const Block& candidate) {
    return size <= candidate.size - candidate.used;
  });
  if (block == blocks_.end()) {
    blocks_.reserve(blocks_.size() + 1);
    const size_t fresh = std::max(size, kBlockBytes);
    auto* const data =
        static_cast<std::byte*>(::operator new(fresh, std::align_val_t{kBlockAlignment}));
    block = blocks_.insert(blocks_.end(), {data, fresh, 0});
  }
  std::byte* const piece = block->data + block->used;
  block->used += size;
  return piece;
}

void Arena::clear() {
  const Lock lock(mutex_);
  for (Block& block : blocks_) block.used = 0;
}

size_t Arena::capacity_bytes() const {
  const Lock lock(mutex_);
  size_t bytes = 0;
  for (const Block& block : blocks_) bytes += block.size;
  return bytes;
}

}  // namespace fuelrail
