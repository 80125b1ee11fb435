// Files of sample records: opened, indexed, damaged, joined.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "fuelrail/base/error.h"
#include "fuelrail/container/build_sidecar.h"
#include "fuelrail/container/class_names.h"
#include "fuelrail/container/concat.h"
#include "fuelrail/container/open.h"
#include "fuelrail/container/sidecar/sidecar_store.h"
#include "fuelrail/container/subset.h"
#include "fuelrail/storage/file_system.h"
#include "fuelrail/testing/ffrecord_file.h"
#include "fuelrail/testing/made_samples.h"
#include "fuelrail/testing/record_file.h"
#include "fuelrail/testing/refusal.h"

namespace fuelrail {
namespace {

using recordio::framed_file;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::made_payload;
using testing::made_payloads;
using testing::made_schema;
using testing::MadeSample;
using testing::refusal_of;

// The same records as a file of each format.
struct SampleFiles {
  explicit SampleFiles(const std::vector<std::string>& payloads) {
    write_file(rec, framed_file(payloads));
    write_file(ffr, ffrecord::file_of(payloads));
  }
  TemporaryDirectory directory;
  std::string rec = directory / "x.rec";
  std::string ffr = directory / "x.ffr";
  std::vector<std::string> both() const { return {rec, ffr}; }
};

void expect_samples(const Container& container, uint64_t count) {
  ASSERT_EQ(container.size(), count);
  EXPECT_EQ(container.schema(), made_schema());
  std::vector<std::byte> framed;
  Sample sample;
  for (uint64_t i = 0; i < count; ++i) {
    read_sample(container, i, framed, sample);
    const MadeSample made(i);
    EXPECT_EQ(sample.id, i + 100);
    EXPECT_EQ(as_text(sample.fields[testing::kMadeImage].bytes), made.image);
    EXPECT_THAT(sample.fields[testing::kMadeBoxes].shape, ElementsAre(made.labels.size(), 4));
    EXPECT_EQ(sample.fields[testing::kMadeCaptions].items.size(), made.captions.size());
  }
}

TEST(SampleFiles, are_opened_by_a_scan_and_by_the_sidecar_that_it_leaves) {
  const SampleFiles files(made_payloads(9));
  for (const std::string& path : files.both()) {
    expect_samples(*open_container(path, {.ignore_sidecar = true}), 9);
    EXPECT_FALSE(std::filesystem::exists(path + ".frx"));
    expect_samples(*open_container(path), 9);
    const auto sidecar = Sidecar::open(file_system_for(path).open(path + ".frx"));
    EXPECT_EQ(sidecar->payloads(), (PayloadKind{.samples = made_schema()}));
    EXPECT_FALSE(sidecar->section(kFieldsSection)->kept());
    expect_samples(*open_container(path), 9);
  }
}

// Writes the sidecar of the file `path`.
void write_sidecar(const std::string& path, const PayloadKind& kind,
                   const std::vector<std::string>& labels, const FieldClasses& others) {
  const auto opened = open_container(path);
  const auto source = file_system_for(path).open(path);
  SidecarWriter writer;
  for (uint64_t i = 0; i < opened->size(); ++i) {
    const Extent extent = opened->record_extent(i);
    path.ends_with(".rec") ? writer.add_record({extent.offset, extent.length})
                           : writer.add_length(extent.length);
  }
  writer.set_payloads(kind);
  writer.set_classes(labels);
  writer.set_field_classes(others);
  const auto sink = file_system_for(path).create(path + ".frx");
  writer.write_to(identify(*source), *sink);
  sink->commit();
}

// Writes the sidecar with class names for the fields.
void name_classes(const std::string& path, const std::vector<std::string>& labels,
                  const FieldClasses& others) {
  write_sidecar(path, {.samples = made_schema()}, labels, others);
}

TEST(SampleFiles, keep_class_names_of_fields_when_the_sidecar_is_rebuilt) {
  const SampleFiles files(made_payloads(3));
  for (const std::string& path : files.both()) {
    name_classes(path, {"day", "night"}, {{"cameras.0.labels", {"car", "caf\xc3\xa9"}}});
    build_sidecar(path);
    const auto container = open_container(path);
    expect_samples(*container, 3);
    EXPECT_TRUE(container->verifies_checksums());
    EXPECT_THAT(container->classes(), ElementsAre("day", "night"));
    EXPECT_THAT(container->classes_of("label"), ElementsAre("day", "night"));
    EXPECT_THAT(container->classes_of("cameras.0.labels"), ElementsAre("car", "caf\xc3\xa9"));
    EXPECT_THAT(container->classes_of("extra"), IsEmpty());
    EXPECT_THAT(subset(container, {1})->classes_of("cameras.0.labels"),
                ElementsAre("car", "caf\xc3\xa9"));
    const auto twice = concat({container, container});
    EXPECT_THAT(twice->classes_of("cameras.0.labels"), ElementsAre("car", "caf\xc3\xa9"));
  }
}

TEST(SampleFiles, give_their_class_names_to_other_files) {
  const SampleFiles files(made_payloads(2));
  name_classes(files.rec, {}, {{"cameras.0.labels", {"car", "bus"}}});
  EXPECT_THAT(read_class_names(files.rec), ElementsAre("car", "bus"));
  EXPECT_EQ(open_container(files.rec, {.classes = {"car", "bus"}})->size(), 2u);
  EXPECT_THAT(refusal_of<InvalidArgumentError>([&] {
                open_container(files.rec, {.classes = {"car", "dog"}});
              }),
              HasSubstr("expected 'dog' as class 1, found 'bus' as class 1"));
}

TEST(SampleFiles, are_opened_without_class_names_that_are_empty_or_repeated) {
  const SampleFiles files(made_payloads(2));
  for (const std::string& path : files.both()) {
    std::vector<std::string> warnings;
    const auto expect_ignored = [&](const std::string& reason) {
      const auto container = open_container(
          path, {.warn = [&](const std::string& text) { warnings.push_back(text); }});
      expect_samples(*container, 2);
      EXPECT_THAT(container->classes_of("cameras.0.labels"), IsEmpty());
      EXPECT_THAT(warnings, Contains(AllOf(HasSubstr("a sidecar is ignored"), HasSubstr(reason))));
    };
    name_classes(path, {}, {{"cameras.0.labels", {"car", "car"}}});
    expect_ignored(
        "the sidecar's class names of the field 'cameras.0.labels' are invalid: two classes have "
        "the same name: expected a different name for each class, found 'car' as class 0 and 1. "
        "Move the sidecar away");
    std::filesystem::remove(path + ".frx");
    name_classes(path, {"day", ""}, {});
    expect_ignored("names of the field 'label' are invalid: the name of a class is empty");
  }
}

TEST(SampleFiles, with_class_names_refuse_other_labels) {
  const SampleFiles files(made_payloads(3));
  for (const std::string& path : files.both()) {
    name_classes(path, {"day", "night"}, {{"cameras.0.labels", {"car"}}});
    const auto container = open_container(path);
    std::vector<std::byte> framed;
    Sample sample;
    read_sample(*container, 1, framed, sample);
    EXPECT_THAT(
        refusal_of<CorruptError>([&] { read_sample(*container, 2, framed, sample); }),
        AllOf(HasSubstr(path + ": record 2, "),
              HasSubstr("field 'cameras.0.labels' has a label that is not one of its classes: "
                        "expected 0 to 0, because the number of class names is 1, found 1 in row "
                        "1")));
    expect_samples(*open_container(path, {.ignore_sidecar = true}), 3);
  }
}

TEST(SampleFiles, with_checksums_notice_every_changed_byte) {
  const SampleFiles files({made_payload(4)});
  for (const std::string& path : files.both()) {
    build_sidecar(path);
    const auto container = open_container(path);
    const Extent extent = container->record_extent(0);
    std::vector<std::byte> framed(extent.length);
    extent.source->read(extent.offset, framed);
    Sample sample;
    for (size_t at = 0; at < framed.size(); ++at) {
      framed[at] ^= std::byte{0x10};
      EXPECT_THROW(container->parse(0, framed, sample), Error) << path << " byte " << at;
      framed[at] ^= std::byte{0x10};
    }
    for (size_t size = 0; size < framed.size(); ++size) {
      EXPECT_THROW(container->parse(0, Bytes(framed).first(size), sample), Error)
          << path << " " << size;
    }
    EXPECT_NO_THROW(container->parse(0, framed, sample));
  }
}

TEST(SampleFiles, records_of_another_kind_are_damaged_ones) {
  std::vector<std::string> payloads = made_payloads(4);
  payloads[1] = recordio::image_payload(1, {1}, "\xff\xd8\xff");
  const SampleFiles files(payloads);
  for (const std::string& path : files.both()) {
    const auto container = open_container(path);
    EXPECT_EQ(container->schema(), made_schema());
    std::vector<std::byte> framed;
    Sample sample;
    EXPECT_THAT(refusal_of<CorruptError>([&] { read_sample(*container, 1, framed, sample); }),
                HasSubstr("record 1"));
    EXPECT_NO_THROW(read_sample(*container, 2, framed, sample));
  }
}

TEST(SampleFiles, with_different_fields_cannot_be_joined) {
  Schema schema = made_schema();
  schema.fields[testing::kMadeExtra].name = "other";
  const SampleFiles files(made_payloads(2));
  const SampleFiles others({testing::encoded(schema, MadeSample(0), 0)});
  const auto joined = concat({open_container(files.rec), open_container(files.ffr)});
  EXPECT_EQ(joined->size(), 4u);
  EXPECT_THAT(
      refusal_of<InvalidArgumentError>([&] {
        concat({open_container(files.rec), open_container(others.rec)});
      }),
      HasSubstr(
          "part 1 does not have the same fields as the parts before it: expected extra: bytes; no "
          "field 'other', found no field 'extra'; other: bytes"));
}

TEST(SampleFiles, of_unknown_fields_ask_for_a_newer_version) {
  std::string payload = made_payload(0);
  payload[32] = 9;  // the kind of the first field
  const SampleFiles files({payload});
  for (const std::string& path : files.both()) {
    const std::string text = refusal_of<UnsupportedError>([&] { open_container(path); });
    EXPECT_THAT(text, HasSubstr(path));
    EXPECT_THAT(text, HasSubstr("field 'cameras.0.image' has an unknown kind"));
  }
}

TEST(SampleFiles, whose_fields_break_a_rule_do_not_open) {
  std::string payload = made_payload(0);
  payload[36] = payload[37] = 0;  // the first field, an image, is `of` itself
  const SampleFiles files({payload, payload});
  for (const std::string& path : files.both()) {
    EXPECT_THAT(refusal_of<CorruptError>([&] { open_container(path); }),
                AllOf(HasSubstr(path),
                      HasSubstr("field 'cameras.0.image' refers to a field that "
                                "is not an image of its own"),
                      HasSubstr("Restore the file")));
    EXPECT_FALSE(std::filesystem::exists(path + ".frx"));
  }
}

TEST(SampleFiles, ignore_a_sidecar_that_knows_no_fields) {
  const SampleFiles files(made_payloads(3));
  for (const std::string& path : files.both()) {
    write_sidecar(path, {}, {}, {});
    std::vector<std::string> warnings;
    const auto container =
        open_container(path, {.warn = [&](const std::string& text) { warnings.push_back(text); }});
    expect_samples(*container, 3);
    EXPECT_THAT(warnings,
                Contains(HasSubstr("the sidecar has no fields, but the file's records are sample "
                                   "records. Move the sidecar away")));
  }
}

TEST(FieldClasses, are_json_that_ignores_other_members) {
  const FieldClasses classes{{"a.labels", {"x", "\"quoted\"", "\xc3\xa9"}}, {"b", {}}};
  EXPECT_EQ(parse_field_classes(json_of(classes)), classes);
  EXPECT_EQ(json_of({{"b", {"x"}}}), "{\"classes\":{\"b\":[\"x\"]}}");
  EXPECT_THAT(parse_field_classes(R"({"later": [[[[[[]]]]]]})"), IsEmpty());
  for (const char* text : {"", "[]", "{", R"({"classes": []})", R"({"classes": {"a": "x"}})",
                           R"({"classes": {"a": [1]}})", R"({"classes": {"a": [["x"]]}})"}) {
    EXPECT_THROW(parse_field_classes(text), CorruptError) << text;
  }
}

}  // namespace
}  // namespace fuelrail
