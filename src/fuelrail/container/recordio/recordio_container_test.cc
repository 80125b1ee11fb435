#include "fuelrail/container/recordio/recordio_container.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "fuelrail/base/crc32.h"
#include "fuelrail/base/endian.h"
#include "fuelrail/base/error.h"
#include "fuelrail/container/recordio/framing.h"
#include "fuelrail/container/recordio/image_header.h"
#include "fuelrail/container/recordio/record_writer.h"
#include "fuelrail/storage/file_system.h"
#include "fuelrail/testing/collecting_sink.h"
#include "fuelrail/testing/container_conformance.h"
#include "fuelrail/testing/temporary_directory.h"

namespace fuelrail::recordio {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

const std::string kGolden = std::string(FUELRAIL_SOURCE_DIR) + "/tests/golden/";
const std::string kMagicText = "\x0a\x23\xd7\xce";

std::string image_payload(uint64_t id, const std::vector<float>& labels, std::string_view image) {
  std::vector<std::byte> payload;
  append_image_record(id, labels, as_bytes(image), payload);
  return std::string(as_text(payload));
}

std::string framed_file(const std::vector<std::string>& payloads) {
  CollectingSink sink;
  RecordWriter writer(sink);
  for (const std::string& payload : payloads) writer.append(as_bytes(payload));
  return std::string(as_text(sink.bytes()));
}

std::string as_label(int64_t value) {
  std::string bytes(sizeof value, '\0');
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

std::string as_labels(const std::vector<float>& values) {
  return std::string(as_text(std::as_bytes(std::span(values))));
}

// A `.rec` in a directory of its own.
struct RecordFile {
  explicit RecordFile(const std::vector<std::string>& payloads) {
    write_file(path, framed_file(payloads));
  }
  struct Golden {
    std::string name{};
  };
  explicit RecordFile(const Golden& golden) {
    write_file(path, file_contents(kGolden + golden.name));
  }

  std::shared_ptr<const RecordIoContainer> open() {
    return open_recordio(path, {.warn = [this](const std::string& w) { warnings.push_back(w); }});
  }

  TemporaryDirectory directory;
  std::string path = directory / "x.rec";
  std::string sidecar = path + ".frx";
  std::vector<std::string> warnings;
};

// Reads records one after the other into the same memory.
class Reader {
 public:
  explicit Reader(const Container& container) : container_(container) {}
  const Sample& operator()(uint64_t i) {
    read_sample(container_, i, framed_, sample_);
    return sample_;
  }
  std::string field(uint64_t i, size_t f) {
    return std::string(as_text((*this)(i).fields[f].bytes));
  }

 private:
  const Container& container_;
  std::vector<std::byte> framed_;
  Sample sample_;
};

template <typename ExpectedError>
std::string refusal(const std::function<void()>& act) {
  try {
    act();
  } catch (const ExpectedError& error) {
    return error.what();
  }
  return "accepted";
}

// --- Conformance ---

// One whole-number label; the magic is in an image, an id and a label-sized place.
struct ImageFile {
  static constexpr bool kDetectsTruncation = true;
  static std::vector<std::string> payloads() {
    return {image_payload(7, {1}, "first image"), image_payload(0xCED7230A, {0}, "second"),
            image_payload(1, {-5}, "abcd" + kMagicText + "ef"), image_payload(2, {16777216}, "")};
  }
  std::shared_ptr<const Container> make() { return file.open(); }
  std::shared_ptr<const Container> make_copy() { return copy.open(); }
  std::vector<ExpectedSample> expected() {
    return {{.fields = {"first image", as_label(1)}, .id = 7},
            {.fields = {"second", as_label(0)}, .id = 0xCED7230A},
            {.fields = {"abcd" + kMagicText + "ef", as_label(-5)}, .id = 1},
            {.fields = {"", as_label(16777216)}, .id = 2}};
  }
  RecordFile file{payloads()};
  RecordFile copy{payloads()};
};

struct MultiLabelFile {
  static constexpr bool kDetectsTruncation = true;
  static std::vector<std::string> payloads() {
    return {image_payload(1, {1, 2, 3}, "x"), image_payload(2, {0.5f}, "yy"),
            image_payload(3, {4, 5}, "zzz")};
  }
  std::shared_ptr<const Container> make() { return file.open(); }
  std::shared_ptr<const Container> make_copy() { return copy.open(); }
  std::vector<ExpectedSample> expected() {
    return {{.fields = {"x", as_labels({1, 2, 3})}, .id = 1, .shapes = {{}, {3}}},
            {.fields = {"yy", as_labels({0.5f})}, .id = 2, .shapes = {{}, {1}}},
            {.fields = {"zzz", as_labels({4, 5})}, .id = 3, .shapes = {{}, {2}}}};
  }
  RecordFile file{payloads()};
  RecordFile copy{payloads()};
};

struct BytesFile {
  static constexpr bool kDetectsTruncation = true;
  static std::vector<std::string> payloads() {
    return {"one", "", kMagicText + kMagicText, "four"};
  }
  std::shared_ptr<const Container> make() { return file.open(); }
  std::shared_ptr<const Container> make_copy() { return copy.open(); }
  std::vector<ExpectedSample> expected() {
    std::vector<ExpectedSample> samples;
    for (const std::string& payload : payloads()) {
      samples.push_back({.fields = {payload}, .id = samples.size()});
    }
    return samples;
  }
  RecordFile file{payloads()};
  RecordFile copy{payloads()};
};

}  // namespace
}  // namespace fuelrail::recordio

