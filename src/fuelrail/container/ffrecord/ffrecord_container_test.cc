#include "fuelrail/container/ffrecord/ffrecord_container.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "fuelrail/base/error.h"
#include "fuelrail/container/image_record.h"
#include "fuelrail/storage/file_system.h"
#include "fuelrail/testing/container_conformance.h"
#include "fuelrail/testing/faulty_file_system.h"
#include "fuelrail/testing/ffrecord_file.h"
#include "fuelrail/testing/record_file.h"
#include "fuelrail/testing/refusal.h"

namespace fuelrail::ffrecord {
namespace {

using fuelrail::testing::refusal_of;
using recordio::as_label;
using recordio::as_labels;
using recordio::image_payload;
using recordio::Reader;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const std::string kJpeg = "\xff\xd8\xff\xe0";  // how an image begins

// A `.ffr` in its own directory, with its own cache.
struct FfrFile {
  explicit FfrFile(const std::vector<std::string>& records) { write_file(path, file_of(records)); }

  std::shared_ptr<const FfrecordContainer> open() {
    return open_ffrecord(path, {.warn = [this](const std::string& w) { warnings.push_back(w); }});
  }

  TemporaryDirectory directory;
  std::string path = directory / "x.ffr";
  std::string sidecar = path + ".frx";
  std::vector<std::string> warnings;
};

class CacheDirectory {
 public:
  explicit CacheDirectory(const std::string& path) { ::setenv("XDG_CACHE_HOME", path.c_str(), 1); }
  ~CacheDirectory() { ::unsetenv("XDG_CACHE_HOME"); }
  CacheDirectory(const CacheDirectory&) = delete;
  CacheDirectory& operator=(const CacheDirectory&) = delete;
};

// --- Conformance ---

struct ImageRecords {
  static constexpr bool kDetectsTruncation = true;
  static std::vector<std::string> records() {
    return {image_payload(7, {1}, kJpeg + "one"), image_payload(8, {0}, kJpeg + "second"),
            image_payload(1, {-5}, kJpeg), image_payload(2, {16777216}, "BM, and more")};
  }
  std::shared_ptr<const Container> make() { return file.open(); }
  std::shared_ptr<const Container> make_copy() { return copy.open(); }
  std::vector<ExpectedSample> expected() {
    return {{.fields = {kJpeg + "one", as_label(1)}, .id = 7},
            {.fields = {kJpeg + "second", as_label(0)}, .id = 8},
            {.fields = {kJpeg, as_label(-5)}, .id = 1},
            {.fields = {"BM, and more", as_label(16777216)}, .id = 2}};
  }
  FfrFile file{records()}, copy{records()};
};

struct RawRecords {
  static constexpr bool kDetectsTruncation = true;
  static std::vector<std::string> records() {
    return {"hello", "\x80\x04\x95 a pickle", std::string(300, 'x'), "four"};
  }
  std::shared_ptr<const Container> make() { return file.open(); }
  std::shared_ptr<const Container> make_copy() { return copy.open(); }
  std::vector<ExpectedSample> expected() {
    std::vector<ExpectedSample> samples;
    for (const std::string& record : records()) {
      samples.push_back({.fields = {record}, .id = samples.size()});
    }
    return samples;
  }
  FfrFile file{records()}, copy{records()};
};

}  // namespace
}  // namespace fuelrail::ffrecord

namespace fuelrail {
INSTANTIATE_TYPED_TEST_SUITE_P(FfrecordImages, ContainerConformance,
                               WithViews<ffrecord::ImageRecords>);
INSTANTIATE_TYPED_TEST_SUITE_P(FfrecordBytes, ContainerConformance,
                               WithViews<ffrecord::RawRecords>);
}  // namespace fuelrail

