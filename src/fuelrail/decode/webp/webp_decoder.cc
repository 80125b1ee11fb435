#include "fuelrail/decode/webp/webp_decoder.h"

#include <webp/decode.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <new>

#include "fuelrail/base/scratch.h"
#include "fuelrail/decode/grey.h"
#include "fuelrail/decode/job.h"

namespace fuelrail {
namespace {

[[noreturn]] void throw_failure(VP8StatusCode status) {
  switch (status) {
    case VP8_STATUS_NOT_ENOUGH_DATA:
    case VP8_STATUS_SUSPENDED:
      throw TruncatedError("the WebP ends before the end of the requested rows");
    case VP8_STATUS_OUT_OF_MEMORY:
      throw std::bad_alloc();
    case VP8_STATUS_UNSUPPORTED_FEATURE:
      throw UnsupportedError("libwebp does not support this kind of WebP");
    default:
      throw DecodeError("the WebP is damaged");
  }
}

// The intersection of two boxes; its height or width is 0 if they do not overlap.
Box intersection(const Box& a, const Box& b) {
  Box both{std::max(a.top, b.top), std::max(a.left, b.left), 0, 0};
  both.height = std::max<int64_t>(0, std::min(a.bottom(), b.bottom()) - both.top);
  both.width = std::max<int64_t>(0, std::min(a.right(), b.right()) - both.left);
  return both;
}

// The region that libwebp decodes. Smooth upsampling treats the region's edges as the image's
// edges: two more pixels on each side, which are discarded, make the box exact. libwebp begins
// lossy regions at even coordinates.
Box region_around(const Box& wanted, Size image) {
  constexpr int64_t kMargin = 2;
  Box region;
  region.top = std::max<int64_t>(0, wanted.top - kMargin) & ~int64_t{1};
  region.left = std::max<int64_t>(0, wanted.left - kMargin) & ~int64_t{1};
  region.height = std::min(image.height, wanted.bottom() + kMargin) - region.top;
  region.width = std::min(image.width, wanted.right() + kMargin) - region.left;
  return region;
}

void decode_region(Bytes encoded, Size image, const Box& region, ImageView into) {
  WebPDecoderConfig config;
  if (!WebPInitDecoderConfig(&config)) {
    throw UnsupportedError("the installed libwebp is not the version that fuelrail was built with",
                           {.remedy = "Install that version, or rebuild fuelrail"});
  }
  const auto* data = reinterpret_cast<const uint8_t*>(encoded.data());
  const VP8StatusCode seen = WebPGetFeatures(data, encoded.size(), &config.input);
  if (seen != VP8_STATUS_OK) throw_failure(seen);
  if (Size{config.input.height, config.input.width} != image) {
    throw DecodeError("the WebP's headers declare different sizes");
  }
  config.options.use_cropping = region != whole(image);
  config.options.crop_top = static_cast<int>(region.top);
  config.options.crop_left = static_cast<int>(region.left);
  config.options.crop_height = static_cast<int>(region.height);
  config.options.crop_width = static_cast<int>(region.width);
  config.output.colorspace = into.channels == 4 ? MODE_RGBA : MODE_RGB;
  config.output.is_external_memory = 1;
  config.output.u.RGBA.rgba = into.data;
  config.output.u.RGBA.stride = static_cast<int>(into.row_stride_bytes);
  config.output.u.RGBA.size =
      static_cast<size_t>(into.row_stride_bytes * (into.height - 1) + into.width * into.channels);
  const VP8StatusCode status = WebPDecode(data, encoded.size(), &config);
  WebPFreeDecBuffer(&config.output);
  if (status != VP8_STATUS_OK) throw_failure(status);
}

// Copies rows with the same number of channels, or converts RGB to grey.
void take_rows(ConstImageView from, ImageView to) {
  if (from.channels == to.channels) return copy_rows(from, to);
  for (int64_t y = 0; y < to.height; ++y) {
    const uint8_t* rgb = from.row(y);
    for (int64_t x = 0; x < to.width; ++x, rgb += 3) to.row(y)[x] = grey_of(rgb[0], rgb[1], rgb[2]);
  }
}

class WebpDecoder final : public Decoder {
 public:
  void decode(std::span<DecodeJob> jobs) override {
    decode_each(jobs, [this](DecodeJob& job) { decode_one(job); });
  }

 private:
  void decode_one(DecodeJob& job) {
    if (job.values.data != nullptr) require_stored_values(job, {});
    const ImageInfo info = probe_webp(job.encoded.bytes);
    require_size(job, info.stored);
    if (job.output.channels == 4 && job.info.channels != 4) refuse_alpha();
    go_on(job);
    const WebpFrame frame = first_frame(job.encoded.bytes, info);
    const Box seen = intersection(job.box, frame.place);
    if (seen != job.box) clear(job.output);  // the canvas outside an animation's frame is black
    if (seen.height == 0 || seen.width == 0) return;

    const Box wanted{seen.top - frame.place.top, seen.left - frame.place.left, seen.height,
                     seen.width};
    const Size image = frame.place.size();
    const Box region = region_around(wanted, image);
    const ImageView to = job.output.crop(
        {seen.top - job.box.top, seen.left - job.box.left, seen.height, seen.width});
    if (region == wanted && to.channels != 1 &&
        to.row_stride_bytes <= std::numeric_limits<int>::max()) {
      decode_region(frame.encoded, image, region, to);
      return;
    }
    const ImageView decoded = in_scratch(region.size(), to.channels == 4 ? 4 : 3);
    decode_region(frame.encoded, image, region, decoded);
    take_rows(decoded.crop({wanted.top - region.top, wanted.left - region.left, wanted.height,
                            wanted.width}),
              to);
  }

  static void clear(ImageView pixels) {
    for (int64_t y = 0; y < pixels.height; ++y) {
      std::memset(pixels.row(y), 0, static_cast<size_t>(pixels.width * pixels.channels));
    }
  }

  ImageView in_scratch(Size size, int64_t channels) {
    const auto bytes = static_cast<size_t>(size.height * size.width * channels);
    return {scratch_.take(bytes), size.height, size.width, channels, size.width * channels};
  }

  Scratch scratch_;
};

}  // namespace

std::unique_ptr<Decoder> make_webp_decoder() { return std::make_unique<WebpDecoder>(); }

}  // namespace fuelrail
