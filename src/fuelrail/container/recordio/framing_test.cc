#include "fuelrail/container/recordio/framing.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>

#include "fuelrail/base/endian.h"
#include "fuelrail/base/error.h"
#include "fuelrail/testing/hex.h"
#include "fuelrail/testing/refusal.h"

namespace fuelrail::recordio {
namespace {

using ::testing::HasSubstr;

const std::string kMagicText = "\x0a\x23\xd7\xce";

std::vector<std::byte> framed(std::string_view payload) {
  std::vector<std::byte> out;
  append_framed(as_bytes(payload), out);
  return out;
}

std::vector<std::byte> framed(const std::vector<std::byte>& payload) {
  return framed(as_text(payload));
}

std::string unframed(const std::vector<std::byte>& bytes) {
  std::vector<std::byte> storage;
  return std::string(as_text(unframe(bytes, storage).payload));
}

// The error of `unframe` for bytes that are not a record.
template <typename ExpectedError>
std::string refusal(std::string_view hex) {
  std::vector<std::byte> storage;
  return testing::refusal_of<ExpectedError>([&] { unframe(bytes_of_hex(hex), storage, 1000); });
}

struct Vector {
  std::string payload;
  std::string file_hex;
};

TEST(Framing, spec_vectors_are_written_and_read) {
  const std::string& m = kMagicText;
  const Vector vectors[] = {
      {"", "0a23d7ce 00000000"},
      {"a", "0a23d7ce 01000000 61000000"},
      {"abcde", "0a23d7ce 05000000 61626364 65000000"},
      {m, "0a23d7ce 00000020 0a23d7ce 00000060"},
      {m + m, "0a23d7ce 00000020 0a23d7ce 00000040 0a23d7ce 00000060"},
      {"abcd" + m + "ef", "0a23d7ce 04000020 61626364 0a23d7ce 02000060 65660000"},
      {"abcd" + m + "efgh" + m + "ij",
       "0a23d7ce 04000020 61626364 0a23d7ce 04000040 65666768 0a23d7ce 02000060 696a0000"},
      {"ab" + m, "0a23d7ce 06000000 61620a23 d7ce0000"},
      {"abcd" + m.substr(0, 3), "0a23d7ce 07000000 61626364 0a23d700"},
  };
  for (const Vector& vector : vectors) {
    const auto expected = bytes_of_hex(vector.file_hex);
    EXPECT_EQ(hex_of(framed(vector.payload)), hex_of(expected));
    EXPECT_EQ(unframed(expected), vector.payload);
  }
}

TEST(Framing, samples_of_the_format_page_are_true) {
  int samples = 0;
  for (const std::string& line : format_page_block("recordio.md", "recordio")) {
    const size_t arrow = line.find("->");
    ASSERT_NE(arrow, std::string::npos) << line;
    const auto payload = bytes_of_hex(line.substr(0, arrow));
    const auto file = bytes_of_hex(line.substr(arrow + 2));
    EXPECT_EQ(hex_of(framed(payload)), hex_of(file)) << line;
    EXPECT_EQ(unframed(file), as_text(payload)) << line;
    ++samples;
  }
  EXPECT_EQ(samples, 9);
}

TEST(Framing, random_payloads_with_many_magics_come_back) {
  std::mt19937 random(7);
  for (int round = 0; round < 4000; ++round) {
    std::vector<std::byte> payload(random() % 700);
    for (std::byte& b : payload) b = static_cast<std::byte>(random());
    for (auto magics = random() % 12; magics > 0 && payload.size() >= 4; --magics) {
      store_le(payload.data() + random() % (payload.size() - 3), kMagic);  // at any alignment
    }
    std::vector<std::byte> file = framed(payload);
    ASSERT_EQ(file.size() % 4, 0u);
    const uint64_t record_bytes = file.size();
    // Only heads contain aligned magics; recovery and partitioning rely on it.
    size_t heads = 0;
    for (auto at = find_magic(file); at; at = find_magic(file, *at + 4)) ++heads;
    std::vector<std::byte> again;
    ASSERT_EQ(append_framed(payload, again), heads);

    file.resize(file.size() + random() % 9, std::byte{0x5a});  // bytes of the next record
    std::vector<std::byte> storage;
    const Unframed result = unframe(file, storage);
    ASSERT_EQ(result.framed_bytes, record_bytes);
    ASSERT_TRUE(std::ranges::equal(result.payload, payload));
  }
}

TEST(Framing, every_size_near_the_scan_block_is_framed) {
  for (size_t size = 0; size < 1100; ++size) {
    const std::string payload(size, 'x');
    const auto file = framed(payload);
    ASSERT_EQ(file.size(), kHeadBytes + (size + 3) / 4 * 4);
    ASSERT_EQ(unframed(file), payload);
  }
}

TEST(Framing, magic_is_found_at_every_aligned_place_and_no_other) {
  std::vector<std::byte> bytes(1040, std::byte{0});
  for (size_t at = 0; at + 4 <= bytes.size(); ++at) {
    store_le(bytes.data() + at, kMagic);
    ASSERT_EQ(find_magic(bytes), at % 4 == 0 ? std::optional(at) : std::nullopt) << at;
    if (at % 4 == 0) {
      ASSERT_EQ(find_magic(bytes, at + 4), std::nullopt) << at;
    }
    store_le(bytes.data() + at, uint32_t{0});
  }
  const Bytes cut = Bytes(bytes).first(1038);
  store_le(bytes.data() + 1036, kMagic);
  EXPECT_EQ(find_magic(cut), std::nullopt);
}

TEST(Framing, one_part_is_a_view_and_needs_no_storage) {
  const auto file = framed("abcde");
  std::vector<std::byte> storage;
  const Unframed result = unframe(file, storage);
  EXPECT_EQ(result.payload.data(), file.data() + kHeadBytes);
  EXPECT_EQ(storage.capacity(), 0u);
}

TEST(Framing, payload_of_two_to_the_29_is_refused_before_anything_is_read) {
  const std::byte unread{};
  std::vector<std::byte> out;
  EXPECT_THROW(append_framed(Bytes(&unread, kMaxPayloadBytes + 1), out), InvalidArgumentError);
  EXPECT_TRUE(out.empty());
}

TEST(Framing, longest_length_fits_its_head) {
  const PartHead head(PartKind::kLast, kMaxPayloadBytes);
  EXPECT_TRUE(head.valid());
  EXPECT_EQ(head.length(), kMaxPayloadBytes);
  EXPECT_EQ(head.padded_length(), uint64_t{1} << 29);
  EXPECT_EQ(head.kind(), PartKind::kLast);
}

TEST(Unframe, data_cut_anywhere_are_truncated) {
  const auto file = framed("abcd" + kMagicText + "efgh" + kMagicText + "ij");
  for (size_t size = 0; size < file.size(); ++size) {
    std::vector<std::byte> storage;
    EXPECT_THROW(unframe(Bytes(file).first(size), storage), TruncatedError) << size;
  }
}

TEST(Unframe, wrong_magic_is_corrupt_with_its_offset) {
  EXPECT_THAT(
      refusal<CorruptError>("0a23d7cf 01000000 61000000"),
      HasSubstr("offset 1000: the record's magic number is wrong: expected 0xced7230a, found "
                "0xcfd7230a"));
  EXPECT_THAT(refusal<CorruptError>("0a23d7ce 00000020 0b23d7ce 00000060"),
              HasSubstr("offset 1008: the record's magic number is wrong"));
}

TEST(Unframe, parts_out_of_order_are_corrupt) {
  const auto order = HasSubstr("the parts of the record are out of order");
  EXPECT_THAT(refusal<CorruptError>("0a23d7ce 00000040"), order);                    // middle first
  EXPECT_THAT(refusal<CorruptError>("0a23d7ce 00000060"), order);                    // last first
  EXPECT_THAT(refusal<CorruptError>("0a23d7ce 00000080"), order);                    // unused kind
  EXPECT_THAT(refusal<CorruptError>("0a23d7ce 00000020 0a23d7ce 00000000"), order);  // whole inside
  EXPECT_THAT(refusal<CorruptError>("0a23d7ce 00000020 0a23d7ce 00000020"), order);  // first twice
}

TEST(Unframe, inner_part_with_an_odd_length_is_corrupt) {
  EXPECT_THAT(refusal<CorruptError>("0a23d7ce 01000020 61000000 0a23d7ce 00000060"),
              HasSubstr("invalid length: expected a multiple of 4"));
}

TEST(PartChain, record_longer_than_the_format_allows_is_corrupt) {
  PartChain chain;
  const uint64_t inner = kMaxPayloadBytes / 4 * 4;
  chain.add(PartHead(PartKind::kFirst, inner), 0, UINT64_MAX);
  EXPECT_THROW(chain.add(PartHead(PartKind::kLast, 0), inner + 8, UINT64_MAX), CorruptError);
}

}  // namespace
}  // namespace fuelrail::recordio
