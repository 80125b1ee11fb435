#include "fuelrail/pack/annotations/polygon.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <utility>
#include <vector>

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

// Gathers the places, counted in pixels column by column, where the outline crosses the middle of a
// column.
class Crossings {
 public:
  explicit Crossings(Size image) : image_(image) {}

  // Moves to the next point of the outline.
  void visit(FinePoint point) {
    if (last_ && point.x != last_->x) add(*last_, point);
    last_ = point;
  }

  // Twice the same place is no change.
  RunLengths lengths() {
    std::sort(places_.begin(), places_.end());
    const int64_t end = image_.height * image_.width;
    RunLengths lengths;
    int64_t run_begin = 0;
    for (size_t i = 0; i < places_.size() && places_[i] < end;) {
      size_t next = i;
      while (next < places_.size() && places_[next] == places_[i]) ++next;
      if ((next - i) % 2 == 1) {
        lengths.push_back(static_cast<uint32_t>(places_[i] - run_begin));
        run_begin = places_[i];
      }
      i = next;
    }
    lengths.push_back(static_cast<uint32_t>(end - run_begin));
    return lengths;
  }

 private:
  void add(FinePoint from, FinePoint to) {
    const int64_t left = to.x < from.x ? to.x : to.x - 1;
    if (left < 0 || left % kFineness != kMiddle) return;
    const int64_t column = left / kFineness;
    if (column >= image_.width) return;
    const int64_t above_middle = std::min(from.y, to.y) - kMiddle;
    const int64_t row = above_middle <= 0 ? 0 : (above_middle + kFineness - 1) / kFineness;
    places_.push_back(column * image_.height + std::min(row, image_.height));
  }

  Size image_;
  std::optional<FinePoint> last_;
  std::vector<int64_t> places_;
};

// The rounding depends on the direction in which an edge is computed: always towards greater
// coordinates. The points are visited in the outline's direction.
void walk_edge(FinePoint from, FinePoint to, Crossings& crossings) {
  const int64_t width = std::abs(to.x - from.x);
  const int64_t height = std::abs(to.y - from.y);
  const int64_t steps = std::max(width, height);
  if (steps == 0) return crossings.visit(from);
  const bool along_x = width >= height;
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
  Crossings crossings(image);
  for (size_t i = 0; i < corners; ++i) {
    walk_edge(fine_point(xy, i), fine_point(xy, (i + 1) % corners), crossings);
  }
  return crossings.lengths();
}

}  // namespace fuelrail::pack
