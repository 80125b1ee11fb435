#include "fuelrail/container/sidecar/sidecar.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <string>

#include "fuelrail/base/crc32.h"
#include "fuelrail/base/endian.h"
#include "fuelrail/base/error.h"
#include "fuelrail/container/sidecar/sidecar_writer.h"
#include "fuelrail/storage/memory/memory_file_system.h"
#include "fuelrail/testing/collecting_sink.h"
#include "fuelrail/testing/hex.h"
#include "fuelrail/testing/refusal.h"

namespace fuelrail {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const FileIdentity kIdentity{.size_bytes = 100, .first_crc = 0x11223344, .last_crc = 0x55667788};
constexpr uint32_t kForeignSection = section_type("XTRA");

std::vector<std::byte> bytes_of(const SidecarWriter& writer,
                                const FileIdentity& identity = kIdentity) {
  CollectingSink sink;
  writer.write_to(identity, sink);
  return sink.bytes();
}

std::unique_ptr<Sidecar> opened(std::vector<std::byte> bytes) {
  return Sidecar::open(memory_source("x.frx", std::move(bytes)));
}

SidecarWriter small_sidecar() {
  SidecarWriter writer;
  writer.add_record({0, 40}, 0xaaaaaaaa);
  writer.add_record({40, 60}, 0xbbbbbbbb);
  writer.set_labels({.width = 1, .integral = true});
  writer.set_classes({"cat", "", "d\xc3\xb6g"});
  return writer;
}

// Enough records that the table has blocks.
constexpr uint64_t kManyRecords = 300'000;
SidecarWriter large_sidecar() {
  SidecarWriter writer;
  for (uint64_t i = 0; i < kManyRecords; ++i) writer.add_record({i * 8, 8}, uint32_t(i));
  return writer;
}
const FileIdentity kLargeIdentity{.size_bytes = kManyRecords * 8};

void flip(std::vector<std::byte>& bytes, size_t bit) {
  bytes[bit / 8] ^= static_cast<std::byte>(1u << (bit % 8));
}

template <typename ExpectedError>
std::string refusal(std::vector<std::byte> bytes) {
  return testing::refusal_of<ExpectedError>([&] { opened(std::move(bytes)); });
}

// Like the output of another writer: corrects the header's checksum.
void mend_header(std::vector<std::byte>& bytes) {
  const auto sections = load_le<uint32_t>(bytes.data() + 12);
  const Bytes all(bytes);
  store_le(bytes.data() + 60, crc32(all.subspan(64, 32 * sections), crc32(all.first(60))));
}

TEST(Sidecar, everything_comes_back) {
  const auto sidecar = opened(bytes_of(small_sidecar()));
  EXPECT_EQ(sidecar->uri(), "x.frx");
  EXPECT_EQ(sidecar->identity(), kIdentity);
  ASSERT_EQ(sidecar->records(), 2u);
  ASSERT_TRUE(sidecar->has_table());
  EXPECT_EQ(sidecar->record(1).offset, 40u);
  EXPECT_EQ(sidecar->record(1).length, 60u);
  ASSERT_TRUE(sidecar->has_checksums());
  EXPECT_EQ(sidecar->payload_crc(0), 0xaaaaaaaa);
  EXPECT_EQ(sidecar->payload_crc(1), 0xbbbbbbbb);
  EXPECT_NE(sidecar->section(kClassesSection), nullptr);
  EXPECT_THAT(sidecar->classes(), ElementsAre("cat", "", "d\xc3\xb6g"));
  EXPECT_EQ(sidecar->labels(), (LabelSummary{.width = 1, .integral = true}));
  std::vector<std::byte> lengths(16);
  store_le(lengths.data(), uint64_t{40});
  store_le(lengths.data() + 8, uint64_t{60});
  EXPECT_EQ(sidecar->fingerprint(),
            (Fingerprint{.records = 2, .bytes = 100, .checksum = crc32(lengths)}));
  EXPECT_NO_THROW(sidecar->verify());
}

TEST(Sidecar, the_same_calls_give_the_same_bytes) {
  EXPECT_TRUE(bytes_of(small_sidecar()) == bytes_of(small_sidecar()));
}

TEST(Sidecar, what_was_not_given_is_absent) {
  SidecarWriter writer;
  writer.add_record({0, 100});
  const auto sidecar = opened(bytes_of(writer));
  EXPECT_FALSE(sidecar->has_checksums());
  EXPECT_EQ(sidecar->section(kClassesSection), nullptr);
  EXPECT_TRUE(sidecar->classes().empty());
  EXPECT_FALSE(sidecar->labels());
}

TEST(Sidecar, one_record_without_checksum_leaves_none) {
  SidecarWriter writer;
  writer.add_record({0, 40}, 1);
  writer.add_record({40, 40});
  writer.add_record({80, 20}, 3);
  const auto sidecar = opened(bytes_of(writer));
  EXPECT_EQ(sidecar->records(), 3u);
  EXPECT_FALSE(sidecar->has_checksums());
}

// The bytes of a sample on the format's page.
std::vector<std::byte> bytes_on_page(std::string_view language) {
  std::vector<std::byte> all;
  for (const std::string& line : format_page_block("frx.md", language)) {
    const size_t colon = line.find(": ");
    if (colon == std::string::npos) throw StateError("a line without an offset: " + line);
    EXPECT_EQ(std::stoul(line.substr(0, colon), nullptr, 16), all.size()) << line;
    const size_t comment = line.find(';');
    const auto bytes = bytes_of_hex(line.substr(colon + 2, comment - colon - 2));
    all.insert(all.end(), bytes.begin(), bytes.end());
  }
  return all;
}

TEST(Sidecar, sample_of_the_format_page_is_true) {
  SidecarWriter writer;
  writer.add_record({0, 40}, 0xaaaaaaaa);
  writer.add_record({40, 60}, 0xbbbbbbbb);
  writer.set_labels({.width = 1, .integral = true});
  writer.set_classes({"cat", "dog"});
  EXPECT_EQ(hex_of(bytes_of(writer)), hex_of(bytes_on_page("frx")));
}

TEST(Sidecar, sample_of_hints_on_the_format_page_is_true) {
  const std::vector<std::byte> hints = bytes_of_hex(
      "0110090000004000cbff000000000000801f0000bb00000012f60000"
      "000035b4822e264741b39c3c523f0a00b21c08");
  SidecarWriter writer;
  for (uint64_t i = 0; i < 3; ++i) writer.add_record({i * 40, 40}, 0x12345678);
  writer.hints().add(1, 0x12345678, hints);
  const auto sidecar = opened(bytes_of(writer, {.size_bytes = 120}));
  ASSERT_NE(sidecar->section(kHintsSection), nullptr);
  EXPECT_EQ(hex_of(sidecar->section(kHintsSection)->all()), hex_of(bytes_on_page("jent")));
  std::vector<std::byte> storage;
  EXPECT_EQ(hex_of(sidecar->hints(1, 0x12345678, storage)), hex_of(hints));
}

TEST(Sidecar, of_a_file_with_a_table_of_its_own_has_none) {
  SidecarWriter with_table, without;
  for (const uint64_t length : {40, 60}) {
    with_table.add_record({0, length}, 7);
    without.add_length(length);
  }
  without.set_classes({"cat"});
  const auto sidecar = opened(bytes_of(without));
  EXPECT_FALSE(sidecar->has_table());
  EXPECT_FALSE(sidecar->has_checksums());
  EXPECT_EQ(sidecar->fingerprint(), opened(bytes_of(with_table))->fingerprint());
  EXPECT_THAT(sidecar->classes(), ElementsAre("cat"));
  sidecar->verify();
}

TEST(Sidecar, keys_are_kept_one_a_record) {
  SidecarWriter writer;
  writer.add_length(40);
  writer.add_length(60);
  const std::vector<uint64_t> keys{7, ~uint64_t{0}};
  writer.set_keys(keys);
  const auto sidecar = opened(bytes_of(writer));
  ASSERT_TRUE(sidecar->has_keys());
  EXPECT_EQ(sidecar->key(0), 7u);
  EXPECT_EQ(sidecar->key(1), ~uint64_t{0});
  EXPECT_TRUE(sidecar->section(kKeysSection)->kept());
  EXPECT_FALSE(opened(bytes_of(small_sidecar()))->has_keys());
}

TEST(Sidecar, keys_that_are_not_one_a_record_are_refused) {
  SidecarWriter writer;
  writer.add_length(40);
  const std::vector<uint64_t> keys{7, 8};
  writer.set_keys(keys);
  EXPECT_THROW(opened(bytes_of(writer)), CorruptError);
}

// A small sidecar is checked as a whole when it is opened, so no changed bit goes unnoticed.
TEST(Sidecar, every_flipped_bit_is_refused) {
  const auto bytes = bytes_of(small_sidecar());
  for (size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    auto damaged = bytes;
    flip(damaged, bit);
    EXPECT_THROW(opened(damaged), Error) << "bit " << bit % 8 << " of byte " << bit / 8;
  }
}

TEST(Sidecar, every_truncation_is_refused) {
  const auto bytes = bytes_of(small_sidecar());
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_THROW(opened({bytes.begin(), bytes.begin() + ptrdiff_t(size)}), TruncatedError) << size;
  }
}

