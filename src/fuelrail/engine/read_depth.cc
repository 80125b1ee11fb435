#include "fuelrail/engine/read_depth.h"

#include <utility>

namespace fuelrail {

bool ReadDepth::arrived(size_t records, bool starving) {
  starved_ |= starving && worked_;
  in_round_ += records;
  if (in_round_ < reads_ || reads_ == 0) return false;
  in_round_ = 0;
  if (std::exchange(starved_, false)) return grow();
  return ++calm_rounds_ >= patience_ && shrink();
}

bool ReadDepth::grow() {
  calm_rounds_ = 0;
  if (std::exchange(shrank_, false)) patience_ = std::min(2 * patience_, kMaxPatience);
  if (reads_ >= most_) return false;
  reads_ = std::min(2 * reads_, most_);
  return true;
}

bool ReadDepth::shrink() {
  calm_rounds_ = 0;
  if (reads_ == least_) return false;
  reads_ = std::max(least_, reads_ - std::max<size_t>(reads_ / 8, 1));
  shrank_ = true;
  return true;
}

}  // namespace fuelrail
