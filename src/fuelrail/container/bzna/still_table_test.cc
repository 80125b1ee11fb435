// The tables of stills in sidecars: those that contradict each other, and files whose stills have
// too many codecs.
#include "fuelrail/container/bzna/still_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "fuelrail/base/endian.h"
#include "fuelrail/base/error.h"
#include "fuelrail/container/build_sidecar.h"
#include "fuelrail/testing/bzna_file.h"
#include "fuelrail/testing/refusal.h"

namespace fuelrail::bzna {
namespace {

using fuelrail::testing::refusal_of;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

template <typename... Values>
std::string le(Values... values) {
  std::vector<std::byte> bytes;
  (append_le(bytes, values), ...);
  return std::string(as_text(bytes));
}

// A file of one record, with a sidecar whose two tables the test chooses.
class StillTables : public ::testing::Test {
 protected:
  static std::string codec(const char (&type)[5], const std::string& parameters) {
    return le(mp4::BoxType(type).value(), uint16_t{1024}, uint16_t{1024},
              static_cast<uint32_t>(parameters.size())) +
           parameters;
  }
  static std::string still(uint64_t offset, uint32_t bytes, uint32_t crc, uint32_t codec) {
    return le(offset, bytes, crc, uint16_t{600}, uint16_t{535}, codec);
  }
  std::string thumb(uint32_t number) const {
    return still(40 + record.find("thumb"), 5, crc32(as_bytes("thumb")), number);
  }

  void write_sidecar(const std::string& codecs, const std::string& stills, bool has_names = true) {
    SidecarWriter sidecar;
    sidecar.add_length(record.size(), crc32(as_bytes(record)));
    if (has_names) sidecar.add_name("cat.jpg");
    if (!codecs.empty()) sidecar.add_section(kCodecsSection, as_bytes(codecs), false);
    if (!stills.empty()) sidecar.add_section(kStillsSection, as_bytes(stills), false);
    const auto sink = file_system_for(file.path).create(file.sidecar);
    sidecar.write_to(identify(*file_system_for(file.path).open(file.path)), *sink);
    sink->commit();
  }

  std::string image_of(const Container& container) {
    read_sample(container, 0, framed, sample);
    return std::string(as_text(sample.fields[0].bytes));
  }

