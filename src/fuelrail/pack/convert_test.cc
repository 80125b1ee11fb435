#include "fuelrail/pack/convert.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "fuelrail/base/crc32.h"
#include "fuelrail/base/error.h"
#include "fuelrail/container/ffrecord/record_table.h"
#include "fuelrail/container/formats.h"
#include "fuelrail/container/recordio/index_file.h"
#include "fuelrail/container/recordio/record_writer.h"
#include "fuelrail/container/sidecar/sidecar.h"
#include "fuelrail/container/sidecar/sidecar_writer.h"
#include "fuelrail/pack/image/image_reader.h"
#include "fuelrail/pack/plan.h"
#include "fuelrail/pack/source/container_source.h"
#include "fuelrail/storage/memory/memory_file_system.h"
#include "fuelrail/testing/faulty_file_system.h"
#include "fuelrail/testing/ffrecord_file.h"
#include "fuelrail/testing/invented_codec.h"
#include "fuelrail/testing/memory_container.h"
#include "fuelrail/testing/packer_rig.h"
#include "fuelrail/testing/refusal.h"

namespace fuelrail::pack {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// Records of arbitrary bytes, one of which looks like framing, and the offset of each.
const std::vector<std::string> kRecords{"one", "", std::string("\x0a\x23\xd7\xce two", 8),
                                        std::string(3'000'000, 'x'), "five"};

std::vector<uint64_t> write_rec(const std::string& uri, const std::vector<std::string>& records) {
  const auto sink = file_system_for(uri).create(uri);
  recordio::RecordWriter writer(*sink);
  std::vector<uint64_t> offsets;
  for (const std::string& record : records) offsets.push_back(writer.append(as_bytes(record)));
  sink->commit();
  return offsets;
}

void write_idx(const std::string& uri, const std::vector<std::string>& keys,
               const std::vector<uint64_t>& offsets) {
  const auto sink = file_system_for(uri).create(uri);
  recordio::IndexWriter writer(*sink);
  for (size_t i = 0; i < keys.size(); ++i) writer.add(keys[i], offsets[i]);
  sink->commit();
}

std::unique_ptr<Sidecar> sidecar_of(const std::string& uri) {
  return Sidecar::open(file_system_for(uri).open(uri + ".frx"));
}

class Convert : public Packer {
 protected:
  template <typename Expected>
  std::string refused(const std::string& source, const std::string& output,
                      const JobOptions& options = {}) const {
    return testing::refusal_of<Expected>([&] { convert(source, output, options); });
  }

  void expect_equal_files(const std::string& a, const std::string& b) const {
    EXPECT_TRUE(file_contents(out(a)) == file_contents(out(b))) << a << " and " << b;
  }