namespace fuelrail {
INSTANTIATE_TYPED_TEST_SUITE_P(RecordIoImages, ContainerConformance,
                               WithViews<recordio::ImageFile>);
INSTANTIATE_TYPED_TEST_SUITE_P(RecordIoMultiLabel, ContainerConformance,
                               WithViews<recordio::MultiLabelFile>);
INSTANTIATE_TYPED_TEST_SUITE_P(RecordIoBytes, ContainerConformance, WithViews<recordio::BytesFile>);
}  // namespace fuelrail

namespace fuelrail::recordio {
namespace {

// --- Schemas ---

TEST(RecordIo, whole_number_labels_are_int64_scalars) {
  RecordFile file(std::vector<std::string>{image_payload(1, {3}, "a"), image_payload(2, {4}, "b")});
  const auto container = file.open();
  const Schema& schema = container->schema();
  ASSERT_THAT(schema.fields, SizeIs(2));
  EXPECT_EQ(schema.fields[0].name, "image");
  EXPECT_EQ(schema.fields[0].kind, FieldKind::kImage);
  EXPECT_EQ(schema.fields[1].name, "label");
  EXPECT_EQ(schema.fields[1].kind, FieldKind::kTensor);
  EXPECT_EQ(schema.fields[1].dtype, DType::kInt64);
  EXPECT_THAT(schema.fields[1].shape, IsEmpty());
}

TEST(RecordIo, one_fraction_makes_labels_float32_scalars) {
  RecordFile file(
      std::vector<std::string>{image_payload(1, {3}, "a"), image_payload(2, {4.5f}, "b")});
  const auto container = file.open();
  EXPECT_EQ(container->schema().fields[1].dtype, DType::kFloat32);
  EXPECT_THAT(container->schema().fields[1].shape, IsEmpty());
  Reader read(*container);
  EXPECT_EQ(read.field(1, 1), as_labels({4.5f}));
}

TEST(RecordIo, several_labels_are_float32_vectors) {
  RecordFile file(
      std::vector<std::string>{image_payload(1, {3, 1}, "a"), image_payload(2, {4, 1}, "b")});
  EXPECT_THAT(file.open()->schema().fields[1].shape, ElementsAre(2));
  EXPECT_EQ(file.open()->schema().fields[1].dtype, DType::kFloat32);
}

TEST(RecordIo, payloads_that_are_no_image_records_are_bytes) {
  RecordFile file(std::vector<std::string>{"short", std::string(100, 'x'),
                                           image_payload(1, {0}, "one that could be")});
  const auto container = file.open();
  ASSERT_THAT(container->schema().fields, SizeIs(1));
  EXPECT_EQ(container->schema().fields[0].name, "data");
  EXPECT_EQ(container->schema().fields[0].kind, FieldKind::kBytes);
}

TEST(RecordIo, damaged_image_header_is_one_bad_record_of_an_image_file) {
  std::vector<std::string> payloads(4, image_payload(1, {0}, "image"));
  payloads[2][1] = '\x7f';  // flag: 32,512 labels
  RecordFile file(payloads);
  const auto container = file.open();
  Reader read(*container);
  EXPECT_EQ(read.field(1, 0), "image");
  EXPECT_THAT(
      refusal<CorruptError>([&] { read(2); }),
      HasSubstr("x.rec: record 2, offset 80: the record is too short for its image header"));
  EXPECT_EQ(read.field(3, 0), "image");
}

TEST(RecordIo, golden_files_open_and_every_record_is_read) {
  for (const std::string name : {"part0", "part1", "part2", "sample"}) {
    RecordFile file(RecordFile::Golden{"recordio/" + name + ".rec"});
    const auto container = file.open();
    EXPECT_EQ(container->schema().has("image"), name == "sample");
    Reader read(*container);
    for (uint64_t i = 0; i < container->size(); ++i) read(i);
    EXPECT_THAT(file.warnings, IsEmpty());
  }
}

TEST(RecordIo, sample_of_dmlc_has_ten_records) {
  RecordFile file(RecordFile::Golden{"recordio/sample.rec"});
  const auto container = file.open();
  ASSERT_EQ(container->size(), 10u);
  Reader read(*container);
  for (uint64_t i = 0; i < 10; ++i) {
    const std::string line = std::to_string(i + 1) + "\n";
    std::string image;
    for (int copies = 0; copies < 10; ++copies) image += line;
    EXPECT_EQ(read.field(i, 0), image);
    EXPECT_EQ(read.field(i, 1), as_label(int64_t(i + 1) % 2));
    EXPECT_EQ(read(i).id, i + 1);
  }
}

TEST(RecordIo, files_of_mxnet_have_their_labels) {
  RecordFile multilabel(RecordFile::Golden{"mxnet/multilabel.rec"});
  EXPECT_EQ(multilabel.open()->size(), 6u);
  EXPECT_THAT(multilabel.open()->schema().fields[1].shape, ElementsAre(3));
  RecordFile detection(RecordFile::Golden{"mxnet/det.rec"});
  EXPECT_EQ(detection.open()->size(), 8u);
  EXPECT_THAT(detection.open()->schema().fields[1].shape, ElementsAre(-1));
  const auto opened = detection.open();
  Reader read(*opened);
  for (uint64_t i = 0; i < 8; ++i) {
    const Sample& sample = read(i);
    EXPECT_EQ(as_text(sample.fields[0].bytes).substr(0, 3), "\xff\xd8\xff");
    EXPECT_EQ(sample.fields[1].shape.at(0) * 4, int64_t(sample.fields[1].bytes.size()));
  }
}

// --- Bad files ---

TEST(RecordIo, missing_file_is_not_found) {
  EXPECT_THROW(open_recordio("/no/such/file.rec"), NotFoundError);
}

TEST(RecordIo, empty_file_is_refused_by_name) {
  RecordFile file(std::vector<std::string>{});
  EXPECT_THAT(refusal<TruncatedError>([&] { file.open(); }),
              HasSubstr("x.rec: the file is empty: it holds no record"));
  EXPECT_FALSE(std::filesystem::exists(file.sidecar));
}

TEST(RecordIo, truncated_file_is_refused_with_record_and_offset) {
  RecordFile file(std::vector<std::string>{"first", "second"});
  std::filesystem::resize_file(file.path, 16 + 12);
  EXPECT_THAT(refusal<TruncatedError>([&] { file.open(); }),
              HasSubstr("x.rec: record 1, offset 16: the data end inside a record"));
  EXPECT_FALSE(std::filesystem::exists(file.sidecar));
}

TEST(RecordIo, file_of_another_kind_is_refused) {
  RecordFile file(std::vector<std::string>{"x"});
  write_file(file.path, "This is no RecordIO file.");
  EXPECT_THAT(refusal<CorruptError>([&] { file.open(); }),
              HasSubstr("x.rec: record 0, offset 0: no record begins here"));
}

TEST(RecordIo, damage_in_a_scanned_file_is_found_when_it_is_opened) {
  RecordFile file(std::vector<std::string>{"first", "second", "third"});
  std::string bytes = file_contents(file.path);
  bytes[32] ^= 1;  // the third record's magic
  write_file(file.path, bytes);
  EXPECT_THAT(refusal<CorruptError>([&] { file.open(); }), HasSubstr("record 2, offset 32"));
}

TEST(RecordIo, recovery_opens_the_rest_and_leaves_no_sidecar) {
  RecordFile file(
      {image_payload(1, {0}, "a"), image_payload(2, {1}, "b"), image_payload(3, {2}, "c")});
  std::string bytes = file_contents(file.path);
  bytes[36] ^= 1;  // the second record's magic
  write_file(file.path, bytes);
  std::vector<Damage> damage;
  const auto container =
      open_recordio_recovering(file.path, [&](const Damage& d) { damage.push_back(d); });
  ASSERT_EQ(container->size(), 2u);
  Reader read(*container);
  EXPECT_EQ(read.field(0, 0), "a");
  EXPECT_EQ(read.field(1, 0), "c");
  EXPECT_EQ(read(1).id, 3u);
  ASSERT_THAT(damage, SizeIs(1));
  EXPECT_EQ(damage[0].path, file.path);
  EXPECT_EQ(damage[0].offset, 36u);
  EXPECT_EQ(damage[0].skipped_bytes, 36u);
  EXPECT_EQ(container->sidecar_location().place, SidecarPlace::kMemory);
  EXPECT_FALSE(std::filesystem::exists(file.sidecar));
}

// Six records of 4 KiB each; the sidecar has checksums.
struct DamagedFile : RecordFile {
  DamagedFile() : RecordFile(payloads()) { build_sidecar(path); }
  static std::vector<std::string> payloads() {
    std::vector<std::string> made;
    for (uint64_t i = 0; i < 6; ++i) {
      made.push_back(image_payload(i, {float(i)}, std::string(4096, char('a' + i))));
    }
    return made;
  }
  static constexpr size_t kRecordBytes = 8 + 24 + 4096;
  void flip(size_t at) {
    std::string bytes = file_contents(path);
    bytes[at] = static_cast<char>(bytes[at] ^ 1);
    write_file(path, bytes);
  }
  std::shared_ptr<const RecordIoContainer> recover() {
    return open_recordio_recovering(path, [this](const Damage& d) { damage.push_back(d); });
  }
  std::vector<Damage> damage;
};

TEST(RecordIo, recovery_verifies_payloads_by_the_files_sidecar) {
  DamagedFile file;
  file.flip(2 * DamagedFile::kRecordBytes + 1000);  // a payload
  file.flip(4 * DamagedFile::kRecordBytes);         // a magic
  const auto container = file.recover();
  ASSERT_EQ(container->size(), 5u);
  EXPECT_TRUE(container->verifies_checksums());
  Reader read(*container);
  for (const uint64_t i : {0U, 1U, 3U, 4U}) EXPECT_NO_THROW(read(i)) << i;
  EXPECT_EQ(read(4).id, 5u);
  EXPECT_THAT(refusal<CorruptError>([&] { read(2); }), HasSubstr("record 2, offset 8256: "));
  EXPECT_THAT(file.damage, SizeIs(1));
}

TEST(RecordIo, recovery_reports_a_record_that_the_files_sidecar_does_not_have) {
  DamagedFile file;
  file.flip(2 * DamagedFile::kRecordBytes + 5);  // a length that comes out too short
  const auto container = file.recover();
  EXPECT_EQ(container->size(), 5u);
  EXPECT_TRUE(container->verifies_checksums());
  ASSERT_THAT(file.damage, testing::Not(IsEmpty()));
  EXPECT_EQ(file.damage[0].offset, 2 * DamagedFile::kRecordBytes);
  Reader read(*container);
  EXPECT_EQ(read(2).id, 3u);
}

TEST(RecordIo, recovery_without_known_checksums_claims_to_verify_nothing) {
  DamagedFile file;
  std::filesystem::remove(file.sidecar);
  file.flip(2 * DamagedFile::kRecordBytes + 1000);
  const auto container = file.recover();
  EXPECT_EQ(container->size(), 6u);
  EXPECT_FALSE(container->verifies_checksums());
  Reader read(*container);
  EXPECT_NO_THROW(read(2));
}

TEST(RecordIo, opening_stops_when_told) {
  RecordFile file(std::vector<std::string>(5000, "x"));
  int asked = 0;
  const OpenOptions stop_at_third{.keep_going = [&] { return ++asked < 3; }};
  EXPECT_THAT(refusal<StateError>([&] { open_recordio(file.path, stop_at_third); }),
              HasSubstr("interrupted"));
  EXPECT_EQ(asked, 3);
  EXPECT_FALSE(std::filesystem::exists(file.sidecar));
  asked = 0;
  EXPECT_THROW(open_recordio_recovering(
                   file.path, [](const Damage&) {}, stop_at_third),
               StateError);
  EXPECT_EQ(open_recordio(file.path, {.keep_going = [] { return true; }})->size(), 5000u);
}

TEST(RecordIo, recovery_of_garbage_is_an_error) {
  RecordFile file(std::vector<std::string>{"x"});
  write_file(file.path, "This is no RecordIO file.");
  EXPECT_THROW(open_recordio_recovering(file.path, [](const Damage&) {}), CorruptError);
}

// --- Sidecars ---

TEST(RecordIoSidecar, is_left_behind_by_a_scan_and_used_next_time) {
  RecordFile file(
      std::vector<std::string>{std::string(5000, 'a'), "in the middle", std::string(5000, 'z')});
  const auto scanned = file.open();
  EXPECT_EQ(scanned->sidecar_location().place, SidecarPlace::kBeside);
  EXPECT_FALSE(scanned->verifies_checksums());
  ASSERT_TRUE(std::filesystem::exists(file.sidecar));
  // Damage that a scan would meet, far from both ends, proves that none happens.
  std::string bytes = file_contents(file.path);
  bytes[scanned->extent(1).offset] ^= 1;
  write_file(file.path, bytes);
  const auto again = file.open();
  EXPECT_EQ(again->fingerprint(), scanned->fingerprint());
  EXPECT_EQ(again->sidecar().uri(), file.sidecar);
  EXPECT_THAT(file.warnings, IsEmpty());
}

TEST(RecordIoSidecar, with_checksums_finds_every_flipped_bit_of_a_payload) {
  RecordFile file(ImageFile::payloads());
  build_sidecar(file.path);
  const auto container = file.open();
  EXPECT_TRUE(container->verifies_checksums());
  EXPECT_NO_THROW(container->sidecar().verify());
  Sample sample;
  for (uint64_t i = 0; i < container->size(); ++i) {
    const Extent extent = container->extent(i);
    std::vector<std::byte> framed(extent.length);
    extent.source->read(extent.offset, framed);
    const uint64_t payload_end = PartHead(framed.data()).kind() == PartKind::kWhole
                                     ? kHeadBytes + PartHead(framed.data()).length()
                                     : framed.size() - 2;  // two bytes of padding here
    for (size_t bit = 0; bit < payload_end * 8; ++bit) {
      framed[bit / 8] ^= static_cast<std::byte>(1u << (bit % 8));
      EXPECT_THROW(container->parse(i, framed, sample), Error) << "record " << i << " bit " << bit;
      framed[bit / 8] ^= static_cast<std::byte>(1u << (bit % 8));
    }
    EXPECT_NO_THROW(container->parse(i, framed, sample));
  }
}

TEST(RecordIoSidecar, wrong_checksum_names_the_record) {
  RecordFile file(ImageFile::payloads());
  build_sidecar(file.path);
  const auto container = file.open();
  const Extent extent = container->extent(0);
  std::vector<std::byte> framed(extent.length);
  extent.source->read(0, framed);
  framed[40] ^= std::byte{1};
  Sample sample;
  EXPECT_THAT(refusal<CorruptError>([&] { container->parse(0, framed, sample); }),
              HasSubstr("x.rec: record 0, offset 0: the record is damaged: its checksum is wrong"));
}

TEST(RecordIoSidecar, of_a_file_that_grew_is_set_aside_and_kept) {
  RecordFile file(std::vector<std::string>{"first", "second"});
  file.open();
  const std::string old_sidecar = file_contents(file.sidecar);
  write_file(file.path, framed_file({"first", "second", "third"}));
  const std::string cache = file.directory / "cache";
  ::setenv("XDG_CACHE_HOME", cache.c_str(), 1);
  EXPECT_EQ(file.open()->size(), 3u);
  EXPECT_THAT(file.warnings, ElementsAre(HasSubstr("does not belong to")));
  EXPECT_EQ(file_contents(file.sidecar), old_sidecar);
  EXPECT_EQ(file.open()->sidecar_location().place, SidecarPlace::kCache);
  ::unsetenv("XDG_CACHE_HOME");
}

TEST(RecordIoSidecar, that_does_not_span_its_file_is_set_aside) {
  RecordFile file(std::vector<std::string>{"first", "second"});
  SidecarWriter writer;
  writer.add_record({0, 16});
  const auto source = file_system_for(file.path).open(file.path);
  const auto sink = file_system_for(file.path).create(file.sidecar);
  writer.write_to(identify(*source), *sink);
  sink->commit();
  const std::string cache = file.directory / "cache";
  ::setenv("XDG_CACHE_HOME", cache.c_str(), 1);
  EXPECT_EQ(file.open()->size(), 2u);
  EXPECT_THAT(file.warnings, ElementsAre(HasSubstr("does not span its file")));
  ::unsetenv("XDG_CACHE_HOME");
}

TEST(RecordIoSidecar, that_names_wrong_places_is_found_when_a_record_is_read) {
  RecordFile file(std::vector<std::string>{
      image_payload(1, {0}, "abcd"), image_payload(2, {0}, "efgh"), image_payload(3, {0}, "ijkl")});
  SidecarWriter writer;
  for (const RecordEntry entry : {RecordEntry{0, 36}, RecordEntry{40, 32}, RecordEntry{72, 36}}) {
    writer.add_record(entry);
  }
  writer.set_labels({});
  const auto source = file_system_for(file.path).open(file.path);
  const auto sink = file_system_for(file.path).create(file.sidecar);
  writer.write_to(identify(*source), *sink);
  sink->commit();
  const auto container = file.open();
  Reader read(*container);
  EXPECT_NO_THROW(read(0));
  EXPECT_THAT(refusal<CorruptError>([&] { read(1); }),
              HasSubstr("record 1, offset 40: no record begins here"));
  EXPECT_NO_THROW(read(2));
}

TEST(RecordIoSidecar, with_a_record_longer_than_any_can_be_is_refused_when_it_is_read) {
  RecordFile file(std::vector<std::string>{"first"});
  std::filesystem::resize_file(file.path, 16 + kMaxFramedBytes + 1);  // a hole, not a gigabyte
  SidecarWriter writer;
  writer.add_record({0, 16});
  writer.add_record({16, kMaxFramedBytes + 1});
  const auto source = file_system_for(file.path).open(file.path);
  const auto sink = file_system_for(file.path).create(file.sidecar);
  writer.write_to(identify(*source), *sink);
  sink->commit();
  const auto container = file.open();
  Reader read(*container);
  EXPECT_EQ(read.field(0, 0), "first");
  EXPECT_THAT(refusal<CorruptError>([&] { container->extent(1); }),
              HasSubstr("x.rec: record 1, offset 16: the record table has a record longer than any "
                        "can be: expected at most 1073741832 bytes, found 1073741833. Make a new "
                        "sidecar with 'fuelrail index'"));
}

TEST(RecordIoSidecar, whose_labels_contradict_the_file_is_found_when_a_record_is_read) {
  const auto opened_as = [](const std::vector<float>& labels, LabelSummary summary) {
    RecordFile file(std::vector<std::string>{image_payload(1, labels, "abcd")});
    SidecarWriter writer;
    writer.add_record({0, std::filesystem::file_size(file.path)});
    writer.set_labels(summary);
    const auto source = file_system_for(file.path).open(file.path);
    const auto sink = file_system_for(file.path).create(file.sidecar);
    writer.write_to(identify(*source), *sink);
    sink->commit();
    const auto container = file.open();
    Reader read(*container);
    return refusal<CorruptError>([&] { read(0); });
  };
  EXPECT_THAT(opened_as({0.5f}, {.width = 1, .integral = true}), HasSubstr("no whole number"));
  EXPECT_THAT(opened_as({NAN}, {.width = 1, .integral = true}), HasSubstr("no whole number"));
  EXPECT_THAT(opened_as({1, 2}, {.width = 1, .integral = true}), HasSubstr("number of labels"));
  EXPECT_THAT(opened_as({1, 2}, {.width = 3, .integral = true}),
              HasSubstr("number of labels than the others: expected 3, found 2"));
  EXPECT_EQ(opened_as({1, 2}, {.width = -1, .integral = true}), "accepted");
}

TEST(BuildSidecar, adds_checksums_and_keeps_class_names) {
  RecordFile file(ImageFile::payloads());
  const auto source = file_system_for(file.path).open(file.path);
  SidecarWriter writer;
  writer.add_record({0, source->size_bytes()});  // a table is not kept, right or wrong
  writer.set_classes({"cat", "dog"});
  const auto sink = file_system_for(file.path).create(file.sidecar);
  writer.write_to(identify(*source), *sink);
  sink->commit();

  const SidecarLocation location = build_sidecar(file.path);
  EXPECT_EQ(location.place, SidecarPlace::kBeside);
  EXPECT_EQ(location.uri, file.sidecar);
  const auto container = file.open();
  EXPECT_EQ(container->size(), 4u);
  EXPECT_TRUE(container->verifies_checksums());
  EXPECT_THAT(container->classes(), ElementsAre("cat", "dog"));
  EXPECT_EQ(container->sidecar().payload_crc(3), crc32(as_bytes(ImageFile::payloads()[3])));
}

TEST(BuildSidecar, without_checksums_equals_what_a_scan_leaves) {
  RecordFile file(MultiLabelFile::payloads());
  file.open();
  const std::string scanned = file_contents(file.sidecar);
  build_sidecar(file.path, {.checksums = false});
  EXPECT_EQ(file_contents(file.sidecar), scanned);
}

TEST(BuildSidecar, reports_progress_and_stops_when_told) {
  RecordFile file(std::vector<std::string>(5000, "x"));
  std::vector<uint64_t> done;
  build_sidecar(file.path, {.progress = [&](uint64_t at, uint64_t total) {
                  EXPECT_EQ(total, 5000u * 12);
                  done.push_back(at);
                  return true;
                }});
  EXPECT_GT(done.size(), 3u);
  EXPECT_EQ(done.back(), 5000u * 12);
  const std::string before = file_contents(file.sidecar);
  EXPECT_THROW(build_sidecar(file.path, {.progress = [](uint64_t, uint64_t) { return false; }}),
               StateError);
  EXPECT_EQ(file_contents(file.sidecar), before);
}

TEST(BuildSidecar, does_not_overwrite_what_is_no_sidecar_of_the_file) {
  RecordFile file(std::vector<std::string>{"x"});
  write_file(file.sidecar, "somebody's notes");
  EXPECT_THROW(build_sidecar(file.path), CorruptError);
  EXPECT_EQ(file_contents(file.sidecar), "somebody's notes");
}

TEST(Scan, large_small_and_split_records_in_any_order_are_found) {
  std::vector<std::string> payloads;
  for (size_t i = 0; i < 60; ++i) {
    std::string image(i % 3 == 0 ? 30'000 + i : i % 3 == 1 ? 5 : 700'000, char('a' + i % 26));
    if (i % 7 == 0) image.replace(0, 4, kMagicText);
    payloads.push_back(image_payload(i, std::vector<float>(1 + i % 200, float(i)), image));
  }
  RecordFile file(payloads);
  const auto container = file.open();
  ASSERT_EQ(container->size(), payloads.size());
  Reader read(*container);
  for (size_t i = 0; i < payloads.size(); ++i) {
    ASSERT_EQ(read(i).id, i);
    ASSERT_EQ(read(i).fields[1].shape.at(0), int64_t(1 + i % 200));
    ASSERT_TRUE(read.field(i, 0) ==
                payloads[i].substr(payloads[i].size() - read.field(i, 0).size()));
  }
}

}  // namespace
}  // namespace fuelrail::recordio
