#include "fuelrail/container/image_record.h"

#include <gtest/gtest.h>

#include <limits>

#include "fuelrail/base/endian.h"
#include "fuelrail/base/error.h"
#include "fuelrail/testing/hex.h"
#include "fuelrail/testing/refusal.h"

namespace fuelrail {
namespace {

// Packed by MXNet 1.9.1 (pack.json of its golden files): id, labels, payload bytes.
struct Packed {
  uint64_t id;
  std::vector<float> labels;
  const char* hex;
};
const char* const kBody = "827ac883d7fb96";
const Packed kPacked[] = {
    {3, {1.5f}, "000000000000c03f03000000000000000000000000000000827ac883d7fb96"},
    {1099511627776, {7}, "000000000000e04000000000000100000000000000000000827ac883d7fb96"},
    {1, {-2.25f}, "00000000000010c001000000000000000000000000000000827ac883d7fb96"},
    {9, {1, 2}, "0200000000000000090000000000000000000000000000000000803f00000040827ac883d7fb96"},
};

TEST(ImageRecord, payloads_equal_those_of_mxnet) {
  const auto body = bytes_of_hex(kBody);
  for (const Packed& packed : kPacked) {
    std::vector<std::byte> payload;
    append_image_record(packed.id, packed.labels, body, payload);
    EXPECT_EQ(hex_of(payload), packed.hex);

    const ImageRecord record = parse_image_record(payload);
    EXPECT_EQ(record.id, packed.id);
    EXPECT_EQ(record.id2, 0u);
    EXPECT_EQ(hex_of(record.image), kBody);
    ASSERT_EQ(record.label_count(), packed.labels.size());
    for (size_t i = 0; i < packed.labels.size(); ++i) EXPECT_EQ(record.label(i), packed.labels[i]);
  }
}

TEST(ImageRecord, all_label_counts_and_image_sizes_come_back) {
  for (size_t labels = 1; labels < 255; labels += 7) {
    for (size_t size = 0; size < 255; size += 5) {
      std::vector<float> values(labels);
      for (size_t i = 0; i < labels; ++i) values[i] = static_cast<float>(i) * 0.5f;
      const std::vector<std::byte> image(size, std::byte{0xab});
      std::vector<std::byte> payload;
      append_image_record(labels, values, image, payload);
      const ImageRecord record = parse_image_record(payload);
      ASSERT_EQ(record.label_count(), labels);
      ASSERT_EQ(record.label(labels - 1), values.back());
      ASSERT_EQ(record.image.size(), size);
    }
  }
}

TEST(ImageRecord, label_array_of_one_is_read) {
  const auto payload =
      bytes_of_hex("01000000 00000000 0500000000000000 0600000000000000 00002041 ff");
  const ImageRecord record = parse_image_record(payload);
  EXPECT_EQ(record.id, 5u);
  EXPECT_EQ(record.id2, 6u);
  ASSERT_EQ(record.label_count(), 1u);
  EXPECT_EQ(record.label(0), 10.0f);
  EXPECT_EQ(hex_of(record.image), "ff");
}

TEST(ImageRecord, no_label_is_label_zero) {
  std::vector<std::byte> payload;
  append_image_record(1, {}, {}, payload);
  const ImageRecord record = parse_image_record(payload);
  ASSERT_EQ(record.label_count(), 1u);
  EXPECT_EQ(record.label(0), 0.0f);
}

TEST(ImageRecord, payload_cut_anywhere_before_the_image_is_corrupt) {
  std::vector<std::byte> payload;
  const float labels[] = {1, 2, 3};
  append_image_record(1, labels, {}, payload);
  for (size_t size = 0; size < payload.size(); ++size) {
    EXPECT_THROW(parse_image_record(Bytes(payload).first(size)), CorruptError) << size;
  }
}

TEST(ImageRecord, label_count_beyond_the_payload_is_corrupt) {
  std::vector<std::byte> payload(100);
  store_le(payload.data(), std::numeric_limits<uint32_t>::max());
  EXPECT_THROW(parse_image_record(payload), CorruptError);
}

}  // namespace
}  // namespace fuelrail
