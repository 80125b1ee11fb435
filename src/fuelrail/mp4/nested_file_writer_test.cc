// Records of `.bzna` files as fuelrail writes them.
#include "fuelrail/mp4/nested_file_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "fuelrail/mp4/box_writer.h"
#include "fuelrail/mp4/nested_file.h"
#include "fuelrail/testing/mp4_file.h"
#include "fuelrail/testing/refusal.h"

namespace fuelrail::mp4 {
namespace {

using fuelrail::testing::refusal_of;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct Example {
  std::string input = "input bitstream", thumb = "thumb", parameters = "sets";
  NewRecord record() const {
    return {.input = {.bitstream = as_bytes(input),
                      .parameters = as_bytes(parameters),
                      .coded = {.height = 1024, .width = 1024},
                      .visible = {.height = 535, .width = 600}},
            .thumb = NewStill{.bitstream = as_bytes(thumb),
                              .parameters = as_bytes(parameters),
                              .coded = {.height = 512, .width = 512},
                              .visible = {.height = 456, .width = 512}},
            .label = -3,
            .name = "cat.jpg"};
  }
};

std::string written(const NewRecord& record) {
  std::vector<std::byte> bytes(3);
  write_nested_file(record, bytes);
  return std::string(as_text(bytes));
}

// The types of all boxes inside these, at any depth.
void add_paths(Mp4Bytes& file, const Mp4Box& box, std::vector<std::string>& paths) {
  paths.push_back(box.path());
  for (const char* type : {"moov", "trak", "mdia", "minf", "dinf", "stbl"}) {
    if (box.type.text() != type) continue;
    BoxWalk walk(file, box);
    for (Mp4Box inner; walk.next(inner);) add_paths(file, inner, paths);
  }
}

TEST(NestedFileWriter, what_it_writes_is_read) {
  const Example example;
  const std::string bytes = written(example.record());
  const NestedFile file = read_nested_file(as_bytes(bytes), "x", 0);
  ASSERT_TRUE(file.input && file.thumb);
  EXPECT_EQ(bytes.substr(file.input->offset, file.input->bytes), example.input);
  EXPECT_EQ(file.input->visible, (Size{.height = 535, .width = 600}));
  EXPECT_EQ(file.input->entry.coded, (Size{.height = 1024, .width = 1024}));
  EXPECT_EQ(file.input->entry.type, BoxType("hvc1"));
  EXPECT_EQ(bytes.substr(file.thumb->offset, file.thumb->bytes), example.thumb);
  EXPECT_EQ(file.thumb->visible, (Size{.height = 456, .width = 512}));
  EXPECT_EQ(bytes.substr(file.thumb->entry.parameters, file.thumb->entry.parameters_bytes), "sets");
  EXPECT_EQ(file.label, -3);
  EXPECT_EQ(file.name, "cat.jpg");
  EXPECT_EQ(bytes, written(example.record()));
}

TEST(NestedFileWriter, data_come_in_the_documented_order_from_byte_32_on) {
  const std::string bytes = written(Example().record());
  EXPECT_EQ(bytes.substr(0, 32), be32(24) + "ftypisom" + be32(0) + "bznaisom" + be32(44) + "mdat");
  EXPECT_EQ(bytes.substr(32, 36), "input bitstreamthumb" +
                                      std::string("\xfd\xff\xff\xff\xff\xff\xff\xff") +
                                      std::string("cat.jpg\0", 8));
  EXPECT_EQ(bytes.substr(72, 4), "moov");
}

TEST(NestedFileWriter, a_still_that_is_its_own_thumbnail_is_stored_once) {
  const Example example;
  NewRecord record = example.record();
  record.thumb = record.input;
  const std::string bytes = written(record);
  const NestedFile file = read_nested_file(as_bytes(bytes), "x", 0);
  EXPECT_EQ(file.thumb->offset, file.input->offset);
  EXPECT_EQ(bytes.find(example.input), bytes.rfind(example.input));
}

TEST(NestedFileWriter, stills_that_only_begin_alike_are_stored_apart) {
  const Example example;
  NewRecord record = example.record();
  record.thumb->bitstream = record.input.bitstream.first(5);
  const std::string bytes = written(record);
  const NestedFile file = read_nested_file(as_bytes(bytes), "x", 0);
  EXPECT_NE(file.thumb->offset, file.input->offset);
  EXPECT_EQ(bytes.substr(file.thumb->offset, file.thumb->bytes), example.input.substr(0, 5));
}

TEST(NestedFileWriter, sides_and_names_that_do_not_fit_the_format_are_refused) {
  const Example example;
  NewRecord record = example.record();
  record.thumb->coded.width = 65'536;
  std::vector<std::byte> out;
  EXPECT_THAT(refusal_of<InvalidArgumentError>([&] { write_nested_file(record, out); }),
              HasSubstr("at most 65535 pixels per side, found 512 x 65536 (height x width)"));
  record = example.record();
  const std::string name(65'536, 'n');
  record.name = std::string_view(name).substr(1);
  write_nested_file(record, out);
  EXPECT_EQ(read_nested_file(out, "x", 0).name, record.name);
  record.name = name;
  EXPECT_THAT(
      refusal_of<InvalidArgumentError>([&] { write_nested_file(record, out); }),
      HasSubstr("the name is too long for a `.bzna` file: expected fewer than 65536 bytes"));
}

TEST(NestedFileWriter, what_a_record_lacks_has_no_track) {
  const Example example;
  const std::string bytes = written({.input = example.record().input});
  const NestedFile file = read_nested_file(as_bytes(bytes), "x", 0);
  EXPECT_TRUE(file.input);
  EXPECT_FALSE(file.thumb);
  EXPECT_FALSE(file.label);
  EXPECT_EQ(file.name, "");
}

TEST(NestedFileWriter, the_visible_part_is_at_the_upper_left) {
  const std::string bytes = written(Example().record());
  EXPECT_NE(bytes.find(be32(40) + "clap" + be32(600) + be32(1) + be32(535) + be32(1) +
                       be32(static_cast<uint32_t>(-424)) + be32(2) +
                       be32(static_cast<uint32_t>(-489)) + be32(2)),
            std::string::npos);
}

TEST(NestedFileWriter, every_track_has_the_boxes_that_the_format_requires) {
  const Example example;
  const std::string bytes = written({.input = example.record().input});
  Mp4Bytes file(as_bytes(bytes), "x", 0);
  std::vector<std::string> paths;
  BoxWalk walk(file);
  for (Mp4Box box; walk.next(box);) add_paths(file, box, paths);
  EXPECT_THAT(paths, ElementsAre("ftyp", "mdat", "moov", "moov/mvhd", "moov/trak", "moov/trak/tkhd",
                                 "moov/trak/mdia", "moov/trak/mdia/mdhd", "moov/trak/mdia/hdlr",
                                 "moov/trak/mdia/minf", "moov/trak/mdia/minf/vmhd",
                                 "moov/trak/mdia/minf/dinf", "moov/trak/mdia/minf/dinf/dref",
                                 "moov/trak/mdia/minf/stbl", "moov/trak/mdia/minf/stbl/stsd",
                                 "moov/trak/mdia/minf/stbl/stts", "moov/trak/mdia/minf/stbl/stsz",
                                 "moov/trak/mdia/minf/stbl/stsc", "moov/trak/mdia/minf/stbl/stco"));
}

TEST(BoxWriter, a_table_is_written_in_pieces_and_offsets_beyond_4_gib_have_64_bits) {
  const uint64_t samples = 20'000;
  const auto offset = [](uint64_t i) { return (uint64_t{4} << 30) - 10'000 + i; };
  std::string movie;
  int pieces = 0;
  movie_box(1, {{.id = 1,
                 .name = "bzna_input",
                 .handler = BoxType("meta"),
                 .entries = {metadata_entry("video/mp4")},
                 .samples = samples,
                 .bytes = [](uint64_t i) { return i % 7; },
                 .offset = offset}})
      .write([&](Bytes piece) {
        movie += as_text(piece);
        ++pieces;
      });
  EXPECT_GT(pieces, 6);
  EXPECT_EQ(movie.find("stco"), std::string::npos);
  const size_t at = movie.find("co64");
  ASSERT_NE(at, std::string::npos);
  EXPECT_EQ(movie.substr(at + 8, 12), be32(samples) + be64(offset(0)));
  EXPECT_EQ(movie.substr(at + 12 + 8 * (samples - 1)), be64(offset(samples - 1)));
}

}  // namespace
}  // namespace fuelrail::mp4
