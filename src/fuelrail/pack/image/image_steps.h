// The steps that packing applies to an image before it is stored, as plain values. image_pipeline.h
// runs them.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "fuelrail/base/box.h"
#include "fuelrail/base/error.h"
#include "fuelrail/base/image_view.h"
#include "fuelrail/base/option.h"
#include "fuelrail/transform/transform.h"

namespace fuelrail::pack {

// MXNet's numbers. kUnchanged: as many channels as the file has (1, 3, or 4 with alpha), and its
// pixels without rotation. The other two turn the image upright by its EXIF orientation.
enum class ColorMode : int8_t { kUnchanged = -1, kGrey = 0, kColor = 1 };

// OpenCV's numbers (bit-identical to cv2.resize), MXNet's two rules, and fuelrail's own.
enum class ResizeRule : uint8_t {
  kNearest = 0,
  kLinear = 1,
  kCubic = 2,
  kArea = 3,
  kLanczos4 = 4,
  kAuto = 9,     // cubic if both sides grow, area if both shrink, else linear
  kRandom = 10,  // one of the first five for each image, by seed and place
  kShrink = 32,  // antialiased bilinear like transforms.Resize; never enlarges
};

enum class ImageEncoding : uint8_t { kJpeg, kPng };

// Pixels that own their memory: rows without padding, HWC.
struct OwnedPixels {
  std::vector<uint8_t> pixels;
  Size size;
  int64_t channels = 3;
};

// A user's function from pixels to pixels of any size with 1, 3 or 4 channels. Many threads call it
// at once, for images in any order. It must return the same pixels for the same input; otherwise a
// resumed run differs from an uninterrupted one.
using PixelFunction = std::function<void(ConstImageView from, OwnedPixels& to)>;

// An error of the steps, not of the image: a user's function throws or returns an invalid image, or
// alpha would have to be stored as JPEG. Ends the packing, whatever `max_errors` is.
class StepsError : public InvalidArgumentError {
 public:
  // `cause`: the exception that the user's function threw, or null.
  explicit StepsError(const InvalidArgumentError& error, std::exception_ptr cause = nullptr)
      : InvalidArgumentError(error.failure(), error.detail()), cause_(std::move(cause)) {}
  const std::exception_ptr& cause() const { return cause_; }

 private:
  std::exception_ptr cause_;
};

// Transforms work on RGB. A grey image is processed as RGB with equal channels and converted back
// to grey (luma as in Pillow's convert("L"), which keeps equal channels). In an image with alpha,
// geometric transforms also move the alpha channel, colour transforms leave it unchanged, and
// padding is opaque. Random numbers depend on the seed, the index of the stage, and the place of
// the image in its source.
using ImageStage = std::variant<Transforms, PixelFunction>;

struct ImageSteps {
  // Which images keep their bytes unchanged, skipping all steps.
  enum class Keep : uint8_t {
    kNone,
    kSmallJpegs,  // JPEGs that need no resizing; they are still decoded, to find damage
    kAll,         // all; decoded only if `verify` requires it
  };
  Keep keep = Keep::kNone;

  // With kAll: how to check for damage. The other modes decode every image.
  enum class Verify : uint8_t { kNothing, kHeader, kPixels };
  Verify verify = Verify::kHeader;

  // The steps, in this order.
  ColorMode color = ColorMode::kColor;
  bool center_crop = false;  // the central square
  int64_t shorter_side = 0;  // the longer side is scaled by the same factor, rounded down
  Size resize{};             // exact size; excludes `shorter_side`
  ResizeRule rule = ResizeRule::kLinear;
  std::vector<ImageStage> stages{};
  std::string stages_name{};  // identifies the stages; required to resume with stages
  ImageEncoding encoding = ImageEncoding::kJpeg;
  // JPEG: default 95. PNG: zlib's level, default 9; values from 10 to 100 count as 9, as in OpenCV.
  std::optional<int> quality{};

  uint64_t seed = 0;

  // Has all members except `verify`, `resize`, `rule` kShrink and the stages, under MXNet's names.
  static const OptionTable<ImageSteps>& table();
};

// Errors: InvalidArgumentError for a value out of range, for transforms that `check` rejects, and
// for Normalize, whose floats cannot be encoded.
void check(const ImageSteps& steps);

}  // namespace fuelrail::pack
