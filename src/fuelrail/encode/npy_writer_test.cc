#include "fuelrail/encode/npy_writer.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "fuelrail/base/error.h"
#include "fuelrail/decode/decoder.h"
#include "fuelrail/testing/golden_images.h"

namespace fuelrail {
namespace {

using testing::golden_image;

std::string npy_of(ConstRawView array) {
  std::vector<std::byte> out(7);
  encode_npy(array, out);
  return std::string(as_text(out));
}

ConstRawView view(Bytes elements, int64_t height, int64_t width, int64_t channels, DType dtype) {
  ConstRawView array{elements.data(), height, width, channels, dtype, 0};
  array.row_stride_bytes = array.row_bytes();
  return array;
}

TEST(NpyWriter, writes_the_bytes_of_numpy_save) {
  const auto& grey = golden_image("grey8.npy");
  EXPECT_EQ(npy_of(view(as_bytes(grey.values), 21, 29, 1, DType::kUint8)), grey.encoded);
  const auto& rgb = golden_image("rgb8.npy");
  EXPECT_EQ(npy_of(view(as_bytes(rgb.rgb), 21, 29, 3, DType::kUint8)), rgb.encoded);
}

TEST(NpyWriter, the_decoder_reads_what_it_writes) {
  const std::vector<std::byte> elements(5 * 7 * 4, std::byte{0x3c});
  for (const DType dtype : {DType::kUint8, DType::kUint16, DType::kInt32, DType::kFloat32}) {
    const std::string encoded = npy_of(view(elements, 5, 7, 1, dtype));
    const ImageInfo info = probe(as_bytes(encoded));
    EXPECT_EQ(info.stored, (Size{5, 7}));
    std::vector<std::byte> back(5 * 7 * size_in_bytes(dtype));
    const RawView into{back.data(), 5, 7, 1, dtype, static_cast<int64_t>(7 * size_in_bytes(dtype))};
    decode_all_values(*make_decoder(), as_bytes(encoded), info, ValueEncoding::kStored, into);
    EXPECT_EQ(back, std::vector<std::byte>(back.size(), std::byte{0x3c}));
  }
  EXPECT_EQ(probe(as_bytes(npy_of(view(elements, 5, 7, 1, DType::kFloat16)))).values,
            DType::kFloat32);
}

TEST(NpyWriter, elements_begin_at_byte_128_whatever_the_shape) {
  const std::vector<std::byte> elements(1000 * 345);
  for (const int64_t width : {1, 12, 345}) {
    for (const int64_t height : {1, 10, 1000}) {
      const std::string encoded = npy_of(view(elements, height, width, 1, DType::kUint8));
      EXPECT_EQ(encoded.size(), static_cast<size_t>(128 + height * width));
    }
  }
}

TEST(NpyWriter, rows_may_be_padded) {
  const std::vector<std::byte> elements(4 * 6, std::byte{1});
  const ConstRawView box = view(elements, 4, 6, 1, DType::kUint8).crop({1, 2, 3, 4});
  const std::vector<std::byte> packed(3 * 4, std::byte{1});
  EXPECT_EQ(npy_of(box), npy_of(view(packed, 3, 4, 1, DType::kUint8)));
}

TEST(NpyWriter, other_elements_are_refused) {
  std::vector<std::byte> out;
  const std::vector<std::byte> elements(8);
  EXPECT_THROW(encode_npy(view(elements, 1, 1, 1, DType::kInt64), out), InvalidArgumentError);
  EXPECT_THROW(encode_npy(view(elements, 1, 1, 1, DType::kBool), out), InvalidArgumentError);
}

}  // namespace
}  // namespace fuelrail
