#include "fuelrail/encode/jpeg_encoder.h"

// jpeglib.h needs this header first.
#include <cstdio>
// clang-format off
#include <jpeglib.h>
// clang-format on
#include <fmt/format.h>

#include <csetjmp>
#include <string>

#include "fuelrail/base/error.h"

namespace fuelrail {
namespace {

// libjpeg reports an error by calling a function that must not return; that function jumps to
// `landing`.
struct ErrorManager {
  jpeg_error_mgr base;  // first member: libjpeg passes its address back
  std::jmp_buf landing;
  char message[JMSG_LENGTH_MAX];
};

void jump_back(j_common_ptr info) {
  auto* errors = reinterpret_cast<ErrorManager*>(info->err);
  errors->base.format_message(info, errors->message);
  std::longjmp(errors->landing, 1);
}

void say_nothing(j_common_ptr) {}

// The upper bound for the length of a baseline file of an image of this size, grey or 4:2:0, as in
// libjpeg-turbo's tjBufSize. libjpeg therefore never grows the given buffer.
size_t longest_jpeg(int64_t height, int64_t width) {
  const auto padded = [](int64_t side) { return static_cast<size_t>((side + 15) & ~int64_t{15}); };
  return padded(height) * padded(width) * 3 + 2048;
}

// Encodes the image into `*bytes`, which has room for `*size` bytes, and sets `*size` to the number
// of bytes used. Returns whether it succeeded. The function has no object with a destructor,
// because longjmp skips destructors.
bool compress(ConstImageView image, int quality, unsigned char** bytes, unsigned long* size,
              ErrorManager& errors) {
  jpeg_compress_struct jpeg{};
  jpeg.err = jpeg_std_error(&errors.base);
  errors.base.error_exit = jump_back;
  errors.base.output_message = say_nothing;
  if (setjmp(errors.landing) != 0) {
    jpeg_destroy_compress(&jpeg);
    return false;
  }
  jpeg_create_compress(&jpeg);
  jpeg_mem_dest(&jpeg, bytes, size);
  jpeg.image_height = static_cast<JDIMENSION>(image.height);
  jpeg.image_width = static_cast<JDIMENSION>(image.width);
  jpeg.input_components = static_cast<int>(image.channels);
  jpeg.in_color_space = image.channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
  jpeg_set_defaults(&jpeg);  // also sets the sampling factors: 4:2:0 for colour
  jpeg_set_quality(&jpeg, quality, TRUE);
  jpeg.dct_method = JDCT_ISLOW;
  jpeg_start_compress(&jpeg, TRUE);
  while (jpeg.next_scanline < jpeg.image_height) {
    JSAMPROW row = const_cast<JSAMPROW>(image.row(jpeg.next_scanline));
    jpeg_write_scanlines(&jpeg, &row, 1);
  }
  jpeg_finish_compress(&jpeg);
  jpeg_destroy_compress(&jpeg);
  return true;
}

}  // namespace

void encode_jpeg(ConstImageView image, int quality, std::vector<std::byte>& out) {
  if (image.height > JPEG_MAX_DIMENSION || image.width > JPEG_MAX_DIMENSION) {
    throw UnsupportedError(
        "the image is too large for JPEG",
        {.expected = fmt::format("a height and width of at most {} pixels", JPEG_MAX_DIMENSION),
         .found = fmt::format("{} x {} (height x width)", image.height, image.width),
         .remedy = "Resize the image"});
  }
  out.resize(longest_jpeg(image.height, image.width));
  auto* bytes = reinterpret_cast<unsigned char*>(out.data());
  unsigned long size = out.size();
  ErrorManager errors{};
  if (!compress(image, quality, &bytes, &size, errors)) {
    throw StateError(std::string("libjpeg cannot encode the image: ") + errors.message,
                     {.remedy = "Report this as a bug of fuelrail"});
  }
  out.resize(size);
}

}  // namespace fuelrail
