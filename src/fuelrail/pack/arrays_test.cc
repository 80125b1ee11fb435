#include "fuelrail/pack/arrays.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <numeric>

#include "fuelrail/decode/decoder.h"
#include "fuelrail/testing/packer_rig.h"

namespace fuelrail::pack {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;
using testing::refusal_of;

template <typename T>
ImageArrays arrays_of(const std::vector<T>& values, ArrayElement element,
                      std::array<int64_t, 4> shape) {
  ImageArrays arrays{.data = reinterpret_cast<const std::byte*>(values.data()),
                     .element = element,
                     .count = shape[0],
                     .channels = shape[1],
                     .height = shape[2],
                     .width = shape[3]};
  int64_t stride = sizeof(T);
  for (size_t axis = 4; axis-- > 0;) {
    arrays.strides_bytes[axis] = stride;
    stride *= shape[axis];
  }
  arrays.labels.resize(static_cast<size_t>(shape[0]));
  std::iota(arrays.labels.begin(), arrays.labels.end(), 0.0f);
  return arrays;
}

class PackedArrays : public PhotographFolder {
 protected:
  static PackOptions as_png() {
    return {.images = ImageSteps{.color = ColorMode::kUnchanged, .encoding = ImageEncoding::kPng},
            .job = {.overwrite = true},
            .threads = 2};
  }

  // HWC levels of the images that were packed.
  std::vector<std::vector<uint8_t>> packed(const ImageArrays& arrays) const {
    pack_arrays(arrays, out("a.rec"), as_png());
    std::vector<std::vector<uint8_t>> images;
    for (const Packed& record : records_of(out("a.rec"))) {
      const Bytes encoded = as_bytes(record.image);
      const ImageInfo info = probe(encoded);
      const Size size = info.stored;
      EXPECT_EQ(info.channels, arrays.channels);
      std::vector<uint8_t> pixels(static_cast<size_t>(size.height * size.width * info.channels));
      DecodeJob job{.encoded = encoded,
                    .info = info,
                    .box = whole(size),
                    .output = {pixels.data(), size.height, size.width, info.channels,
                               size.width * info.channels}};
      make_decoder()->decode({&job, 1});
      if (job.error) std::rethrow_exception(job.error);
      images.push_back(pixels);
    }
    return images;
  }
};

TEST_F(PackedArrays, channels_come_last_and_labels_and_ids_go_along) {
  const std::vector<uint8_t> values{1,  2,  3,  4,  5,  6,  // red, green, blue of 1 x 2 pixels
                                    11, 12, 13, 14, 15, 16};
  ImageArrays arrays = arrays_of(values, ArrayElement::kUint8, {2, 3, 1, 2});
  EXPECT_THAT(packed(arrays),
              ElementsAre(ElementsAre(1, 3, 5, 2, 4, 6), ElementsAre(11, 13, 15, 12, 14, 16)));
  arrays.labels = {5, 6, 7, 8};
  arrays.label_width = 2;
  pack_arrays(arrays, out("a.rec"), as_png());
  const std::vector<Packed> records = records_of(out("a.rec"));
  EXPECT_EQ(records.at(1).id, 1u);
  EXPECT_THAT(records.at(1).labels, ElementsAre(7, 8));
}

TEST_F(PackedArrays, grey_and_alpha_keep_their_channels) {
  const std::vector<uint8_t> values{1, 2, 3, 4, 5, 6, 7, 8};
  EXPECT_THAT(packed(arrays_of(values, ArrayElement::kUint8, {2, 1, 2, 2})),
              ElementsAre(ElementsAre(1, 2, 3, 4), ElementsAre(5, 6, 7, 8)));
  EXPECT_THAT(packed(arrays_of(values, ArrayElement::kUint8, {1, 4, 1, 2})),
              ElementsAre(ElementsAre(1, 3, 5, 7, 2, 4, 6, 8)));
}

TEST_F(PackedArrays, floats_are_from_0_to_1_rounded_and_clipped) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const std::vector<double> values{0,     1,          0.5,        -0.1,
                                   1.1,   1.49 / 255, 1.51 / 255, 254.4 / 255,
                                   0.001, -kInfinity, kInfinity,  0.25};
  const std::vector<int> levels{0, 255, 128, 0, 255, 1, 2, 254, 0, 0, 255, 64};
  EXPECT_THAT(packed(arrays_of(values, ArrayElement::kFloat64, {1, 1, 3, 4})),
              ElementsAre(ElementsAreArray(levels)));
  const std::vector<float> singles(values.begin(), values.end());
  EXPECT_THAT(packed(arrays_of(singles, ArrayElement::kFloat32, {1, 1, 3, 4})),
              ElementsAre(ElementsAreArray(levels)));
  const std::vector<uint16_t> halves{0x0000, 0x3c00, 0x3800, 0xbc00, 0x7c00, 0x3400};
  EXPECT_THAT(packed(arrays_of(halves, ArrayElement::kFloat16, {1, 1, 2, 3})),
              ElementsAre(ElementsAre(0, 255, 128, 0, 255, 64)));
}