TEST(Sidecar, bytes_behind_its_end_are_refused) {
  auto bytes = bytes_of(small_sidecar());
  bytes.push_back(std::byte{0});
  EXPECT_THAT(refusal<CorruptError>(bytes), HasSubstr("longer than its header says"));
}

TEST(Sidecar, file_of_another_kind_is_refused) {
  const Bytes text = as_bytes("0\t0\n1\t16\n");
  EXPECT_THAT(refusal<CorruptError>({text.begin(), text.end()}), HasSubstr("not a sidecar"));
}

TEST(Sidecar, newer_major_version_is_unsupported_and_newer_minor_is_read) {
  auto bytes = bytes_of(small_sidecar());
  store_le(bytes.data() + 10, uint16_t{7});
  mend_header(bytes);
  EXPECT_EQ(opened(bytes)->records(), 2u);
  store_le(bytes.data() + 8, uint16_t{2});
  EXPECT_THAT(refusal<UnsupportedError>(bytes), HasSubstr("expected 1, found 2"));
}

TEST(Sidecar, unknown_section_is_skipped_and_can_be_asked_for) {
  SidecarWriter writer = small_sidecar();
  writer.add_section(kForeignSection, as_bytes("hints"), false);
  const auto sidecar = opened(bytes_of(writer));
  EXPECT_EQ(sidecar->records(), 2u);
  ASSERT_NE(sidecar->section(kForeignSection), nullptr);
  EXPECT_EQ(as_text(sidecar->section(kForeignSection)->all()), "hints");
  std::array<std::byte, 3> part;
  sidecar->section(kForeignSection)->read(1, part);
  EXPECT_EQ(as_text(part), "int");
  EXPECT_THROW(sidecar->section(kForeignSection)->read(3, part), CorruptError);
  EXPECT_EQ(sidecar->section(section_type("NONE")), nullptr);
}

