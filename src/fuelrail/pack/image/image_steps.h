// The steps that packing applies to an image before it stores the image. ImagePipeline runs them.
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
#include "fuelrail/encode/hevc_encoder.h"
#include "fuelrail/transform/transform.h"

namespace fuelrail::pack {

// The values are MXNet's. kUnchanged keeps the file's channels (1, 3, or 4 with alpha) and does not
// rotate the image. The other two modes turn the image upright by its EXIF orientation.
enum class ColorMode : int8_t { kUnchanged = -1, kGrey = 0, kColor = 1 };

// The first five have OpenCV's values, and their results are bit-identical to cv2.resize. kAuto and
// kRandom are MXNet's rules, and kShrink is fuelrail's own.
enum class ResizeRule : uint8_t {
  kNearest = 0,
  kLinear = 1,
  kCubic = 2,
  kArea = 3,
  kLanczos4 = 4,
  kAuto = 9,     // cubic if height and width grow, area if both shrink, else linear
  kRandom = 10,  // for each image one of the first five, selected by seed and place
  kShrink = 32,  // antialiased bilinear like transforms.Resize; never enlarges
};

enum class ImageEncoding : uint8_t { kJpeg, kPng };

// An image that owns its memory: HWC, rows without padding.
struct OwnedPixels {
  std::vector<uint8_t> pixels;
  Size size;
  int64_t channels = 3;
};

// A user's function that makes an image `to`, of any size and with 1, 3 or 4 channels, from an
// image `from`. Many threads call it at once, for images in any order. It must make the same pixels
// from the same input; otherwise the result of a resumed run differs from that of an uninterrupted
// run.
using PixelFunction = std::function<void(ConstImageView from, OwnedPixels& to)>;

// An error caused by the steps and not by the image: a user's function throws or returns an invalid
// image, or an image with alpha is to be stored as JPEG. It ends the packing, whatever `max_errors`
// is.
class StepsError : public InvalidArgumentError {
 public:
  // `cause`: the exception that the user's function threw, or null.
  explicit StepsError(const InvalidArgumentError& error, std::exception_ptr cause = nullptr)
      : InvalidArgumentError(error.failure(), error.detail()), cause_(std::move(cause)) {}
  const std::exception_ptr& cause() const { return cause_; }

 private:
  std::exception_ptr cause_;
};

// A list of transforms, or a user's function. Transforms work on RGB. A grey image is converted to
// RGB with three equal channels, and the result back to grey by luma, as in Pillow's convert("L");
// luma does not change pixels with equal channels. In an image with alpha, geometric transforms
// also move the alpha channel, colour transforms leave it unchanged, and padding is opaque. Random
// numbers depend on the seed, the index of the stage, and the place of the image in its source.
using ImageStage = std::variant<Transforms, PixelFunction>;

// How nested files (RecordContent) store an image.
struct StoredStills {
  HevcSettings hevc{};
  bool thumb = true;  // also store the image reduced to at most 512 x 512

  static const OptionTable<StoredStills>& table();
};

struct ImageSteps {
  // Which images skip all steps and keep their bytes.
  enum class Keep : uint8_t {
    kNone,
    kSmallJpegs,  // JPEGs that need no resizing; they are decoded only to find damage
    kAll,         // all images; they are decoded only if `verify` requires it
  };
  Keep keep = Keep::kNone;

  // With kAll, how to check images for damage. The other modes decode every image.
  enum class Verify : uint8_t { kNothing, kHeader, kPixels };
  Verify verify = Verify::kHeader;

  // Re-code progressive JPEGs among the images that keep their bytes (baseline_recoder.h).
  bool baseline = false;

  // The steps, in this order.
  ColorMode color = ColorMode::kColor;
  bool center_crop = false;  // the central square
  int64_t shorter_side = 0;  // the longer side is scaled by the same factor, rounded down
  Size resize{};             // exact size; cannot be combined with `shorter_side`
  ResizeRule rule = ResizeRule::kLinear;
  std::vector<ImageStage> stages{};
  std::string stages_name{};  // identifies the stages; required to resume a job with stages
  ImageEncoding encoding = ImageEncoding::kJpeg;
  // JPEG: the quality, default 95. PNG: zlib's level, default 9; values from 10 to 100 count as 9,
  // as in OpenCV.
  std::optional<int> quality{};

  // Instead of `encoding` and `quality`, for formats whose records are nested files.
  StoredStills stills{};
  bool measure = false;  // decode each still that is encoded, to measure its quality (quality.h)

  uint64_t seed = 0;

  // The options, under MXNet's names. Not in the table: `verify`, `baseline`, `resize`, the value
  // kShrink of `rule`, the stages, `stills` and `measure`.
  static const OptionTable<ImageSteps>& table();
};

// Errors: InvalidArgumentError for a value out of range, for transforms that `check` rejects, and
// for Normalize, whose floats cannot be encoded.
void check(const ImageSteps& steps);

}  // namespace fuelrail::pack
