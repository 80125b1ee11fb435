#include "fuelrail/sampler/window_order.h"

#include <algorithm>

#include "fuelrail/base/philox.h"

namespace fuelrail {
namespace {

constexpr uint32_t kOperation = 0xfffd;
constexpr uint32_t kPlaceDraw = 0;
constexpr uint32_t kSeedDraw = 2;

}  // namespace

WindowOrder::WindowOrder(uint64_t records, uint64_t block, uint64_t blocks, uint64_t seed,
                         uint32_t epoch)
    : records_(records), block_(std::min(block, records)), seed_(seed), epoch_(epoch) {
  const uint64_t in_all = (records - 1) / block_ + 1;
  blocks_ = std::min(blocks, in_all);
  window_ = block_ * blocks_;
  short_ = in_all * block_ - records;
  // Without a short block, its place is after the last block.
  const uint64_t whole = short_ > 0 ? in_all - 1 : in_all;
  short_place_ =
      short_ > 0 ? Philox(seed, epoch, 0).below64(kOperation, kPlaceDraw, in_all) : in_all;
  if (whole > 0) whole_blocks_.emplace(whole, seed, (uint64_t{1} << 32) + epoch);
}

WindowOrder::Window WindowOrder::window_at(uint64_t position) const {
  // The window with the short block is smaller, so later windows begin earlier.
  const uint64_t shrunk = short_place_ / blocks_;
  const bool after = short_ > 0 && position + short_ >= (shrunk + 1) * window_;
  const uint64_t number = (position + (after ? short_ : 0)) / window_;
  const uint64_t begin = number * window_ - (number > shrunk ? short_ : 0);
  const uint64_t size = window_ - (number == shrunk ? short_ : 0);
  return {number, begin, std::min(size, records_ - begin)};
}

// The record at a position of the permuted blocks, before windows are mixed.
uint64_t WindowOrder::unmixed(uint64_t position) const {
  const uint64_t short_begin = short_place_ * block_;
  if (position < short_begin || short_ == 0) {
    return (*whole_blocks_)(position / block_) * block_ + position % block_;
  }
  const uint64_t short_size = block_ - short_;
  if (position < short_begin + short_size) return records_ - short_size + (position - short_begin);
  const uint64_t rest = position - short_size;
  return (*whole_blocks_)(rest / block_) * block_ + rest % block_;
}

uint64_t WindowOrder::operator()(uint64_t position) const {
  const Window window = window_at(position);
  const Philox random(seed_, epoch_, window.number);
  const uint64_t seed =
      uint64_t{random.bits(kOperation, kSeedDraw + 1)} << 32 | random.bits(kOperation, kSeedDraw);
  const Permutation mixed(window.size, seed, epoch_);
  return unmixed(window.begin + mixed(position - window.begin));
}

}  // namespace fuelrail