TEST(Sidecar, what_cannot_be_rebuilt_is_kept_by_a_new_one) {
  SidecarWriter old_writer = small_sidecar();
  old_writer.add_section(kForeignSection, as_bytes("keys"), true);
  old_writer.add_section(section_type("HINT"), as_bytes("hints"), false);
  const auto old = opened(bytes_of(old_writer));
  SidecarWriter writer;
  writer.add_record({0, 100}, 5);
  writer.keep_sections_of(*old);
  const auto sidecar = opened(bytes_of(writer));
  EXPECT_EQ(sidecar->records(), 1u);
  EXPECT_EQ(sidecar->classes(), old->classes());
  EXPECT_EQ(as_text(sidecar->section(kForeignSection)->all()), "keys");
  EXPECT_EQ(sidecar->section(section_type("HINT")), nullptr);
  EXPECT_FALSE(sidecar->labels());
}

// Every section is marked as one that cannot be rebuilt. A duplicate table is refused.
TEST(Sidecar, what_is_made_from_the_file_is_made_anew_whatever_its_flag_says) {
  auto bytes = bytes_of(small_sidecar());
  for (uint32_t i = 0; i < load_le<uint32_t>(bytes.data() + 12); ++i) {
    store_le(bytes.data() + 64 + 32 * i + 4, uint32_t{1});
  }
  mend_header(bytes);
  const auto old = opened(bytes);
  SidecarWriter writer;
  writer.add_record({0, 100});
  writer.keep_sections_of(*old);
  const auto sidecar = opened(bytes_of(writer));
  EXPECT_EQ(sidecar->records(), 1u);
  EXPECT_EQ(sidecar->record(0).length, 100u);
  EXPECT_FALSE(sidecar->has_checksums());
  EXPECT_FALSE(sidecar->labels());
  EXPECT_EQ(sidecar->classes(), old->classes());
}

