#include "fuelrail/encode/png_encoder.h"

#include <fmt/format.h>
#include <spng.h>

#include <cstdlib>
#include <memory>
#include <new>

#include "fuelrail/base/error.h"

namespace fuelrail {
namespace {

struct FreeEncoder {
  void operator()(spng_ctx* png) const { spng_ctx_free(png); }
};

struct FreeBuffer {
  void operator()(void* bytes) const { std::free(bytes); }
};

void check_encoded(int status, ConstRawView image) {
  if (status == SPNG_OK) return;
  if (status == SPNG_EMEM) throw std::bad_alloc();
  throw UnsupportedError(
      fmt::format("the image cannot be encoded as PNG (libspng reports: {})",
                  spng_strerror(status)),
      {.found = fmt::format("an image of {} x {} x {} (height x width x channels)", image.height,
                            image.width, image.channels)});
}

uint8_t colour_type_of(int64_t channels) {
  if (channels == 1) return SPNG_COLOR_TYPE_GRAYSCALE;
  return channels == 3 ? SPNG_COLOR_TYPE_TRUECOLOR : SPNG_COLOR_TYPE_TRUECOLOR_ALPHA;
}

void write_rows(spng_ctx* png, ConstRawView image) {
  const auto row_bytes = static_cast<size_t>(image.row_bytes());
  for (int64_t y = 0; y < image.height; ++y) {
    const int status = spng_encode_row(png, image.row(y), row_bytes);
    if (status != SPNG_EOI) check_encoded(status, image);  // the last row ends the image
  }
}

// Values of libspng's options.
struct PngSettings {
  int level = kDefaultPngLevel;
  int filters = SPNG_FILTER_CHOICE_ALL;
};

void encode(ConstRawView image, PngSettings settings, std::vector<std::byte>& out) {
  const std::unique_ptr<spng_ctx, FreeEncoder> context(spng_ctx_new(SPNG_CTX_ENCODER));
  if (!context) throw std::bad_alloc();
  spng_ctx* png = context.get();
  spng_ihdr header{};
  header.width = static_cast<uint32_t>(image.width);
  header.height = static_cast<uint32_t>(image.height);
  header.bit_depth = static_cast<uint8_t>(8 * size_in_bytes(image.dtype));
  header.color_type = colour_type_of(image.channels);
  check_encoded(spng_set_option(png, SPNG_ENCODE_TO_BUFFER, 1), image);
  check_encoded(spng_set_option(png, SPNG_IMG_COMPRESSION_LEVEL, settings.level), image);
  if (settings.filters != SPNG_FILTER_CHOICE_ALL) {  // the default
    check_encoded(spng_set_option(png, SPNG_FILTER_CHOICE, settings.filters), image);
  }
  check_encoded(spng_set_ihdr(png, &header), image);
  // Row by row, because the rows of a view may be padded. libspng swaps the bytes of 16-bit levels.
  check_encoded(spng_encode_image(png, nullptr, 0, SPNG_FMT_PNG,
                                  SPNG_ENCODE_PROGRESSIVE | SPNG_ENCODE_FINALIZE),
                image);
  write_rows(png, image);
  size_t size = 0;
  int status = SPNG_OK;
  const std::unique_ptr<void, FreeBuffer> bytes(spng_get_png_buffer(png, &size, &status));
  check_encoded(status, image);
  const auto* begin = static_cast<const std::byte*>(bytes.get());
  out.assign(begin, begin + size);
}

}  // namespace

void encode_png(ConstImageView image, int level, std::vector<std::byte>& out) {
  encode(raw_view(image), {.level = level}, out);
}

void encode_values_png(ConstRawView values, std::vector<std::byte>& out) {
  encode(values, {.level = 3, .filters = SPNG_FILTER_CHOICE_NONE}, out);
}

}  // namespace fuelrail
