#include "fuelrail/pack/image/image_pipeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>

#include "fuelrail/base/error.h"
#include "fuelrail/base/philox.h"
#include "fuelrail/decode/decoder.h"
#include "fuelrail/decode/orientation.h"
#include "fuelrail/encode/jpeg_encoder.h"
#include "fuelrail/encode/png_encoder.h"
#include "fuelrail/pack/image/baseline_recoder.h"
#include "fuelrail/pack/image/stage_runner.h"
#include "fuelrail/transform/cv_resize.h"

namespace fuelrail::pack {
namespace {

constexpr int kHighestPngLevel = 9;
constexpr uint32_t kInterpolationOperation = 0xFFFF;  // greater than any transform's index

int64_t shorter(Size size) { return std::min(size.height, size.width); }

ConstImageView middle_square(ConstImageView image) {
  const int64_t side = shorter(image.size());
  return image.crop({(image.height - side) / 2, (image.width - side) / 2, side, side});
}

// The size of the resized image, computed as in MXNet's im2rec.
Size resized_size(const ImageSteps& steps, Size image) {
  if (steps.shorter_side == 0) return steps.resize;
  const int64_t side = steps.shorter_side;
  const Size to = image.height > image.width ? Size{image.height * side / image.width, side}
                                             : Size{side, image.width * side / image.height};
  if (to.height > kMaxResizedPixels / to.width) {
    throw UnsupportedError("the resized image would be too large",
                           {.expected = fmt::format("at most {} pixels", kMaxResizedPixels),
                            .found = fmt::format("{} x {} (height x width)", to.height, to.width)});
  }
  return to;
}

CvInterpolation interpolation_for(ResizeRule rule, Size from, Size to, const Philox& random) {
  if (rule == ResizeRule::kRandom) {
    return static_cast<CvInterpolation>(random.below(kInterpolationOperation, 0, 5));
  }
  if (rule != ResizeRule::kAuto) return static_cast<CvInterpolation>(rule);
  return cv_auto_interpolation(from, to);
}

void check_result(const OwnedPixels& made) {
  const auto bytes = static_cast<size_t>(made.size.height * made.size.width * made.channels);
  const bool known = made.channels == 1 || made.channels == 3 || made.channels == 4;
  if (known && made.size.height > 0 && made.size.width > 0 && made.pixels.size() == bytes) return;
  throw StepsError(InvalidArgumentError(
      "a function in the list of transforms returned an invalid image",
      {.expected = "a non-empty image with 1, 3 or 4 channels, and height x width x channels bytes",
       .found =
           fmt::format("{} x {} x {} (height x width x channels) and {} bytes", made.size.height,
                       made.size.width, made.channels, made.pixels.size())}));
}

void call_function(const PixelFunction& function, ConstImageView from, OwnedPixels& to) {
  constexpr const char* kFailure = "a function in the list of transforms failed";
  try {
    function(from, to);
  } catch (const std::exception& error) {
    throw StepsError(InvalidArgumentError(kFailure, {.found = error.what()}),
                     std::current_exception());
  } catch (...) {
    throw StepsError(InvalidArgumentError(kFailure), std::current_exception());
  }
  check_result(to);
}

}  // namespace

Bytes bytes_to_store(const EncodedImage& encoded) {
  if (encoded.stands_alone()) return encoded.bytes;
  throw UnsupportedError(
      "the image cannot be stored in a record, because its decoder also needs data from elsewhere "
      "in the file",
      {.expected = "an image that can be decoded from only its own bytes",
       .found = std::string(encoded.codec->format->title),
       .remedy = "Convert the image to JPEG or PNG"});
}

struct ImagePipeline::Impl {
  explicit Impl(const ImageSteps& what) : steps(what), decoder(make_decoder()) {
    made.resize(steps.stages.size());
  }

  void verify(const EncodedImage& encoded) {
    if (steps.verify == ImageSteps::Verify::kNothing) return;
    const ImageInfo info = probe(encoded);
    if (steps.verify == ImageSteps::Verify::kPixels) decode(encoded, info);
  }

  Bytes prepare(const EncodedImage& encoded, uint64_t place) {
    recoded = false;
    if (steps.keep == ImageSteps::Keep::kAll) {
      verify(encoded);
      return recode(bytes_to_store(encoded));
    }
    const ImageInfo info = probe(encoded);
    const ConstImageView image = decode(encoded, info);
    if (keeps_bytes(info) && encoded.stands_alone()) return recode(encoded.bytes);
    return encode(change(upright(image, info), place, true));
  }

  Bytes recode(Bytes encoded) {
    const Bytes baseline = steps.baseline ? recoder.recode(encoded) : Bytes();
    recoded = !baseline.empty();
    return recoded ? baseline : encoded;
  }

  // `own`: a few bytes after the image may be read, as transforms require.
  ConstImageView change(ConstImageView image, uint64_t place, bool own) {
    if (steps.center_crop) image = middle_square(image);
    if (resizes(image.size())) {
      image = resize(image, place);
      own = true;
    }
    for (size_t i = 0; i < steps.stages.size(); ++i) {
      const Philox random(steps.seed, static_cast<uint32_t>(i), place);
      image = run_stage(i, image, own, random);
      own = std::holds_alternative<Transforms>(steps.stages[i]);
    }
    return image;
  }