TEST(Sidecar, new_class_names_win_over_kept_ones) {
  const auto old = opened(bytes_of(small_sidecar()));
  SidecarWriter writer;
  writer.add_record({0, 100});
  writer.set_classes({"new"});
  writer.keep_sections_of(*old);
  EXPECT_THAT(opened(bytes_of(writer))->classes(), ElementsAre("new"));
}

TEST(Sidecar, record_outside_its_file_is_refused_when_used) {
  SidecarWriter writer;
  writer.add_record({0, 40});
  writer.add_record({41, 60});
  writer.add_record({std::numeric_limits<uint64_t>::max(), 2});
  const auto sidecar = opened(bytes_of(writer));
  EXPECT_EQ(sidecar->record(0).length, 40u);
  EXPECT_THROW(sidecar->record(1), CorruptError);
  EXPECT_THROW(sidecar->record(2), CorruptError);
  EXPECT_THROW(sidecar->verify(), CorruptError);
}

TEST(Sidecar, label_width_that_no_record_can_hold_is_refused) {
  const auto with_width = [](int64_t width) {
    SidecarWriter writer;
    writer.add_record({0, 100});
    writer.set_labels({.width = width, .integral = false});
    return bytes_of(writer);
  };
  constexpr int64_t kMost = (int64_t{1} << 27) - 1;
  EXPECT_EQ(opened(with_width(kMost))->labels()->width, kMost);
  EXPECT_THAT(refusal<CorruptError>(with_width(kMost + 1)),
              HasSubstr("label width is too large: expected at most 134217727"));
  EXPECT_THAT(refusal<CorruptError>(with_width(-2)), HasSubstr("label width is negative"));
}

TEST(Sidecar, section_counts_and_sizes_that_contradict_are_refused) {
  const auto bytes = bytes_of(small_sidecar());
  struct Change {
    size_t at;
    uint64_t value;
    const char* expected;
  };
  const size_t meta = 64;  // the first directory entry
  const uint64_t huge = std::numeric_limits<uint64_t>::max();
  for (const Change& change : {Change{meta + 8, 128, "invalid offset or length"},
                               Change{meta + 8, huge, "invalid offset or length"},
                               Change{meta + 16, huge, "invalid offset or length"},
                               Change{meta + 16, huge - 255, "invalid offset or length"}}) {
    auto damaged = bytes;
    store_le(damaged.data() + change.at, change.value);
    mend_header(damaged);
    EXPECT_THAT(refusal<CorruptError>(damaged), HasSubstr(change.expected)) << change.value;
  }
  auto blocks_of_one = bytes;
  store_le(blocks_of_one.data() + meta + 24, uint32_t{1});
  mend_header(blocks_of_one);
  EXPECT_THROW(opened(blocks_of_one), CorruptError);

  auto sections = bytes;
  store_le(sections.data() + 12, uint32_t{0xffffffff});
  EXPECT_THAT(refusal<CorruptError>(sections), HasSubstr("declares too many sections"));

  auto twice = bytes;
  store_le(twice.data() + 64 + 32, kMetaSection);
  mend_header(twice);
  EXPECT_THAT(refusal<CorruptError>(twice), HasSubstr("twice"));

  auto unnamed = bytes;
  store_le(unnamed.data() + 64, kForeignSection);
  mend_header(unnamed);
  EXPECT_THAT(refusal<CorruptError>(unnamed), HasSubstr("no META"));
}