namespace fuelrail::ffrecord {
namespace {

// --- Schemas ---

TEST(Ffrecord, image_records_give_the_samples_that_record_io_gives) {
  const std::vector<std::string> payloads{image_payload(3, {1, 0.5f}, kJpeg + "a"),
                                          image_payload(9, {2}, kJpeg + "bb")};
  FfrFile file(payloads);
  recordio::RecordFile rec(payloads);
  const auto container = file.open();
  const auto same = rec.open();
  EXPECT_EQ(container->schema(), same->schema());
  Reader read(*container), read_rec(*same);
  for (uint64_t i : {0, 1}) {
    EXPECT_EQ(read(i).id, read_rec(i).id);
    EXPECT_EQ(read(i).fields[1].shape, read_rec(i).fields[1].shape);
    for (size_t field : {0, 1}) EXPECT_EQ(read.field(i, field), read_rec.field(i, field));
  }
}

TEST(Ffrecord, what_only_looks_like_a_header_by_chance_is_bytes) {
  FfrFile zeros(std::vector<std::string>(5, std::string(4000, '\0')));
  EXPECT_TRUE(zeros.open()->schema().has("data"));
  FfrFile numbers(std::vector<std::string>(5, std::string("\3\0\0\0", 4) + std::string(90, '\1')));
  EXPECT_TRUE(numbers.open()->schema().has("data"));
  FfrFile plain_images(std::vector<std::string>(5, kJpeg + std::string(90, '\1')));
  EXPECT_TRUE(plain_images.open()->schema().has("data"));
}

TEST(Ffrecord, more_than_half_must_be_image_records) {
  const std::string image = image_payload(1, {3}, kJpeg);
  FfrFile half({image, "other", image, "other"});
  EXPECT_TRUE(half.open()->schema().has("data"));
  FfrFile most({image, "other", image});
  const auto container = most.open();
  Reader read(*container);
  EXPECT_EQ(read.field(2, 1), as_label(3));
  EXPECT_THAT(
      refusal_of<CorruptError>([&] { read(1); }),
      HasSubstr("x.ffr: record 1, offset 76: the record is too short for its image header"));
}

// Damages the labels of one record, for every record, in short and in long records.
TEST(Ffrecord, a_damaged_label_is_its_records_error_and_changes_no_schema) {
  for (const size_t image_bytes : {size_t{20}, size_t{3'000}, size_t{1'500'000}}) {
    const std::string image = kJpeg + std::string(image_bytes, 'x');
    const std::vector<std::string> records{image_payload(7, {1, 2}, image),
                                           image_payload(8, {3, 4}, image),
                                           image_payload(9, {5, 6}, image)};
    for (uint64_t damaged = 0; damaged < 3; ++damaged) {
      FfrFile file(records);
      std::string bytes = file_contents(file.path);
      bytes[table_bytes(3) + damaged * records[0].size() + kImageHeaderBytes + 1] ^= 0x40;
      write_file(file.path, bytes);
      const auto container = file.open();
      EXPECT_EQ(container->schema(), FfrFile(records).open()->schema()) << damaged;
      std::vector<std::byte> framed;
      Sample sample;
      EXPECT_THAT(
          refusal_of<CorruptError>([&] { read_sample(*container, damaged, framed, sample); }),
          HasSubstr("the record's checksum is wrong"));
      EXPECT_NO_THROW(read_sample(*container, (damaged + 1) % 3, framed, sample));
    }
  }
}

TEST(Ffrecord, a_sound_record_with_labels_of_its_own_is_believed) {
  FfrFile file({image_payload(7, {1}, kJpeg), image_payload(8, {2.5f}, kJpeg),
                image_payload(9, {3}, kJpeg)});
  EXPECT_EQ(file.open()->schema().fields[1].dtype, DType::kFloat32);
  FfrFile wider({image_payload(7, {1}, kJpeg), image_payload(8, {2, 3}, kJpeg)});
  EXPECT_EQ(wider.open()->schema().fields[1].shape, (std::vector<int64_t>{-1}));
}

TEST(Ffrecord, records_with_many_labels_are_looked_at_too) {
  std::vector<std::string> records;
  for (int i = 0; i < 200; ++i) {
    std::vector<float> labels(static_cast<size_t>(i % 2 == 0 ? 5 : 900), 0.25f);
    records.push_back(image_payload(1, labels, kJpeg));
  }
  FfrFile file(records);
  EXPECT_THAT(file.open()->schema().fields[1].shape, ElementsAre(-1));
}

TEST(Ffrecord, thousands_of_records_are_scanned) {
  std::vector<std::string> records;
  for (int i = 0; i < 7000; ++i) {
    const std::string image = kJpeg + std::string(static_cast<size_t>(i % 40) * 1000, 'x');
    records.push_back(i % 10 == 0 ? "" : image_payload(1, {i == 6999 ? 0.5f : 1.0f}, image));
  }
  FfrFile file(records);
  EXPECT_EQ(file.open()->schema().fields[1].dtype, DType::kFloat32);  // because of the last label
}

TEST(Ffrecord, golden_files_open_and_every_record_is_read) {
  for (const char* name : {"part0.ffr", "folder.ffr"}) {
    FfrFile file({});
    write_file(file.path, file_contents(kGolden + name));
    const auto container = file.open();
    EXPECT_STREQ(container->format(), "FFRecord");
    EXPECT_TRUE(container->schema().has("data"));
    Reader read(*container);
    for (uint64_t i = 0; i < container->size(); ++i) read(i);
    EXPECT_THAT(file.warnings, IsEmpty());
  }
}

TEST(Ffrecord, a_file_of_no_records_opens_and_leaves_nothing) {
  FfrFile file({});
  EXPECT_EQ(file.open()->size(), 0);
  EXPECT_EQ(file.open()->fingerprint().records, 0);
  EXPECT_THAT(file.warnings, IsEmpty());
  EXPECT_THAT(names_in(file.directory.path()), ElementsAre("x.ffr"));
  const OpenOptions named{.ignore_sidecar = true, .classes = {"cat"}};
  EXPECT_THAT(open_ffrecord(file.path, named)->classes(), ElementsAre("cat"));
}

TEST(Ffrecord, a_table_without_a_checksum_is_warned_of_and_records_are_still_verified) {
  FfrFile file({"hello", "there"});
  std::string bytes = file_contents(file.path);
  bytes.replace(0, 4, 4, '\0');
  bytes.back() ^= 1;
  write_file(file.path, bytes);
  const auto container = file.open();
  EXPECT_THAT(file.warnings, ElementsAre(HasSubstr("has no checksum")));
  Reader read(*container);
  EXPECT_EQ(read.field(0, 0), "hello");
  EXPECT_THROW(read(1), CorruptError);
}

TEST(Ffrecord, truncation_and_appended_bytes_are_seen_in_the_last_record) {
  FfrFile file({"hello", "there"});
  const std::string bytes = file_contents(file.path);
  const std::vector<std::string> changes{bytes + "!", bytes.substr(0, bytes.size() - 1)};
  for (const std::string& changed : changes) {
    std::filesystem::remove(file.sidecar);
    write_file(file.path, changed);
    const auto container = file.open();
    Reader read(*container);
    EXPECT_EQ(read.field(0, 0), "hello");
    EXPECT_THAT(refusal_of<CorruptError>([&] { read(1); }),
                HasSubstr("x.ffr: record 1, offset 41: the record's checksum"));
  }
}

TEST(Ffrecord, a_record_longer_than_any_can_be_is_refused_before_it_is_read) {
  FfrFile file({"hello", "there"});
  const auto container = file.open();
  const RecordTable& table = container->table();
  EXPECT_EQ(extent_of(container->extent(0).source, table, 1).length, 5);
  class Endless final : public Source {
   public:
    uint64_t size_bytes() const override { return uint64_t{1} << 50; }
    const std::string& uri() const override { return uri_; }
    void read(uint64_t offset, MutableBytes into) const override {
      const std::string head = file_of({"", "", ""});
      for (size_t i = 0; i < into.size(); ++i) {
        const uint64_t at = offset + i;
        into[i] = at < head.size() ? static_cast<std::byte>(head[at]) : std::byte{0};
      }
    }

   private:
    std::string uri_ = "endless.ffr";
  };
  const auto endless = std::make_shared<const Endless>();
  const RecordTable long_table = RecordTable::read(*endless, true);
  EXPECT_THAT(
      refusal_of<CorruptError>([&] { extent_of(endless, long_table, 2); }),
      HasSubstr(
          "endless.ffr: record 2, offset 48: according to the record table, the record is too "
          "long"));
}

TEST(Ffrecord, damage_to_the_table_is_an_error_of_the_opening) {
  FfrFile file({"hello", "there"});
  std::string bytes = file_contents(file.path);
  bytes[13] ^= 1;
  write_file(file.path, bytes);
  EXPECT_THAT(refusal_of<CorruptError>([&] { file.open(); }),
              HasSubstr("x.ffr: offset 0: the record table's checksum is wrong"));
  EXPECT_FALSE(std::filesystem::exists(file.sidecar));
}

// --- Sidecars ---

TEST(FfrecordSidecar, is_left_behind_by_a_scan_and_used_next_time) {
  FfrFile file(ImageRecords::records());
  const auto scanned = file.open();
  EXPECT_EQ(scanned->sidecar_location().place, SidecarPlace::kBeside);
  EXPECT_TRUE(scanned->sidecar_location().made);
  EXPECT_FALSE(scanned->sidecar().has_table());
  EXPECT_FALSE(scanned->sidecar().has_checksums());
  EXPECT_TRUE(scanned->verifies_checksums());
  EXPECT_EQ(scanned->sidecar().fingerprint(), scanned->fingerprint());
  const auto again = file.open();
  EXPECT_FALSE(again->sidecar_location().made);
  EXPECT_EQ(again->sidecar().uri(), file.sidecar);
  EXPECT_EQ(again->schema(), scanned->schema());
  EXPECT_THAT(file.warnings, IsEmpty());
}

TEST(FfrecordSidecar, of_another_file_is_set_aside_and_kept) {
  FfrFile file(ImageRecords::records());
  const CacheDirectory cache(file.directory / "cache");
  FfrFile other({"something", "else"});
  other.open();
  const std::string others = file_contents(other.sidecar);
  write_file(file.sidecar, others);
  EXPECT_TRUE(file.open()->schema().has("image"));
  EXPECT_THAT(file.warnings, ElementsAre(HasSubstr("does not belong to")));
  EXPECT_EQ(file_contents(file.sidecar), others);
  EXPECT_EQ(file.open()->sidecar_location().place, SidecarPlace::kCache);
}

// Class names, as `pack` stores them.
void name_classes(const FfrFile& file, const std::vector<std::string>& records) {
  SidecarWriter writer;
  for (const std::string& record : records) writer.add_length(record.size());
  writer.set_classes({"cat", "dog"});
  const auto sink = file_system_for(file.path).create(file.sidecar);
  writer.write_to(identify(*file_system_for(file.path).open(file.path)), *sink);
  sink->commit();
}

// After another program replaced the file, or a kill between FileWriter's rename and the removal of
// the sidecar.
TEST(FfrecordSidecar, of_a_file_with_other_records_of_the_same_lengths_is_set_aside) {
  for (const size_t each : {size_t{20}, size_t{5000}}) {  // one in both ends; one in each
    FfrFile file({std::string(each, 'a'), std::string(each, 'b')});
    const CacheDirectory cache(file.directory / "cache");
    name_classes(file, {std::string(each, 'a'), std::string(each, 'b')});
    EXPECT_THAT(file.open()->classes(), SizeIs(2));
    const std::vector<std::vector<std::string>> others{
        {std::string(each, 'c'), std::string(each, 'd')},
        {std::string(each, 'c'), std::string(each, 'b')},       // the last 4 KiB may be the same
        {std::string(each, 'a'), std::string(each - 1, 'b')}};  // and the file shorter
    for (const auto& records : others) {
      write_file(file.path, file_of(records));
      file.warnings.clear();
      const auto container = file.open();
      EXPECT_THAT(container->classes(), IsEmpty());
      EXPECT_THAT(file.warnings, ElementsAre(HasSubstr("does not belong to")));
      Reader read(*container);
      for (const uint64_t i : {0, 1}) EXPECT_EQ(read.field(i, 0), records[i]);
    }
  }
}

TEST(FfrecordSidecar, of_a_file_that_was_damaged_or_cut_stays_its_own) {
  const std::vector<std::string> records{"first", std::string(6000, 'x'), std::string(6000, 'y')};
  FfrFile file(records);
  name_classes(file, records);
  const std::string whole = file_contents(file.path);
  for (const uint64_t at : {uint64_t{49}, uint64_t{12000}}) {
    std::string damaged = whole;
    damaged[at] ^= 1;
    write_file(file.path, damaged);
    EXPECT_THAT(file.open()->classes(), SizeIs(2)) << at;
  }
  std::string gap = whole;
  gap.erase(7000, 10);
  for (const std::string& cut : {gap, whole.substr(0, whole.size() - 1)}) {
    write_file(file.path, cut);
    EXPECT_THAT(refusal_of<TruncatedError>([&] { file.open(); }),
                HasSubstr(file.path + ": record 2, offset 6053: the file is truncated"));
    EXPECT_THROW(build_sidecar(file.path), TruncatedError);
    EXPECT_EQ(open_ffrecord(file.path, {.ignore_sidecar = true})->size(), 3);
  }
  EXPECT_THAT(file.warnings, IsEmpty());
}

TEST(FfrecordSidecar, that_does_not_fit_the_table_is_set_aside) {
  FfrFile file({"first", "second"});
  const CacheDirectory cache(file.directory / "cache");
  SidecarWriter writer;
  writer.add_length(11);
  const auto sink = file_system_for(file.path).create(file.sidecar);
  writer.write_to(identify(*file_system_for(file.path).open(file.path)), *sink);
  sink->commit();
  EXPECT_EQ(file.open()->size(), 2);
  EXPECT_THAT(
      file.warnings,
      ElementsAre(HasSubstr("does not match the file's record table: expected 2 records with 11 "
                            "bytes in total, found 1 record with 11 bytes in total")));
}

TEST(FfrecordSidecar, goes_into_the_cache_or_stays_in_memory_where_it_cannot_be_beside) {
  FfrFile file({"first", "second"});
  std::filesystem::create_directory(file.sidecar);  // blocks the sidecar's name
  {
    const CacheDirectory cache(file.directory / "cache");
    EXPECT_EQ(file.open()->sidecar_location().place, SidecarPlace::kCache);
  }
  write_file(file.directory / "no-directory", "");
  const CacheDirectory cache(file.directory / "no-directory");
  file.warnings.clear();
  EXPECT_EQ(file.open()->sidecar_location().place, SidecarPlace::kMemory);
  EXPECT_THAT(file.warnings, ::testing::Contains(
                                 HasSubstr("cannot be written beside the file or into the cache")));
}

TEST(FfrecordSidecar, an_opening_that_is_stopped_leaves_nothing) {
  FfrFile file(std::vector<std::string>(5000, "record"));
  int asked = 0;
  const OpenOptions options{.keep_going = [&asked] { return ++asked < 3; }};
  EXPECT_THROW(open_ffrecord(file.path, options), StateError);
  EXPECT_EQ(asked, 3);
  EXPECT_THAT(names_in(file.directory.path()), ElementsAre("x.ffr"));
}

TEST(FfrecordSidecar, is_built_anew_with_labels_and_keeps_what_cannot_be_rebuilt) {
  FfrFile file(ImageRecords::records());
  SidecarWriter writer;
  for (const std::string& record : ImageRecords::records()) writer.add_length(record.size());
  writer.set_classes({"cat", "dog"});
  writer.set_keys(std::vector<uint64_t>{40, 30, 20, 10});
  const auto sink = file_system_for(file.path).create(file.sidecar);
  writer.write_to(identify(*file_system_for(file.path).open(file.path)), *sink);
  sink->commit();
  EXPECT_TRUE(file.open()->schema().has("data"));  // as the sidecar says

  std::vector<uint64_t> done;
  const BuiltSidecar built =
      build_sidecar(file.path, {.progress = [&](uint64_t at, uint64_t total) {
                      EXPECT_EQ(total, std::filesystem::file_size(file.path));
                      done.push_back(at);
                      return true;
                    }});
  EXPECT_EQ(built.hinted_records, 0u);
  EXPECT_EQ(built.location.uri, file.sidecar);
  EXPECT_EQ(done.front(), 0);
  EXPECT_EQ(done.back(), std::filesystem::file_size(file.path));
  const auto container = file.open();
  EXPECT_TRUE(container->schema().has("image"));
  EXPECT_THAT(container->classes(), ElementsAre("cat", "dog"));
  ASSERT_TRUE(container->sidecar().has_keys());
  EXPECT_EQ(container->sidecar().key(3), 10u);
  EXPECT_THAT(file.warnings, IsEmpty());
}

TEST(FfrecordSidecar, is_not_built_of_a_damaged_file) {
  FfrFile file({"first", std::string(40'000, 'x'), "last"});
  build_sidecar(file.path);
  const std::string sidecar = file_contents(file.sidecar);
  std::string bytes = file_contents(file.path);
  bytes[table_bytes(3) + 5 + 20'000] ^= 1;
  write_file(file.path, bytes);
  EXPECT_THAT(refusal_of<CorruptError>([&] { build_sidecar(file.path); }),
              HasSubstr(file.path + ": record 1, offset 53: the record's checksum is wrong"));
  EXPECT_EQ(file_contents(file.sidecar), sidecar);
  std::filesystem::remove(file.sidecar);
  EXPECT_THROW(build_sidecar(file.path), CorruptError);
  EXPECT_THAT(names_in(file.directory.path()), ElementsAre("x.ffr"));
  EXPECT_NO_THROW(build_sidecar(file.path, {.checksums = false}));
}

// The file has its own checksums, so they are neither copied nor lost.
TEST(FfrecordSidecar, built_without_verifying_leaves_the_files_own_checksums_in_use) {
  FfrFile file({"first", std::string(40'000, 'x'), image_payload(8, {2.5f}, kJpeg)});
  std::string bytes = file_contents(file.path);
  bytes[table_bytes(3) + 5 + 20'000] ^= 1;
  write_file(file.path, bytes);
  build_sidecar(file.path, {.checksums = false});
  const auto container = file.open();
  EXPECT_THAT(file.warnings, IsEmpty());
  EXPECT_FALSE(container->sidecar().has_checksums());
  EXPECT_TRUE(container->verifies_checksums());
  std::vector<std::byte> framed;
  Sample sample;
  EXPECT_NO_THROW(read_sample(*container, 0, framed, sample));
  EXPECT_THAT(refusal_of<CorruptError>([&] { read_sample(*container, 1, framed, sample); }),
              HasSubstr("record 1, offset 53: the record's checksum is wrong"));
}

TEST(FfrecordSidecar, building_one_stops_when_told) {
  FfrFile file({"first", "last"});
  for (int stop_at = 1; stop_at <= 4; ++stop_at) {
    int asked = 0;
    const auto progress = [&](uint64_t, uint64_t) { return ++asked < stop_at; };
    EXPECT_THROW(build_sidecar(file.path, {.progress = progress}), StateError) << stop_at;
  }
  EXPECT_THAT(names_in(file.directory.path()), ElementsAre("x.ffr"));
}

TEST(FfrecordSidecar, of_what_has_none_cannot_be_built) {
  const TemporaryDirectory directory;
  write_file(directory / "x.txt", "text");
  EXPECT_THAT(refusal_of<UnsupportedError>([&] { build_sidecar(directory / "x.txt"); }),
              HasSubstr("found a text file"));
  EXPECT_THROW(build_sidecar(directory.path()), InvalidArgumentError);
  EXPECT_THROW(build_sidecar(directory / "none.ffr"), NotFoundError);
}

}  // namespace
}  // namespace fuelrail::ffrecord
