// What packing does to an image before it is stored, as plain values. image_pipeline.h does it.
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

// MXNet's numbers. kUnchanged: as many channels as the file has (1, 3, or 4 with alpha), its pixels
// as they lie in it. The other two turn it upright by its EXIF orientation.
enum class ColorMode : int8_t { kUnchanged = -1, kGrey = 0, kColor = 1 };

// OpenCV's numbers (the bits are cv2.resize's), MXNet's two rules, and the product's own.
enum class ResizeRule : uint8_t {
  kNearest = 0,
  kLinear = 1,
  kCubic = 2,
  kArea = 3,
  kLanczos4 = 4,
  kAuto = 9,     // cubic where both sides grow, area where both shrink, else linear
  kRandom = 10,  // one of the first five for each image: by the seed and the image's place
  kShrink = 32,  // never enlarges; antialiased bilinear, as transforms.Resize
};

enum class ImageEncoding : uint8_t { kJpeg, kPng };

// Pixels that own their memory: rows without padding, HWC.
struct OwnedPixels {
  std::vector<uint8_t> pixels;
  Size size;
  int64_t channels = 3;
};

// A function of the user's own, from pixels to pixels of any size and 1, 3 or 4 channels. It is
// called by many threads at once, for the images in any order, and must give the same pixels for
// the same input, or a run that is gone on with differs from one that was not interrupted.
using PixelFunction = std::function<void(ConstImageView from, OwnedPixels& to)>;

// The steps are at fault and not the image: a function of the user's own that throws or gives no
// image, and alpha that is to be a JPEG. Ends a packing, however many images may be left out.
class StepsError : public InvalidArgumentError {
 public:
  // `cause`: what a function has thrown, or none.
  explicit StepsError(const InvalidArgumentError& error, std::exception_ptr cause = nullptr)
      : InvalidArgumentError(error.failure(), error.detail()), cause_(std::move(cause)) {}
  const std::exception_ptr& cause() const { return cause_; }

 private:
  std::exception_ptr cause_;
};

// Transforms work on RGB. A grey image takes part as RGB of equal channels, and is grey again
// afterwards (luma as Pillow's convert("L"), which keeps equal channels); of one with alpha, the
// alpha takes part in what moves pixels and in nothing that colours them, and is opaque where the
// image was padded. Their random numbers are those of (seed, number of the stage, place of the
// image in its source).
using ImageStage = std::variant<Transforms, PixelFunction>;

struct ImageSteps {
  // Which images keep their bytes, whatever follows.
  enum class Keep : uint8_t {
    kNone,
    kSmallJpegs,  // JPEGs that resizing would leave alone; they are decoded all the same, so that
                  // damage is found
    kAll,         // nothing is decoded
  };
  Keep keep = Keep::kNone;

  // With kAll, what is done to find damage now. The others decode every image.
  enum class Verify : uint8_t { kNothing, kHeader, kPixels };
  Verify verify = Verify::kHeader;

  // In this order.
  ColorMode color = ColorMode::kColor;
  bool center_crop = false;  // the middle square
  int64_t shorter_side = 0;  // the other side: its length times this, over the shorter, cut
  Size resize{};             // to exactly this; at most one of the two
  ResizeRule rule = ResizeRule::kLinear;
  std::vector<ImageStage> stages{};
  std::string stages_name{};  // tells these stages from others; required to resume with stages
  ImageEncoding encoding = ImageEncoding::kJpeg;
  // JPEG: default 95. PNG: zlib's level, default 9; up to 100 counts as 9, as OpenCV has it.
  std::optional<int> quality{};

  uint64_t seed = 0;

  // Of all but `verify`, `resize`, `rule` kShrink and the stages: by MXNet's names.
  static const OptionTable<ImageSteps>& table();
};

// Errors: InvalidArgumentError for what is out of range, for transforms that `check` refuses, and
// for a Normalize: its floats cannot be encoded.
void check(const ImageSteps& steps);

}  // namespace fuelrail::pack