  // a.rec -> b.ffr -> c.rec
  void go_there_and_back() const {
    convert(out("a.rec"), out("b.ffr"));
    convert(out("b.ffr"), out("c.rec"));
    expect_equal_files("a.rec", "c.rec");
  }
};

TEST_F(Convert, gives_what_packing_gives) {
  pack(photos(), out("a.rec"), {.threads = 2});
  pack(photos(), out("p.ffr"), {.threads = 2});
  const PackResult::File made = convert(out("a.rec"), out("b.ffr"));
  EXPECT_EQ(made.path, out("b.ffr"));
  EXPECT_EQ(made.records, images_.size());
  EXPECT_EQ(made.bytes, std::filesystem::file_size(out("b.ffr")));
  expect_equal_files("b.ffr", "p.ffr");
  expect_equal_files("b.ffr.frx", "p.ffr.frx");
  EXPECT_FALSE(sidecar_of(out("b.ffr"))->has_keys());
  EXPECT_EQ(convert(out("b.ffr"), out("c.rec")).records, images_.size());
  for (const char* extension : {".rec", ".idx", ".rec.frx"}) {
    expect_equal_files(std::string("a") + extension, std::string("c") + extension);
  }
}

TEST_F(Convert, keys_that_the_records_do_not_say_are_kept) {
  pack(photos(), out("a.rec"), {.threads = 2});
  // The same offsets with different, unordered keys.
  std::string index;
  const std::string text = file_contents(out("a.idx"));
  uint64_t key = 18446744073709551615u;
  for (const auto& entry : recordio::parse_index(as_bytes(text), "a.idx")) {
    index += std::to_string(key) + "\t" + std::to_string(entry.offset) + "\n";
    key = (key * 6364136223846793005u) >> 20;
  }
  write_file(out("a.idx"), index);
  go_there_and_back();
  expect_equal_files("a.idx", "c.idx");
  const auto sidecar = sidecar_of(out("b.ffr"));
  ASSERT_TRUE(sidecar->has_keys());
  EXPECT_EQ(sidecar->key(0), 18446744073709551615u);
  EXPECT_TRUE(sidecar->section(kKeysSection)->kept());
  EXPECT_THAT(sidecar->classes(), ElementsAre("ant", "bee", "cat dog"));
  EXPECT_EQ(sidecar_of(out("c.rec"))->section(kKeysSection), nullptr);  // the index has the keys
}

TEST_F(Convert, records_of_any_bytes_come_back_with_their_keys) {
  const auto offsets = write_rec(out("a.rec"), kRecords);
  write_idx(out("a.idx"), {"0", "1", "2", "3", "4"}, offsets);
  go_there_and_back();
  expect_equal_files("a.idx", "c.idx");
  EXPECT_FALSE(sidecar_of(out("b.ffr"))->has_keys());
  EXPECT_FALSE(sidecar_of(out("b.ffr"))->labels());
  EXPECT_TRUE(file_contents(out("b.ffr")) == ffrecord::file_of(kRecords));

  write_idx(out("a.idx"), {"7", "1", "2", "3", "1"}, offsets);  // a key may repeat
  convert(out("a.rec"), out("b.ffr"), {.overwrite = true});
  convert(out("b.ffr"), out("c.rec"), {.overwrite = true});
  expect_equal_files("a.idx", "c.idx");
}

TEST_F(Convert, without_an_index_the_keys_are_the_records_own) {
  const auto offsets = write_rec(out("a.rec"), kRecords);
  go_there_and_back();
  EXPECT_FALSE(sidecar_of(out("b.ffr"))->has_keys());
  write_idx(out("expected.idx"), {"0", "1", "2", "3", "4"}, offsets);
  expect_equal_files("expected.idx", "c.idx");
}

TEST_F(Convert, what_a_lost_sidecar_said_is_found_again) {
  pack(photos(), out("a.rec"), {.threads = 2});
  convert(out("a.rec"), out("b.ffr"));
  std::filesystem::remove(out("a.rec.frx"));
  std::filesystem::remove(out("b.ffr.frx"));
  convert(out("a.rec"), out("b2.ffr"));
  convert(out("b.ffr"), out("c.rec"));
  expect_equal_files("b.ffr", "b2.ffr");
  expect_equal_files("a.rec", "c.rec");
  expect_equal_files("a.idx", "c.idx");
  EXPECT_EQ(sidecar_of(out("b2.ffr"))->labels(), (LabelSummary{1, true}));
  EXPECT_EQ(sidecar_of(out("c.rec"))->labels(), (LabelSummary{1, true}));
  EXPECT_TRUE(sidecar_of(out("c.rec"))->has_checksums());
}

TEST_F(Convert, a_file_of_the_original_comes_back) {
  for (const char* name : {"part0.ffr", "folder.ffr"}) {
    std::filesystem::copy_file(ffrecord::kGolden + name, out(name));
    convert(out(name), out("x.rec"), {.overwrite = true});
    convert(out("x.rec"), out("y.ffr"), {.overwrite = true});
    expect_equal_files(name, "y.ffr");
  }
}

TEST_F(Convert, sections_of_later_versions_go_along) {
  write_rec(out("a.rec"), {"one", "two"});
  const auto source = file_system_for(out("a.rec")).open(out("a.rec"));
  SidecarWriter writer;
  writer.add_record({0, 12}, crc32(as_bytes("one")));
  writer.add_record({12, 12}, crc32(as_bytes("two")));
  writer.add_section(section_type("LATE"), as_bytes("kept"), true);
  writer.add_section(section_type("SCAN"), as_bytes("made anew"), false);
  const auto sink = file_system_for(out("a.rec.frx")).create(out("a.rec.frx"));
  writer.write_to(identify(*source), *sink);
  sink->commit();
  go_there_and_back();
  for (const char* name : {"b.ffr", "c.rec"}) {
    const auto sidecar = sidecar_of(out(name));
    ASSERT_NE(sidecar->section(section_type("LATE")), nullptr) << name;
    EXPECT_EQ(as_text(sidecar->section(section_type("LATE"))->all()), "kept");
    EXPECT_EQ(sidecar->section(section_type("SCAN")), nullptr) << name;
  }
}

TEST_F(Convert, a_damaged_record_is_named_and_nothing_is_written) {
  pack(photos(), out("a.rec"), {.threads = 2});
  convert(out("a.rec"), out("b.ffr"));
  for (const auto& [name, other] : {std::pair("a.rec", "x.ffr"), {"b.ffr", "x.rec"}}) {
    std::string bytes = file_contents(out(name));
    bytes[bytes.size() - 5000] ^= 1;  // within an image, and not in the first or last 4 KiB
    write_file(out(name), bytes);
    EXPECT_THAT(refused<CorruptError>(out(name), out(other)),
                AllOf(StartsWith(out(name) + ": record 9"), HasSubstr("checksum is wrong")));
  }
  EXPECT_THAT(names_in(out()), ElementsAre("a.idx", "a.rec", "a.rec.frx", "b.ffr", "b.ffr.frx"));
}

TEST_F(Convert, a_sidecar_that_cannot_be_used_is_not_lost_in_silence) {
  pack(photos(), out("a.rec"), {.threads = 2});
  convert(out("a.rec"), out("b.ffr"));
  for (const auto& [name, other] : {std::pair("a.rec", "x.ffr"), {"b.ffr", "x.rec"}}) {
    const std::string sidecar = out(name) + ".frx";
    write_file(sidecar, file_contents(sidecar).substr(0, 100));
    EXPECT_THAT(refused<CorruptError>(out(name), out(other)),
                StartsWith(sidecar + ": the sidecar cannot be used"));
    std::filesystem::remove(sidecar);
    convert(out(name), out(other));
  }
}

TEST_F(Convert, an_index_that_cannot_be_kept_is_refused) {
  const std::vector<uint64_t> offsets = write_rec(out("a.rec"), {"one", "two", "three"});
  const auto line = [&](const std::string& key, size_t i) {
    return key + "\t" + std::to_string(offsets[i]) + "\n";
  };
  const std::vector<std::pair<std::string, std::string>> refusals{
      {line("cat", 0) + line("dog", 1) + line("3", 2), "the key \"cat\" in line 1"},
      {line("0", 0) + line("01", 1) + line("2", 2), "the key \"01\" in line 2"},
      {line("0", 0) + line("-1", 1) + line("2", 2), "the key \"-1\" in line 2"},
      {line("0", 0) + line("18446744073709551616", 1) + line("2", 2), "in line 2"},
      {line("0", 0) + line("1", 1), "fewer entries than records"},
      {"", "fewer entries than records"},
      {line("0", 0) + line("2", 2) + line("1", 1), "the wrong offset in line 2"},
      {line("0", 0) + line("1", 1) + line("2", 2) + line("3", 2), "an extra entry in line 4"}};
  for (const auto& [index, found] : refusals) {
    write_file(out("a.idx"), index);
    EXPECT_THAT(
        refused<UnsupportedError>(out("a.rec"), out("b.ffr")),
        AllOf(StartsWith(out("a.idx") + ": the keys of the index cannot be used as record keys"),
              HasSubstr(found)));
  }
  write_file(out("a.idx"), "0 0\n");
  EXPECT_THAT(refused<CorruptError>(out("a.rec"), out("b.ffr")), HasSubstr("line 1"));
  EXPECT_THAT(names_in(out()), ElementsAre("a.idx", "a.rec", "a.rec.frx"));
}

TEST_F(Convert, names_that_say_no_conversion_are_refused) {
  write_rec(out("a.rec"), {"one"});
  EXPECT_THAT(refused<InvalidArgumentError>(out("a.rec"), out("b.rec")),
              AllOf(HasSubstr("have the same format"), HasSubstr("Copy")));
  EXPECT_THAT(refused<InvalidArgumentError>(out("a.ffr"), out("b.ffr")),
              HasSubstr("have the same format"));
  EXPECT_THAT(refused<InvalidArgumentError>(out("a.rec"), out("./a.rec")),
              HasSubstr("the same file"));
  EXPECT_THAT(refused<InvalidArgumentError>(photos(), out("b.ffr")),
              HasSubstr("a folder cannot be converted"));
  EXPECT_THAT(refused<InvalidArgumentError>(out("a.rec"), out("b.tar")),
              HasSubstr("ends in .rec, .ffr or .bzna"));
  EXPECT_NE(refused<NotFoundError>(out("none.rec"), out("b.ffr")), "");
  EXPECT_NE(refused<NotFoundError>(out("none.ffr"), out("b.rec")), "");
}

TEST_F(Convert, an_output_that_is_there_is_left_alone_unless_it_may_be_replaced) {
  write_rec(out("a.rec"), {"one"});
  write_file(out("b.ffr"), "mine");
  EXPECT_THAT(refused<IoError>(out("a.rec"), out("b.ffr")), HasSubstr("already exists"));
  EXPECT_EQ(file_contents(out("b.ffr")), "mine");
  convert(out("a.rec"), out("b.ffr"), {.overwrite = true});
  EXPECT_EQ(file_contents(out("b.ffr")), ffrecord::file_of({"one"}));
}

TEST_F(Convert, progress_counts_records_and_may_stop_it) {
  write_rec(out("a.rec"), kRecords);
  std::vector<uint64_t> done;
  JobOptions options;
  options.progress = [&](const PackProgress& now) {
    done.push_back(now.done);
    EXPECT_EQ(now.total, kRecords.size());
    return true;
  };
  convert(out("a.rec"), out("b.ffr"), options);
  ASSERT_FALSE(done.empty());
  EXPECT_EQ(done.back(), kRecords.size());
  options.progress = [](const PackProgress&) { return false; };
  EXPECT_EQ(refused<StateError>(out("b.ffr"), out("c.rec"), options), "the work was interrupted");
  EXPECT_FALSE(std::filesystem::exists(out("c.rec")));
}

TEST_F(Convert, a_record_too_long_for_recordio_is_refused_before_it_is_read) {
  // A sparse file: its record takes no space on the disk or in memory.
  write_file(out("b.ffr"), ffrecord::file_of(1, {0}, {24}, ""));
  std::filesystem::resize_file(out("b.ffr"), 24 + (uint64_t{1} << 40));
  EXPECT_THAT(refused<UnsupportedError>(out("b.ffr"), out("c.rec")),
              AllOf(StartsWith(out("b.ffr") + ": record 0"), HasSubstr("too long for the output")));
}

TEST_F(Convert, a_file_without_records_becomes_no_recordio_file) {
  write_file(out("b.ffr"), ffrecord::file_of({}));
  EXPECT_THAT(refused<CorruptError>(out("b.ffr"), out("c.rec")), HasSubstr("has no record"));
}

// Makes each storage operation fail in turn.
TEST_F(Convert, is_right_or_one_error_whatever_fails) {
  FileSystem& files = memory_file_system();
  const std::string root = "memory://convert_test";
  files.make_directory(root);
  const auto at = [&](const std::string& name) { return join_uri(root, name); };
  const auto contents = [&](const std::string& name) {
    const auto source = files.open(at(name));
    std::string bytes(source->size_bytes(), '\0');
    source->read(0, std::as_writable_bytes(std::span(bytes)));
    return bytes;
  };
  const auto offsets = write_rec(at("a.rec"), kRecords);
  write_idx(at("a.idx"), {"9", "8", "7", "6", "5"}, offsets);
  convert(at("a.rec"), at("b.ffr"));
  convert(at("b.ffr"), at("c.rec"));
  for (const auto& [from, to] : {std::pair("a.rec", "b.ffr"), {"b.ffr", "c.rec"}}) {
    std::map<std::string, std::string> right;
    for (const char* name : {"b.ffr", "b.ffr.frx", "c.rec", "c.rec.frx", "c.idx"}) {
      if (name[0] == to[0]) right[name] = contents(name);
    }
    uint64_t operations = 0;
    for (uint64_t n = 0; n == 0 || n <= operations; ++n) {
      for (const auto& file : right) files.remove(at(file.first));
      FaultyFileSystem faulty(files);
      std::string error;
      {
        const FileSystemOverride instead("memory", faulty);
        faulty.arm(Fault::kError, n);
        try {
          convert(at(from), at(to));
        } catch (const Error& thrown) {
          error = thrown.what();
        }
        operations = faulty.operations();
      }
      EXPECT_EQ(files.stat(at(to)).has_value(), error.empty()) << n << error;
      for (const auto& [name, bytes] : right) {
        EXPECT_TRUE(!files.stat(at(name)) || contents(name) == bytes) << name << " " << n;
      }
    }
    EXPECT_GT(operations, 10u);
    convert(at(from), at(to), {.overwrite = true});
  }
}

// One image that can be decoded only with the description in its file.
std::shared_ptr<const Container> described_image(const std::string& uri, const OpenOptions&) {
  static constexpr std::byte kKey[]{std::byte{'@'}};
  static const ImageCodec kCodec{
      .format = &testing::kInventedFormat, .coded = {2, 4}, .parameters = kKey};
  auto images = std::make_shared<MemoryContainer>(
      uri, image_and_label(),
      std::vector<MemoryContainer::Record>{
          {.fields = {std::string(24, 'a'), scalar_bytes<int64_t>(3)}}});
  images->describe = [](uint64_t, Sample& out) { out.fields[0].codec = &kCodec; };
  return images;
}

TEST_F(Convert, an_image_that_needs_its_files_description_is_not_stored_as_it_is) {
  const FileFormat row{.extension = ".box",
                       .name = "Boxes",
                       .schema = {.name = "boxes"},
                       .open = described_image,
                       .open_stream = [](const auto&, uint64_t, const auto&) {
                         return std::unique_ptr<RecordStream>();
                       }};
  const LentFormat lent_format(row);
  const LentDecoding lent(testing::kInventedDecoding);
  write_file(out("a.box"), "");
  const std::string error = testing::refusal_of<UnsupportedError>(
      [&] { convert(out("a.box"), out("a.rec"), {}, {.schema = "boxes"}); });
  EXPECT_THAT(error,
              AllOf(StartsWith(out("a.box") + ": record 0: the image cannot be stored in a record"),
                    HasSubstr("found Invented. Convert the image to JPEG")));
  const auto source = source_of_images(described_image("memory://x.box", {}));
  SpareBuffers spares;
  const ImageSteps as_it_is = image_steps({});
  EXPECT_THAT(ImageReader(*source, as_it_is, RecordContent::kImageRecord, {}, false, spares)
                  .read(0)
                  .failure,
              StartsWith("the image cannot be stored in a record"));
  const ImageSteps resized = image_steps({.images = StoredImages{.resize = 2}});
  EXPECT_EQ(
      ImageReader(*source, resized, RecordContent::kImageRecord, {}, false, spares).read(0).failure,
      "");
}

}  // namespace
}  // namespace fuelrail::pack