  bool keeps_bytes(const ImageInfo& info) const {
    return steps.keep == ImageSteps::Keep::kSmallJpegs && info.format == &kJpegFormat &&
           shorter(info.stored) <= steps.shorter_side;
  }

  ConstImageView decode(const EncodedImage& encoded, const ImageInfo& info) {
    const auto memory = [&](int64_t channels) { return stored.resize(info.stored, 0, channels); };
    if (steps.color == ColorMode::kUnchanged) {
      return decode_as_stored(*decoder, encoded, info, memory);
    }
    const ImageView output = memory(steps.color == ColorMode::kColor ? 3 : 1);
    decode_whole(*decoder, encoded, info, output);
    return output;
  }

  ConstImageView upright(ConstImageView image, const ImageInfo& info) {
    if (steps.color == ColorMode::kUnchanged || info.orientation == 1) return image;
    const ImageView to = turned.resize(info.oriented(), 0, image.channels);
    turn_upright(image, info.orientation, to);
    return to;
  }

  bool resizes(Size image) const {
    if (steps.rule == ResizeRule::kShrink) {
      return steps.shorter_side > 0 && shorter(image) > steps.shorter_side;
    }
    return steps.shorter_side > 0 || steps.resize != Size{};
  }

  ConstImageView resize(ConstImageView image, uint64_t place) {
    const Philox random(steps.seed, 0, place);
    if (steps.rule == ResizeRule::kShrink) {
      return shrinker.run({Resize{.shorter_side = steps.shorter_side}}, image, random);
    }
    const Size size = resized_size(steps, image.size());
    const ImageView to = resized.resize(size, 0, image.channels);
    resizer.resize(image, to, interpolation_for(steps.rule, image.size(), size, random));
    return to;
  }

  ConstImageView run_stage(size_t i, ConstImageView image, bool own, const Philox& random) {
    Made& mine = made[i];
    if (const auto* transforms = std::get_if<Transforms>(&steps.stages[i])) {
      return mine.runner.run(*transforms, own ? image : readable(image, mine), random);
    }
    call_function(std::get<PixelFunction>(steps.stages[i]), image, mine.pixels);
    const Size size = mine.pixels.size;
    const int64_t channels = mine.pixels.channels;
    return {mine.pixels.pixels.data(), size.height, size.width, channels, size.width * channels};
  }

  Bytes encode(ConstImageView image) {
    if (steps.encoding == ImageEncoding::kPng) {
      encode_png(image, std::min(steps.quality.value_or(kHighestPngLevel), kHighestPngLevel),
                 encoded_);
      return encoded_;
    }
    if (image.channels == 4) {
      throw StepsError(
          InvalidArgumentError("JPEG cannot store alpha",
                               {.expected = "1 or 3 channels",
                                .found = "4",
                                .remedy = "Encode as .png, or drop alpha (color=1, --color 1)"}));
    }
    encode_jpeg(image, steps.quality.value_or(kDefaultJpegQuality), encoded_);
    return encoded_;
  }

  // The result of one stage, valid until the stage processes the next image.
  struct Made {
    StageRunner runner;
    PixelBuffer input;
    OwnedPixels pixels;
  };

  // A copy of the image, followed by the memory that transforms may read.
  ConstImageView readable(ConstImageView image, Made& mine) {
    const ImageView to = mine.input.resize(image.size(), 0, image.channels);
    const auto row_bytes = static_cast<size_t>(image.width * image.channels);
    for (int64_t y = 0; y < image.height; ++y) {
      std::copy_n(image.row(y), row_bytes, to.row(y));
    }
    return to;
  }

  const ImageSteps& steps;
  std::unique_ptr<Decoder> decoder;
  BaselineRecoder recoder;
  bool recoded = false;  // by the last `prepare`
  CvResizer resizer;
  StageRunner shrinker;
  std::vector<Made> made;
  PixelBuffer stored;
  PixelBuffer turned;
  PixelBuffer resized;
  std::vector<std::byte> encoded_;
};

ImagePipeline::ImagePipeline(const ImageSteps& steps) : impl_(std::make_unique<Impl>(steps)) {}
ImagePipeline::~ImagePipeline() = default;

Bytes ImagePipeline::prepare(const EncodedImage& encoded, uint64_t place) {
  return impl_->prepare(encoded, place);
}
Bytes ImagePipeline::prepare(ConstImageView pixels, uint64_t place) {
  impl_->recoded = false;
  return impl_->encode(impl_->change(pixels, place, false));
}

bool ImagePipeline::recoded() const { return impl_->recoded; }

ConstImageView ImagePipeline::pixels(const EncodedImage& encoded, uint64_t place) {
  const ImageInfo info = probe(encoded);
  return impl_->change(impl_->upright(impl_->decode(encoded, info), info), place, true);
}

}  // namespace fuelrail::pack
