// The random choice of RandomIoUCrop. Private to the core.
#pragma once

#include <optional>
#include <span>

#include "fuelrail/base/box.h"
#include "fuelrail/transform/geometry.h"
#include "fuelrail/transform/pixel_stage.h"
#include "fuelrail/transform/transform.h"

namespace fuelrail {

// Whether the middle of the object is inside the crop, not on its edge.
bool holds_middle(const Box& crop, const Corners& object);

// As torchvision's RandomIoUCrop.make_params: draws an option, and tries at most `trials` random
// crops; the first is taken whose aspect ratio is in range, that holds the middle of at least one
// object, and whose intersection over union with one of the objects whose middles it holds is at
// least the option. If none is taken, draws the next option. torchvision may do so without end;
// here, the crop is given up after kMostRounds options, or at once if there are no objects.
// Uses draws 0 to kMostRounds (1 + 4 trials); plan.h lists them.
// Returns: the crop; empty: the image is left as it is.
inline constexpr uint32_t kMostRounds = 100;
std::optional<Box> draw_iou_crop(const RandomIoUCrop& crop, Size image,
                                 std::span<const Corners> objects, const StageRandom& random);

}  // namespace fuelrail