template <typename T>
std::vector<T> with_extremes() {
  return {static_cast<T>(7), std::numeric_limits<T>::min(), std::numeric_limits<T>::max(),
          static_cast<T>(100)};
}

TEST_F(PackedArrays, whole_numbers_are_levels_and_clipped) {
  const auto levels = [&](const auto& values, ArrayElement element) {
    return packed(arrays_of(values, element, {1, 1, 2, 2})).at(0);
  };
  EXPECT_THAT(levels(with_extremes<int8_t>(), ArrayElement::kInt8), ElementsAre(7, 0, 127, 100));
  EXPECT_THAT(levels(with_extremes<int16_t>(), ArrayElement::kInt16), ElementsAre(7, 0, 255, 100));
  EXPECT_THAT(levels(with_extremes<uint16_t>(), ArrayElement::kUint16),
              ElementsAre(7, 0, 255, 100));
  EXPECT_THAT(levels(with_extremes<int32_t>(), ArrayElement::kInt32), ElementsAre(7, 0, 255, 100));
  EXPECT_THAT(levels(with_extremes<uint32_t>(), ArrayElement::kUint32),
              ElementsAre(7, 0, 255, 100));
  EXPECT_THAT(levels(with_extremes<int64_t>(), ArrayElement::kInt64), ElementsAre(7, 0, 255, 100));
  EXPECT_THAT(levels(with_extremes<uint64_t>(), ArrayElement::kUint64),
              ElementsAre(7, 0, 255, 100));
}

TEST_F(PackedArrays, strides_of_any_kind_are_followed) {
  const std::vector<uint8_t> values{1, 2, 3, 4, 5, 6};  // HWC of 1 x 2 pixels
  ImageArrays arrays = arrays_of(values, ArrayElement::kUint8, {1, 3, 1, 2});
  arrays.strides_bytes = {6, 1, 6, 3};
  EXPECT_THAT(packed(arrays), ElementsAre(ElementsAre(1, 2, 3, 4, 5, 6)));
  arrays.data += 3;
  arrays.strides_bytes = {6, 1, 6, -3};
  EXPECT_THAT(packed(arrays), ElementsAre(ElementsAre(4, 5, 6, 1, 2, 3)));
}

TEST_F(PackedArrays, an_image_with_a_nan_is_one_that_cannot_be_read) {
  const std::vector<float> values{0, 1, std::numeric_limits<float>::quiet_NaN(), 0};
  const ImageArrays arrays = arrays_of(values, ArrayElement::kFloat32, {2, 1, 1, 2});
  EXPECT_THAT(refusal_of<CorruptError>([&] { pack_arrays(arrays, out("a.rec"), as_png()); }),
              HasSubstr("data[1]"));
  PackOptions options = as_png();
  options.max_errors = {.count = 1};
  const PackResult result = pack_arrays(arrays, out("a.rec"), options);
  EXPECT_EQ(result.files.at(0).records, 1u);
  EXPECT_THAT(result.failures.at(0).reason, HasSubstr("not a number"));
}

TEST_F(PackedArrays, what_cannot_be_packed_is_refused) {
  const std::vector<uint8_t> values(24);
  const auto refused = [&](const ImageArrays& arrays, const PackOptions& options) {
    return refusal_of<InvalidArgumentError>([&] { pack_arrays(arrays, out("b.rec"), options); });
  };
  const ImageArrays rgba = arrays_of(values, ArrayElement::kUint8, {1, 4, 2, 3});
  PackOptions jpeg = as_png();
  std::get<ImageSteps>(jpeg.images).encoding = ImageEncoding::kJpeg;
  EXPECT_THAT(refused(rgba, jpeg), HasSubstr("JPEG cannot store alpha"));
  EXPECT_THAT(refused(arrays_of(values, ArrayElement::kUint8, {1, 2, 2, 3}), as_png()),
              HasSubstr("2 channels"));
  EXPECT_THAT(refused(arrays_of(values, ArrayElement::kUint8, {0, 3, 2, 3}), as_png()),
              HasSubstr("the array has no images"));
  ImageArrays labels = rgba;
  labels.labels = {1, 2};
  EXPECT_THAT(refused(labels, as_png()), HasSubstr("expected 1, found 2"));
  EXPECT_NE(refused(rgba, {}), "");
}

}  // namespace
}  // namespace fuelrail::pack
