#include "fuelrail/loader/upright_decoder.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "fuelrail/base/error.h"
#include "fuelrail/decode/orientation.h"
#include "fuelrail/testing/golden_images.h"
#include "fuelrail/testing/photographs.h"

namespace fuelrail {
namespace {

std::string pixels_of(ConstImageView image) {
  std::string pixels;
  for (int64_t y = 0; y < image.height; ++y) {
    pixels.append(reinterpret_cast<const char*>(image.row(y)),
                  static_cast<size_t>(image.width * image.channels));
  }
  return pixels;
}

TEST(UprightDecoder, a_box_is_that_part_of_the_whole_image_turned_upright) {
  const std::vector<std::byte> jpeg = make_jpeg(37, 53, 1);
  ImageInfo info = probe(jpeg);
  UprightDecoder decoder;
  WorkerCounts counts;
  for (const int64_t channels : {1, 3}) {
    std::vector<uint8_t> memory(static_cast<size_t>(37 * 53 * channels));
    const ImageView stored{memory.data(), 37, 53, channels, 53 * channels};
    decode_whole(*make_decoder(), jpeg, info, stored);
    for (int orientation = 1; orientation <= 8; ++orientation) {
      info.orientation = orientation;
      const Size size = info.oriented();
      std::vector<uint8_t> turned(memory.size());
      const ImageView upright{turned.data(), size.height, size.width, channels,
                              size.width * channels};
      turn_upright(stored, orientation, upright);
      for (const Box box : {whole(size), Box{5, 9, 20, 17}, Box{size.height - 1, 0, 1, 1}}) {
        EXPECT_EQ(pixels_of(decoder.decode({jpeg, info, box, channels}, counts)),
                  pixels_of(upright.crop(box)))
            << "orientation " << orientation << ", " << channels << " channels, box at " << box.top
            << ", " << box.left;
      }
    }
    info.orientation = 1;
  }
  EXPECT_EQ(counts.tolerated, 0U);
}

TEST(UprightDecoder, values_of_a_box_are_turned_upright_too) {
  const testing::GoldenImage& image = testing::golden_image("grey16.png");
  ImageInfo info = probe(image.bytes());
  const ConstImageView stored{reinterpret_cast<const uint8_t*>(image.values.data()), 21, 29, 2,
                              2 * 29};  // a channel for each byte
  UprightDecoder decoder;
  WorkerCounts counts;
  for (int orientation = 1; orientation <= 8; ++orientation) {
    info.orientation = orientation;
    const Size size = info.oriented();
    std::vector<uint8_t> turned(image.values.size());
    const ImageView upright{turned.data(), size.height, size.width, 2, size.width * 2};
    turn_upright(stored, orientation, upright);
    for (const Box box : {whole(size), Box{5, 3, 10, 17}}) {
      const ConstRawView values = decoder.decode_values(
          {.encoded = image.bytes(), .info = info, .box = box}, ValueEncoding::kStored, counts);
      EXPECT_EQ(values.dtype, DType::kUint16);
      EXPECT_EQ(values.channels, 1);
      EXPECT_EQ(pixels_of(values.bytes_image()), pixels_of(upright.crop(box))) << orientation;
    }
  }
}

TEST(UprightDecoder, uses_the_pixels_of_an_npy_file_where_they_lie) {
  const Bytes npy = testing::golden_image("rgb8.npy").bytes();
  const ImageInfo info = probe(npy);
  const Size size = info.stored;
  std::vector<uint8_t> memory(static_cast<size_t>(size.height * size.width * 3));
  const ImageView all{memory.data(), size.height, size.width, 3, size.width * 3};
  decode_whole(*make_decoder(), npy, info, all);
  UprightDecoder decoder;
  WorkerCounts counts;
  const auto lies_in_file = [&](Box box) {
    const ConstImageView pixels = decoder.decode({npy, info, box}, counts);
    EXPECT_EQ(pixels_of(pixels), pixels_of(all.crop(box)));
    const auto* const data = reinterpret_cast<const std::byte*>(pixels.data);
    return data >= npy.data() && data < npy.data() + npy.size();
  };
  EXPECT_TRUE(lies_in_file({1, 2, size.height / 2, size.width - 3}));
  EXPECT_FALSE(lies_in_file(whole(size)));  // too few readable bytes follow
}

TEST(UprightDecoder, eighths_give_the_smaller_image) {
  const std::vector<std::byte> jpeg = make_jpeg(64, 48, 2);
  const ImageInfo info = probe(jpeg);
  WorkerCounts counts;
  UprightDecoder decoder;
  const ConstImageView half =
      decoder.decode({.encoded = jpeg, .info = info, .box = {0, 0, 32, 24}, .eighths = 4}, counts);
  EXPECT_EQ(half.size(), (Size{32, 24}));
}

TEST(UprightDecoder, a_cut_image_is_its_error_and_oddities_are_added_up) {
  std::vector<std::byte> jpeg = make_jpeg(64, 64, 3);
  const ImageInfo info = probe(jpeg);
  UprightDecoder decoder;
  WorkerCounts counts{.tolerated = 5};
  jpeg.resize(jpeg.size() - 2);  // without its end marker
  decoder.decode({jpeg, info, whole(info.stored)}, counts);
  EXPECT_EQ(counts.tolerated, 6U);
  jpeg.resize(jpeg.size() / 2);
  EXPECT_THROW(decoder.decode({jpeg, info, whole(info.stored)}, counts), TruncatedError);
}

}  // namespace
}  // namespace fuelrail