  const std::string record = MadeRecord{.name = "cat.jpg"}.bytes();
  const std::string one_codec = le(uint32_t{1}) + codec("hvc1", "sets");
  const std::string no_input = std::string(24, '\0');
  BznaFile file{{record}, false};
  std::vector<std::byte> framed;
  Sample sample;
};

TEST_F(StillTables, locate_the_bitstream) {
  write_sidecar(one_codec, no_input + thumb(0));
  const auto container = file.open();
  EXPECT_EQ(container->extent(0).length, 5u);
  EXPECT_EQ(image_of(*container), "thumb");
  EXPECT_EQ(as_text(sample.fields[0].codec->parameters), "sets");
  EXPECT_EQ(container->image_size(0), (Size{.height = 535, .width = 600}));
  const auto other = file.open("bzna_input");  // which the table lacks
  EXPECT_EQ(other->extent(0).length, record.size());
  EXPECT_EQ(image_of(*other), "input bitstream");
  EXPECT_THAT(file.warnings, IsEmpty());
}

TEST_F(StillTables, that_contradict_each_other_are_not_used) {
  const std::string stills = no_input + thumb(0);
  const auto refused = [&](const std::string& codecs, const std::string& entries) {
    write_sidecar(codecs, entries);
    file.warnings.clear();
    const auto container = file.open();
    EXPECT_EQ(container->extent(0).length, record.size());
    EXPECT_EQ(image_of(*container), "thumb");
    return file.warnings.empty() ? "" : file.warnings[0];
  };
  EXPECT_THAT(refused(one_codec, stills + no_input),
              HasSubstr("the sidecar's table of stills has the wrong size: expected 1 x 48 bytes, "
                        "found 72 bytes"));
  EXPECT_THAT(refused(one_codec, stills + stills), HasSubstr("found 96 bytes"));
  EXPECT_THAT(refused(one_codec, stills.substr(1)), HasSubstr("found 47 bytes"));
  for (const size_t left : {3, 4, 15, 19}) {
    EXPECT_THAT(refused(one_codec.substr(0, left), stills),
                HasSubstr("the sidecar's table of codecs is truncated"))
        << left;
  }
  EXPECT_THAT(refused(le(UINT32_MAX) + codec("hvc1", "sets"), stills), HasSubstr("truncated"));
  EXPECT_THAT(refused(one_codec + "x", stills),
              HasSubstr("the sidecar's table of codecs is longer than its entries"));
}

TEST_F(StillTables, that_are_incomplete_are_as_if_there_were_none) {
  const std::string stills = no_input + thumb(0);
  const auto expect_whole = [&] {
    const auto container = file.open();
    EXPECT_EQ(container->extent(0).length, record.size());
    EXPECT_EQ(image_of(*container), "thumb");
    EXPECT_EQ(as_text(sample.fields[2].bytes), "cat.jpg");
    EXPECT_TRUE(container->verifies_checksums());
  };
  write_sidecar("", stills);
  expect_whole();
  write_sidecar(one_codec, "");
  expect_whole();
  write_sidecar(one_codec, stills, false);
  expect_whole();
  EXPECT_THAT(file.warnings, IsEmpty());
}

TEST_F(StillTables, with_an_invalid_entry_make_a_bad_record) {
  const uint64_t size = file_contents(file.path).size();
  for (const std::string& entry :
       {thumb(1), still(size - 4, 5, 0, 0), still(size + 1, 1, 0, 0), still(UINT64_MAX, 5, 0, 0)}) {
    write_sidecar(one_codec, no_input + entry);
    const auto container = file.open();
    EXPECT_THAT(refusal_of<CorruptError>([&] { container->extent(0); }),
                HasSubstr("x.bzna.frx: record 0: the sidecar's table of stills has an invalid "
                          "entry: expected a still inside the file's"));
    EXPECT_EQ(container->place(0).offset, 40u);
    EXPECT_EQ(container->record_extent(0).length, record.size());
    EXPECT_EQ(image_of(*file.open("bzna_input")), "input bitstream");
  }
}

TEST_F(StillTables, with_a_codec_that_cannot_be_used_make_a_bad_record) {
  const auto refused = [&](const std::string& entry) {
    write_sidecar(le(uint32_t{1}) + entry, no_input + thumb(0));
    try {
      image_of(*file.open());
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_THAT(
      refused(codec("av01", "sets")),
      HasSubstr("x.bzna: record 0, offset 40: the image's format is not supported: expected "
                "H.265 (hvc1, hev1) or H.264 (avc1), found a sample entry 'av01'"));
  EXPECT_THAT(refused(codec("hvc1", "")), HasSubstr("does not have the parameters of the image's"));
  EXPECT_THAT(refused(codec("hvc1", std::string(65'537, 'p'))),
              HasSubstr("the parameters of the image's decoder are too long: expected at most "
                        "65536 bytes, found 65537"));
}

TEST_F(StillTables, of_another_file_of_the_same_size_are_not_used) {
  BznaFile other({MadeRecord{.input = "INPUT BITSTREAM", .thumb = "THUMB"}.bytes()}, false);
  BznaFile written({MadeRecord{}.bytes()});
  std::filesystem::copy_file(written.sidecar, other.sidecar);
  EXPECT_EQ(image_of(*other.open()), "THUMB");
  EXPECT_THAT(other.warnings, ElementsAre(HasSubstr("a sidecar is ignored")));
}

// A sidecar keeps at most 1 MiB of codecs.
TEST(StillTablesOfManyCodecs, are_not_written) {
  std::vector<std::string> records;
  for (int i = 0; i < 9; ++i) {
    records.push_back(
        MadeRecord{.parameters = std::string(60'000, static_cast<char>('a' + i))}.bytes());
  }
  BznaFile written(records), indexed(records, false);
  EXPECT_EQ(written.open()->extent(8).length, records[8].size());
  EXPECT_TRUE(written.open()->verifies_checksums());
  build_sidecar(indexed.path);
  EXPECT_TRUE(file_contents(indexed.sidecar) == file_contents(written.sidecar));
  records.pop_back();
  EXPECT_EQ(BznaFile(records).open()->extent(7).length, 5u);
}

}  // namespace
}  // namespace fuelrail::bzna