// Sections of another writer, with right checksums.
TEST(Sidecar, small_sections_that_contradict_are_refused) {
  const auto with = [](uint32_t type, const char* hex) {
    SidecarWriter writer;
    writer.add_record({0, 100});
    writer.add_section(type, bytes_of_hex(hex), false);
    return bytes_of(writer);
  };
  EXPECT_THROW(opened(with(kClassesSection, "02")), CorruptError);
  EXPECT_THROW(opened(with(kClassesSection, "ffffffff 01000000 61")), CorruptError);
  EXPECT_THROW(opened(with(kClassesSection, "01000000 02000000 61")), CorruptError);
  EXPECT_THROW(opened(with(kClassesSection, "01000000 01000000 6162")), CorruptError);
  EXPECT_THROW(opened(with(kLabelsSection, "01000000")), CorruptError);
  EXPECT_THROW(opened(with(kLabelsSection, "feffffffffffffff 0000000000000000")), CorruptError);
  EXPECT_THROW(opened(with(kChecksumsSection, "0000000000000000")), CorruptError);
}

TEST(LargeSidecar, blocks_are_read_and_verified) {
  const auto sidecar = opened(bytes_of(large_sidecar(), kLargeIdentity));
  ASSERT_EQ(sidecar->records(), kManyRecords);
  for (uint64_t i = 0; i < kManyRecords; i += 77) {
    ASSERT_EQ(sidecar->record(i).offset, i * 8);
    ASSERT_EQ(sidecar->payload_crc(i), i);
  }
  EXPECT_EQ(sidecar->record(kManyRecords - 1).offset, (kManyRecords - 1) * 8);
  EXPECT_NO_THROW(sidecar->verify());
}

TEST(LargeSidecar, damaged_block_is_refused_when_used_and_leaves_the_others) {
  auto bytes = bytes_of(large_sidecar(), kLargeIdentity);
  const auto table_at = load_le<uint64_t>(bytes.data() + 64 + 32 + 8);
  flip(bytes, (table_at + 5000 * 16) * 8 + 3);
  const auto sidecar = opened(bytes);
  EXPECT_EQ(sidecar->record(4000).offset, 4000u * 8);
  EXPECT_EQ(sidecar->record(6000).offset, 6000u * 8);
  try {
    sidecar->record(5001);  // in the same block as the flipped bit
    ADD_FAILURE();
  } catch (const CorruptError& error) {
    EXPECT_THAT(error.what(),
                HasSubstr("x.frx: the checksum of block 19 of section \"RECS\" of the "
                          "sidecar is wrong"));
    EXPECT_THAT(error.what(), HasSubstr("fuelrail index"));
  }
  EXPECT_THROW(sidecar->verify(), CorruptError);
}

TEST(LargeSidecar, damaged_block_checksum_is_found_at_opening) {
  auto bytes = bytes_of(large_sidecar(), kLargeIdentity);
  flip(bytes, bytes.size() * 8 - 1);  // of the last block of checksums
  EXPECT_THAT(refusal<CorruptError>(bytes),
              HasSubstr("the checksum of section \"CRCS\" of the sidecar is wrong"));
}

