#include "fuelrail/pack/annotations/polygon.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <utility>
#include <vector>

#include "fuelrail/base/error.h"

namespace fuelrail::pack {
namespace {

constexpr int64_t kFineness = 5;  // steps of the fine grid for each pixel
constexpr int64_t kMiddle = 2;    // the step in the middle of a pixel

struct FinePoint {
  int64_t x = 0;
  int64_t y = 0;
};

// Half up for numbers from -0.5 on. Smaller ones are rounded towards zero after adding 0.5, as C
// converts them.
int64_t rounded(double value) { return static_cast<int64_t>(value + 0.5); }

FinePoint fine_point(std::span<const double> xy, size_t corner) {
  return {rounded(double{kFineness} * xy[2 * corner]),
          rounded(double{kFineness} * xy[2 * corner + 1])};
}

// The steps of an edge.
int64_t steps_of(FinePoint from, FinePoint to) {
  return std::max(std::abs(to.x - from.x), std::abs(to.y - from.y));
}

// Gathers the places, counted in pixels column by column, where the outline crosses the middle of a
// column. A place that is crossed twice is no change.
class Crossings {
 public:
  // `left`, `right`: the smallest and the largest x of the corners.
  Crossings(Size image, int64_t left, int64_t right)
      : image_(image), first_(column_of(left) * image.height) {
    const int64_t columns = std::min(column_of(right) + 1, image.width) - column_of(left);
    changes_.resize(static_cast<size_t>(columns * image.height / kWordBits + 1));
  }

  // Moves to the next point of the outline.
  void visit(FinePoint point) {
    if (last_ && point.x != last_->x) add(*last_, point);
    last_ = point;
  }

  RunLengths lengths() const {
    const int64_t end = image_.height * image_.width;
    RunLengths lengths;
    int64_t run_begin = 0;
    for (size_t i = 0; i < changes_.size(); ++i) {
      for (uint64_t left = changes_[i]; left != 0; left &= left - 1) {
        const int64_t place = first_ + static_cast<int64_t>(i) * kWordBits + std::countr_zero(left);
        if (place == end) break;
        lengths.push_back(static_cast<uint32_t>(place - run_begin));
        run_begin = place;
      }
    }
    lengths.push_back(static_cast<uint32_t>(end - run_begin));
    return lengths;
  }

 private:
  static constexpr int64_t kWordBits = 64;

  int64_t column_of(int64_t x) const { return std::clamp<int64_t>(x / kFineness, 0, image_.width); }

  void add(FinePoint from, FinePoint to) {
    const int64_t left = to.x < from.x ? to.x : to.x - 1;
    if (left < 0 || left % kFineness != kMiddle) return;
    const int64_t column = left / kFineness;
    if (column >= image_.width) return;
    const int64_t above_middle = std::min(from.y, to.y) - kMiddle;
    const int64_t row = above_middle <= 0 ? 0 : (above_middle + kFineness - 1) / kFineness;
    const int64_t place = column * image_.height + std::min(row, image_.height) - first_;
    changes_[static_cast<size_t>(place / kWordBits)] ^= uint64_t{1} << (place % kWordBits);
  }

  Size image_;
  std::optional<FinePoint> last_;
  int64_t first_;                  // the first place of the first column
  std::vector<uint64_t> changes_;  // one bit for each place from `first_` on
};

// The rounding depends on the direction in which an edge is computed: always towards greater
// coordinates. The points are visited in the outline's direction.
void walk_edge(FinePoint from, FinePoint to, Crossings& crossings) {
  const int64_t steps = steps_of(from, to);
  if (steps == 0) return crossings.visit(from);
  const bool along_x = std::abs(to.x - from.x) == steps;
  const bool backwards = along_x ? from.x > to.x : from.y > to.y;
  if (backwards) std::swap(from, to);
  const auto rise = static_cast<double>(along_x ? to.y - from.y : to.x - from.x);
  const double slope = rise / static_cast<double>(steps);
  for (int64_t i = 0; i <= steps; ++i) {
    const int64_t step = backwards ? steps - i : i;
    const double across = slope * static_cast<double>(step);
    crossings.visit(along_x
                        ? FinePoint{from.x + step, rounded(static_cast<double>(from.y) + across)}
                        : FinePoint{rounded(static_cast<double>(from.x) + across), from.y + step});
  }
}

}  // namespace

RunLengths rasterise(std::span<const double> xy, Size image) {
  const size_t corners = xy.size() / 2;
  const auto end_of = [&](size_t edge) { return fine_point(xy, (edge + 1) % corners); };
  int64_t steps = 0;
  int64_t left = INT64_MAX;
  int64_t right = INT64_MIN;
  for (size_t i = 0; i < corners; ++i) {
    const FinePoint corner = fine_point(xy, i);
    steps += steps_of(corner, end_of(i));
    left = std::min(left, corner.x);
    right = std::max(right, corner.x);
  }
  if (steps > kFineness * kLongestOutline) {
    throw CorruptError("the outline of the polygon is too long",
                       {.expected = fmt::format("at most {} pixels", kLongestOutline),
                        .found = fmt::to_string(steps / kFineness)});
  }
  Crossings crossings(image, left, right);
  for (size_t i = 0; i < corners; ++i) walk_edge(fine_point(xy, i), end_of(i), crossings);
  return crossings.lengths();
}

}  // namespace fuelrail::pack
