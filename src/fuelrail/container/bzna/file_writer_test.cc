// `.bzna` files as the writer writes them.
#include "fuelrail/container/bzna/file_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <filesystem>
#include <string>
#include <vector>

#include "fuelrail/base/error.h"
#include "fuelrail/mp4/movie.h"
#include "fuelrail/testing/bzna_file.h"
#include "fuelrail/testing/collecting_sink.h"
#include "fuelrail/testing/hex.h"
#include "fuelrail/testing/mp4_file.h"
#include "fuelrail/testing/refusal.h"

namespace fuelrail::bzna {
namespace {

using namespace fuelrail::mp4;  // the boxes of a file

using fuelrail::testing::refusal_of;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using ::testing::StartsWith;

TEST(BznaFileWriter, the_file_has_the_documented_layout) {
  BznaFile file(four_records());
  const std::string bytes = file_contents(file.path);
  EXPECT_THAT(bytes, StartsWith(be32(24) + "ftypisom" + be32(0) + "bznaisom" + be32(1) + "mdat"));
  Mp4Bytes boxes(as_bytes(bytes), "x", 0);
  const std::vector<Track> tracks = read_tracks(boxes);
  std::vector<std::string> names;
  for (const Track& track : tracks) names.push_back(track.name);
  ASSERT_THAT(names, ElementsAre("bzna_input", "bzna_target", "bzna_fname", "VideoHandler"));
  EXPECT_EQ(read_entry_type(boxes, tracks[0]), BoxType("mett"));
  EXPECT_EQ(read_entry_type(boxes, tracks[3]), BoxType("hvc1"));
  EXPECT_EQ(tracks[3].visible, (Size{.height = 512, .width = 512}));
  const SampleTable film = read_samples(boxes, tracks[3]);
  ASSERT_EQ(film.size(), 4u);
  EXPECT_EQ(bytes.substr(film[1].offset, film[1].bytes), "another");
  const SampleTable fnames = read_samples(boxes, tracks[2]);
  EXPECT_EQ(bytes.substr(fnames[0].offset, fnames[0].bytes), std::string("cat.jpg\0", 8));
  EXPECT_EQ(bytes.substr(fnames[1].offset, fnames[1].bytes), std::string(1, '\0'));
  EXPECT_EQ(read_samples(boxes, tracks[0])[0].offset, 40u);
}

TEST(BznaFileWriter, the_formats_page_shows_the_file_byte_for_byte) {
  BznaFile file({MadeRecord{
      .input = "image", .thumb = "thumb", .parameters = "sets", .label = 3, .name = "cat.jpg"}
                     .bytes()});
  std::string shown;
  for (std::string line : format_page_block("bzna.md", "bzna")) {
    line = line.substr(line.find(':') + 1, line.find(';') - line.find(':') - 1);
    for (size_t at = line.find("0{"); at != std::string::npos; at = line.find("0{")) {
      const size_t zeros = std::stoul(line.substr(at + 2));
      line.replace(at, line.find('}', at) + 1 - at, std::string(2 * zeros, '0'));
    }
    shown += as_text(bytes_of_hex(line));
  }
  const std::string written = file_contents(file.path);
  EXPECT_EQ(hex_of(as_bytes(written)), hex_of(as_bytes(shown)));
}

TEST(BznaFileWriter, tracks_that_no_record_has_are_not_written) {
  BznaFile file({MadeRecord{.thumb = {}, .label = {}}.bytes()});
  const std::string bytes = file_contents(file.path);
  Mp4Bytes boxes(as_bytes(bytes), "x", 0);
  const std::vector<Track> tracks = read_tracks(boxes);
  ASSERT_THAT(tracks, SizeIs(2));
  EXPECT_EQ(tracks[1].visible, (Size{.height = 1024, .width = 1024}));  // a film of the images
  EXPECT_EQ(Read(*file.open("bzna_input"), 0).label(), -1);
  EXPECT_EQ(Read(*file.open("bzna_input"), 0).field(2), "");
}

TEST(BznaFileWriter, a_film_of_several_codecs_has_an_entry_for_each) {
  BznaFile file({MadeRecord().bytes(), MadeRecord{.thumb = {}}.bytes(), MadeRecord().bytes()});
  const std::string bytes = file_contents(file.path);
  const size_t film = bytes.find("VideoHandler");
  const size_t runs = bytes.find("stsc", film);
  EXPECT_EQ(bytes.substr(bytes.find("stsd", film) + 8, 4), be32(2));
  EXPECT_EQ(bytes.substr(runs + 8, 40), be32(3) + be32(1) + be32(1) + be32(1) + be32(2) + be32(1) +
                                            be32(2) + be32(3) + be32(1) + be32(1));
}

TEST(BznaFileWriter, an_empty_file_has_no_records) {
  BznaFile file(std::vector<std::string>{});
  EXPECT_EQ(file.open()->size(), 0u);
}

TEST(BznaFileWriter, only_records_with_an_image_are_written) {
  TemporaryDirectory directory;
  const auto write = [&](const std::string& record) {
    write_bzna(directory / "z.bzna", {record}, false);
  };
  EXPECT_THAT(refusal_of<InvalidArgumentError>([&] { write("\xff\xd8\xff a JPEG"); }),
              HasSubstr("the record cannot be stored in a `.bzna` file: expected an MP4 file with "
                        "an H.265 image, found the box "));
  EXPECT_THAT(refusal_of<InvalidArgumentError>([&] { write(mp4_box("ftyp", "isom")); }),
              HasSubstr("found an MP4 file without an image"));
  std::string other = MadeRecord().bytes();
  for (size_t at = 0; (at = other.find("hvc1", at)) != std::string::npos;) {
    other.replace(at, 4, "avc1");
  }
  EXPECT_THAT(refusal_of<InvalidArgumentError>([&] { write(other); }),
              HasSubstr("found an image in another format"));
  EXPECT_FALSE(std::filesystem::exists(directory / "z.bzna"));
}

TEST(BznaFileWriter, a_film_of_too_many_codecs_is_left_out) {
  constexpr size_t kMost = 1000;
  std::vector<std::string> records;
  for (size_t i = 0; i < kMost; ++i) {
    records.push_back(MadeRecord{.thumb = {}, .parameters = std::to_string(i)}.bytes());
  }
  const auto tracks = [&] {
    BznaFile file(records, false);
    const std::string bytes = file_contents(file.path);
    Mp4Bytes boxes(as_bytes(bytes), "x", 0);
    std::vector<std::string> names;
    for (const Track& track : read_tracks(boxes)) names.push_back(track.name);
    return names;
  };
  EXPECT_THAT(tracks(), ElementsAre("bzna_input", "bzna_target", "VideoHandler"));
  records.push_back(MadeRecord{.parameters = "one more"}.bytes());
  EXPECT_THAT(tracks(), ElementsAre("bzna_input", "bzna_target"));
}

TEST(BznaFileWriter, records_that_a_search_could_not_find_are_refused) {
  CollectingSink sink;
  SidecarWriter sidecar;
  const auto writer = make_writer({sink, nullptr, sidecar});
  const std::string record = MadeRecord{}.bytes();
  std::string open_end = record;
  open_end.replace(record.rfind("moov") - 4, 4, be32(0));
  for (const std::string& other : {record + mp4_box("moov", ""), record + mp4_box("ftyp", ""),
                                   open_end, mp4_box("free", "") + record}) {
    EXPECT_THAT(refusal_of<InvalidArgumentError>([&] { writer->append(as_bytes(other), 0, 0); }),
                HasSubstr("boxes that a search for records would not find"));
  }
  EXPECT_TRUE(writer->payload_of(as_bytes(record + mp4_box("free", "other boxes may follow"))));
  EXPECT_EQ(sink.position(), 40u);
}

TEST(BznaFileWriter, a_record_of_more_than_2_gib_is_refused) {
  constexpr size_t kBytes = (size_t{2} << 30) + 1;
  void* const zeros =
      ::mmap(nullptr, kBytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ASSERT_NE(zeros, MAP_FAILED);
  CollectingSink sink;
  SidecarWriter sidecar;
  const Bytes record(static_cast<const std::byte*>(zeros), kBytes);
  EXPECT_THAT(refusal_of<InvalidArgumentError>([&] {
                make_writer({sink, nullptr, sidecar})->append(record, 0, 0);
              }),
              HasSubstr("the record is too long for a `.bzna` file: expected at most 2147483648 "
                        "bytes, found 2147483649"));
  ::munmap(zeros, kBytes);
}

TEST(BznaFileWriter, an_incomplete_beginning_is_written_again) {
  const auto written_after = [](std::string_view left) {
    CollectingSink sink;
    SidecarWriter sidecar;
    sink.write(as_bytes(left));
    make_writer({sink, nullptr, sidecar})->finish();
    return sink.take();
  };
  EXPECT_TRUE(written_after("a killed job") == written_after(""));
}

TEST(BznaFileWriter, an_unfinished_file_is_truncated) {
  TemporaryDirectory directory;
  const std::string path = directory / "x.bzna";
  const auto sink = file_system_for(path).create(path);
  SidecarWriter sidecar;
  const auto writer = make_writer({*sink, nullptr, sidecar});
  const std::string record = MadeRecord().bytes();
  writer->append(as_bytes(record), 0, 0);
  sink->commit();
  EXPECT_THAT(refusal_of<TruncatedError>([&] { open_bzna(path); }),
              HasSubstr("the file ends inside the box mdat"));
}

TEST(BznaFileWriter, a_writer_resumes_the_records_it_finds) {
  const std::vector<std::string> records = four_records();
  BznaFile whole(records);
  TemporaryDirectory directory;
  const std::string path = directory / "x.bzna";
  const auto sink = file_system_for(path).create(path);
  {
    SidecarWriter unused;
    const auto killed = make_writer({*sink, nullptr, unused});
    for (size_t i = 0; i < 2; ++i) {
      killed->append(as_bytes(records[i]), crc32(as_bytes(records[i])), 0);
    }
  }
  SidecarWriter sidecar;
  const auto writer = make_writer({*sink, nullptr, sidecar});
  EXPECT_EQ(writer->first_offset(), 40u);
  for (size_t i = 0; i < records.size(); ++i) {
    const Bytes record = as_bytes(records[i]);
    if (i >= 2) {
      writer->append(record, crc32(record), 0);
      continue;
    }
    const auto payload = writer->payload_of(record);
    ASSERT_TRUE(payload);
    writer->adopt(record.size(), *payload, crc32(record), 0);
  }
  for (const std::string& other : {std::string("not a record"), records[0] + records[1],
                                   records[0].substr(records[0].find("mdat") - 4)}) {
    EXPECT_EQ(writer->payload_of(as_bytes(other)), std::nullopt);
  }
  writer->finish();
  sink->commit();
  EXPECT_EQ(file_contents(path), file_contents(whole.path));
}

}  // namespace
}  // namespace fuelrail::bzna