TEST(LargeSidecar, sections_without_blocks_of_a_right_size_are_refused) {
  auto bytes = bytes_of(large_sidecar(), kLargeIdentity);
  constexpr size_t kEntry = 64 + 2 * 32;  // of the checksums, the last
  const auto offset = load_le<uint64_t>(bytes.data() + kEntry + 8);
  const auto length = load_le<uint64_t>(bytes.data() + kEntry + 16);
  for (const uint32_t size : {511u, (1u << 20) + 1}) {
    bytes.resize(offset + length + 4 * ((length + size - 1) / size));
    store_le(bytes.data() + kEntry + 24, size);
    store_le(bytes.data() + 16, uint64_t{bytes.size()});
    mend_header(bytes);
    EXPECT_THAT(refusal<CorruptError>(bytes), HasSubstr("has an invalid block size"));
  }
}

// Long sections without blocks: a small file could otherwise claim the whole table's memory.
TEST(LargeSidecar, more_than_a_mib_without_blocks_is_refused) {
  SidecarWriter writer;
  writer.add_record({0, 100});
  const std::vector<std::byte> data((1 << 20) + 1);
  writer.add_section(kForeignSection, data, false);
  auto bytes = bytes_of(writer);
  std::byte* const entry = bytes.data() + 64 + 32;
  ASSERT_EQ(load_le<uint32_t>(entry), kForeignSection);
  store_le(entry + 24, uint32_t{0});
  store_le(bytes.data() + 16, uint64_t{bytes.size()});
  mend_header(bytes);
  EXPECT_THROW(opened(bytes), CorruptError);
}

TEST(LabelTally, tells_width_and_whole_numbers) {
  const auto summary = [](const std::vector<std::vector<float>>& records) {
    LabelTally tally;
    for (const auto& labels : records) tally.add(std::as_bytes(std::span(labels)));
    return tally.summary();
  };
  EXPECT_EQ(summary({}), (LabelSummary{1, true}));
  EXPECT_EQ(summary({{0}, {999}, {-3}}), (LabelSummary{1, true}));
  EXPECT_EQ(summary({{0}, {0.5f}, {1}}), (LabelSummary{1, false}));
  EXPECT_EQ(summary({{1, 2, 3}, {4, 5, 6}}), (LabelSummary{3, true}));
  EXPECT_EQ(summary({{1, 2}, {1}, {1, 2}}), (LabelSummary{-1, true}));
  EXPECT_EQ(summary({{1}, {1, 2}, {1}}), (LabelSummary{-1, true}));
  EXPECT_FALSE(is_integral_label(std::numeric_limits<float>::quiet_NaN()));
  EXPECT_FALSE(is_integral_label(std::numeric_limits<float>::infinity()));
  EXPECT_FALSE(is_integral_label(9223372036854775808.0f));
  EXPECT_TRUE(is_integral_label(16777216.0f));
}

// --- Identity ---

TEST(Identity, is_size_and_checksums_of_both_ends) {
  for (const size_t size : std::vector<size_t>{0, 1, 4095, 4096, 4097, 8191, 8192, 20000}) {
    std::vector<std::byte> bytes(size);
    for (size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(i * 7 / 3);
    const FileIdentity found = identify(*memory_source("x", bytes));
    const Bytes all(bytes);
    const size_t piece = std::min<size_t>(size, 4096);
    EXPECT_EQ(found, (FileIdentity{size, crc32(all.first(piece)), crc32(all.last(piece))})) << size;
  }
}

TEST(Identity, of_a_file_in_the_writing_is_that_of_the_file) {
  for (const size_t size : std::vector<size_t>{0, 1, 4095, 4096, 4097, 8192, 50000}) {
    std::vector<std::byte> bytes(size);
    for (size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(i * 7 / 3);
    CollectingSink sink;
    sink.write(bytes);
    sink.write(Bytes(bytes).first(size / 2));
    sink.rewrite(size / 3, Bytes(bytes).first(size / 3));
    EXPECT_EQ(identify(sink), identify(*memory_source("x", sink.bytes()))) << size;
    sink.truncate(size);
    EXPECT_EQ(identify(sink), identify(*memory_source("x", sink.bytes()))) << size;
  }
}

}  // namespace
}  // namespace fuelrail
