// A folder of images and a folder of their masks, for segmentation. An image and its mask have the
// same path without the extension:
//
//   images/day/7.jpg    masks/day/7.png
#pragma once

#include <memory>
#include <string>

#include "fuelrail/base/listener.h"
#include "fuelrail/pack/source/sample_source.h"

namespace fuelrail::pack {

// One sample for each pair, in the code-point order of the paths without extensions; its id is its
// position. Fields:
//   image        image
//   file_name    text: the image's path in its folder
//   mask         image: the mask's file. Its numbers are grey levels, palette indices, or the
//                elements of a .npy file; 255 stands for pixels that count as nothing, and for
//                those beyond the image's edges
// An image without a mask, and a mask without an image, is one of `unread`. Errors: those of
// images_by_stem; NotFoundError if there is no pair. `read` has those of set_image and set_mask.
std::unique_ptr<SampleSource> open_mask_folder(const std::string& images, const std::string& masks,
                                               const Warn& warn = {},
                                               const KeepGoing& keep_going = {});

}  // namespace fuelrail::pack
