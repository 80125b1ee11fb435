// Commands on files of sample records.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "fuelrail/container/build_sidecar.h"
#include "fuelrail/container/recordio/record_writer.h"
#include "fuelrail/container/recordio/recordio_container.h"
#include "fuelrail/container/sidecar/sidecar_store.h"
#include "fuelrail/encode/png_encoder.h"
#include "fuelrail/storage/file_system.h"
#include "fuelrail/testing/cli_call.h"
#include "fuelrail/testing/made_samples.h"
#include "fuelrail/testing/npy_text.h"
#include "fuelrail/testing/photographs.h"
#include "fuelrail/testing/temporary_directory.h"

namespace fuelrail {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using testing::call;
using ::testing::HasSubstr;
using testing::made_schema;
using testing::MadeSample;
using ::testing::Not;
using testing::Said;

void write_records(const std::string& path, const std::vector<std::string>& payloads) {
  const auto sink = file_system_for(path).create(path);
  recordio::RecordWriter writer(*sink);
  for (const std::string& payload : payloads) writer.append(as_bytes(payload));
  sink->commit();
}

std::string grey_png() {
  const std::vector<uint8_t> numbers(20 * 30, 7);
  std::vector<std::byte> png;
  encode_png({numbers.data(), 20, 30, 1, 30}, kDefaultPngLevel, png);
  return std::string(as_text(png));
}

// Records whose images are JPEGs of 20 x 30, in a file whose sidecar has class names.
class CliSamples : public ::testing::Test {
 protected:
  static MadeSample sample(uint64_t i) {
    MadeSample made(i);
    made.image = std::string(as_text(make_jpeg(20, 30, i)));
    made.mask = grey_png();
    return made;
  }

  void write(const std::vector<std::string>& payloads) {
    std::filesystem::remove(path + ".frx");
    write_records(path, payloads);
    build_sidecar(path);
  }

  void SetUp() override {
    std::vector<std::string> payloads;
    for (uint64_t i = 0; i < 5; ++i)
      payloads.push_back(testing::encoded(made_schema(), sample(i), i));
    write(payloads);
  }

  // Writes the sidecar again, with class names for the labels of the boxes.
  void name_classes(const std::vector<std::string>& names) {
    const auto file = recordio::open_recordio(path);
    SidecarWriter writer;
    for (uint64_t i = 0; i < file->size(); ++i) {
      writer.add_record(file->sidecar().record(i), *file->payload_crc(i));
    }
    writer.set_payloads(file->sidecar().payloads());
    writer.set_field_classes({{"cameras.0.labels", names}});
    const auto sink = file_system_for(path).create(path + ".frx");
    writer.write_to(file->sidecar().identity(), *sink);
    sink->commit();
  }

  TemporaryDirectory directory;
  std::string path = directory / "drive.rec";
};

TEST_F(CliSamples, info_shows_the_fields_as_a_table) {
  const std::string out = call({"info", path}).out;
  EXPECT_THAT(out, HasSubstr("  fields       name                  kind          dtype    shape    "
                             "role    of               rows             properties\n"
                             "               cameras.0.image       image         -        -        "
                             "image   -                -\n"
                             "               cameras.0.mask        image         -        -        "
                             "mask    cameras.0.image  -                fill 255\n"
                             "               cameras.0.boxes       tensor        float32  [-1, 4]  "
                             "boxes   cameras.0.image  cameras.0.boxes  xyxy\n"));
  EXPECT_THAT(out, HasSubstr("               captions              list of text  -"));
  EXPECT_THAT(out, HasSubstr("classes      cameras.0.labels: names unknown"));
  EXPECT_THAT(out, HasSubstr("images       5 jpeg of 5 records sampled"));

  const json document = json::parse(call({"info", path, "--json"}).out);
  const json& boxes = document["fields"][2];
  EXPECT_EQ(boxes["name"], "cameras.0.boxes");
  EXPECT_EQ(boxes["kind"], "boxes: tensor float32 [-1, 4]");
  EXPECT_EQ(boxes["dtype"], "float32");
  EXPECT_EQ(boxes["shape"], (std::vector<int>{-1, 4}));
  EXPECT_EQ(boxes["role"], "boxes");
  EXPECT_EQ(boxes["of"], "cameras.0.image");
  EXPECT_EQ(boxes["rows"], "cameras.0.boxes");
  EXPECT_EQ(boxes["properties"], (std::vector<std::string>{"xyxy"}));
  EXPECT_TRUE(boxes["classes"].is_null());
  EXPECT_EQ(document["opaque"], false);
}

TEST_F(CliSamples, info_shows_the_class_names_of_each_field) {
  name_classes({"car", "bus"});
  const std::string out = call({"info", path}).out;
  EXPECT_THAT(out, HasSubstr("classes      cameras.0.labels: 2: car, bus\n"));
  EXPECT_THAT(out, HasSubstr("2 class names\n"));
  EXPECT_EQ(json::parse(call({"info", path, "--json"}).out)["fields"][3]["classes"],
            (std::vector<std::string>{"car", "bus"}));
}

TEST_F(CliSamples, cat_json_nests_a_sample) {
  const json document = json::parse(call({"cat", path, "2", "--json"}).out);
  EXPECT_EQ(document["record"], 2);
  EXPECT_EQ(document["id"], 2);
  const json& sample = document["sample"];
  const json& camera = sample["cameras"][0];
  EXPECT_EQ(camera["image"]["format"], "jpeg");
  EXPECT_EQ(camera["image"]["height"], 20);
  EXPECT_EQ(camera["image"]["width"], 30);
  EXPECT_EQ(camera["image"]["bytes"], make_jpeg(20, 30, 2).size());
  EXPECT_EQ(camera["boxes"], json::parse("[[0.0, 0.0, 2.0, 3.0], [1.0, 1.0, 3.0, 4.0]]"));
  EXPECT_EQ(camera["labels"], json::parse("[0, 1]"));
  EXPECT_EQ(camera["intrinsics"][1], json::parse("[0.0, 1.0, 0.0]"));
  EXPECT_EQ(sample["captions"], json::parse("[\"caption \xc3\xa9 0\", \"caption \xc3\xa9 1\"]"));
  EXPECT_EQ(sample["extra"], json::parse("{\"bytes\": 5}"));
  EXPECT_EQ(sample["label"], 0);
  EXPECT_EQ(json::parse(call({"cat", path, "0", "--json"}).out)["sample"]["cameras"][0]["boxes"],
            json::array());

  EXPECT_EQ(call({"cat", path, "2", "--json", "--field", "cameras.0.labels"}).out,
            "{\"record\":2,\"id\":2,\"path\":\"" + path +
                "\",\"sample\":{\"cameras\":[{\"labels\":[0,1]}]}}\n");
  const std::string lines = call({"cat", path, ":2", "--json", "--field", "captions"}).out;
  EXPECT_EQ(std::ranges::count(lines, '\n'), 2);

  const std::string folder = directory / "out";
  EXPECT_EQ(call({"cat", path, ":2", "--json", "-o", folder}).code, 0);
  EXPECT_EQ(json::parse(file_contents(folder + "/1.json"))["record"], 1);
}

TEST_F(CliSamples, cat_writes_the_chosen_field) {
  EXPECT_EQ(call({"cat", path, "3"}).out, sample(3).image);
  EXPECT_EQ(call({"cat", path, "3", "--field", "extra"}).out, "extra");
  EXPECT_THAT(call({"cat", path, "3", "--field", "captions"}).err, HasSubstr("Use --json"));
  EXPECT_THAT(call({"cat", path, "3", "--field", "extre"}).err, HasSubstr("Did you mean 'extra'?"));
  EXPECT_THAT(call({"cat", path, "3", "--json", "--png"}).err,
              HasSubstr("--png and --json cannot be combined"));
}

TEST_F(CliSamples, cat_says_why_a_field_is_no_png) {
  EXPECT_THAT(call({"cat", path, "2", "--png", "--field", "cameras.0.boxes"}).err,
              HasSubstr("the field is not an image, so it cannot be written as PNG: found boxes: "
                        "tensor float32 [-1, 4]. Use --json to write its value"));
  Schema schema = made_schema();
  schema.fields[testing::kMadeMask].role = Role::kMap;
  MadeSample made = sample(1);
  made.mask = testing::npy_text("<f4", "(20, 30)", std::vector<float>(20 * 30));
  write({testing::encoded(schema, made, 1)});
  EXPECT_THAT(call({"cat", path, "0", "--png", "--field", "cameras.0.mask"}).err,
              HasSubstr("found float32. Omit --png to write the stored bytes of the map, or read "
                        "its values in Python"));
}

TEST_F(CliSamples, ls_shows_the_first_image_and_the_label) {
  const std::string out = call({"ls", path}).out;
  EXPECT_THAT(out, HasSubstr("        3         3       1 jpeg         20 x 30"));
}

TEST_F(CliSamples, verify_decodes_every_image_and_names_the_field) {
  EXPECT_EQ(call({"verify", "--decode", path}).code, 0);
  const auto verified = [&](const std::string& mask, bool decode) {
    MadeSample damaged = sample(1);
    damaged.mask = mask;
    write({testing::encoded(made_schema(), sample(0), 0),
           testing::encoded(made_schema(), damaged, 1)});
    const Said said = decode ? call({"verify", "--decode", path}) : call({"verify", path});
    EXPECT_EQ(said.code, 1);
    return said.out + said.err;
  };
  const std::string mask = grey_png();
  const std::string cut = verified(mask.substr(0, mask.size() / 2), true);
  EXPECT_THAT(cut, HasSubstr("record 1, field 'cameras.0.mask', offset "));
  for (const bool decode : {false, true}) {  // the header tells that the mask has no numbers
    EXPECT_THAT(verified(sample(1).image, decode),
                AllOf(HasSubstr("record 1, field 'cameras.0.mask', offset "),
                      HasSubstr(": the image has colours or alpha")));
  }
}

TEST_F(CliSamples, verify_refuses_a_label_that_has_no_class_name) {
  name_classes({"car", "bus"});
  EXPECT_EQ(call({"verify", "--decode", path}).code, 0);
  name_classes({"car"});
  const Said said = call({"verify", "--decode", path});
  EXPECT_EQ(said.code, 1);
  EXPECT_THAT(said.out + said.err,
              AllOf(HasSubstr("record 2, "),
                    HasSubstr("field 'cameras.0.labels' has a label that is not one of its "
                              "classes: expected 0 to 0, because the number of class names is 1, "
                              "found 1 in row 1")));
}

// A mask, and then the clip that it belongs to. Sample i has i frames.
std::string clip_record(uint64_t i) {
  const Schema schema{
      {{.name = "mask", .kind = FieldKind::kImage, .role = Role::kMask, .of = 1},
       {.name = "clip", .kind = FieldKind::kImage, .role = Role::kImage, .flags = kListField}}};
  const std::string mask = grey_png();
  std::vector<std::vector<std::byte>> frames;
  for (uint64_t k = 0; k < i; ++k) frames.push_back(make_jpeg(20, 30, k));
  std::vector<FieldValue> values(2);
  values[0].bytes = as_bytes(mask);
  values[1].items.assign(frames.begin(), frames.end());
  std::vector<std::byte> payload;
  SampleEncoder(schema).append(i, values, payload);
  return std::string(as_text(payload));
}

TEST(CliClips, bench_and_ls_use_the_frames) {
  const TemporaryDirectory directory;
  const std::string path = directory / "clips.rec";
  write_records(path, {clip_record(0), clip_record(3), clip_record(1)});
  const Said said =
      call({"bench", path, "--json", "--crop", "16", "--epochs", "1", "--seconds", "0.01"});
  ASSERT_EQ(said.code, 0) << said.err;
  const json report = json::parse(said.out);
  EXPECT_EQ(report["settings"]["field"], "clip");
  EXPECT_EQ(report["limit"]["unusable_records"], 0);
  EXPECT_EQ(report["limit"]["median_shorter_side"], 20);
  EXPECT_EQ(report["loader"]["bad_records"], 0);
  EXPECT_THAT(call({"ls", path}).out, HasSubstr("jpeg         20 x 30"));
}

TEST(CliClips, verify_names_the_frame) {
  const TemporaryDirectory directory;
  const std::string path = directory / "clips.rec";
  std::string record = clip_record(3);
  const std::string frame(as_text(make_jpeg(20, 30, 2)));
  record[record.find(frame) + 1] ^= 1;  // in the last frame's signature
  write_records(path, {clip_record(2), record});
  const Said said = call({"verify", path});
  EXPECT_EQ(said.code, 1);
  EXPECT_THAT(said.out, HasSubstr("record 1, field 'clip[2]', offset "));
}

TEST_F(CliSamples, packing_refuses_to_lose_fields) {
  for (const char* name : {"again.rec", "again.bzna"}) {
    const Said said = call({"pack", path, directory / name});
    EXPECT_NE(said.code, 0);
    EXPECT_THAT(said.err, HasSubstr("drive.rec"));
  }
}

TEST(CliSampleFiles, tensors_of_millions_of_numbers_are_shown_by_their_size) {
  const TemporaryDirectory directory;
  const std::string path = directory / "long.rec";
  const Schema schema{{{.name = "x", .kind = FieldKind::kTensor, .shape = {-1}}}};
  const std::vector<std::byte> numbers((size_t{1} << 22) + 1);
  std::vector<FieldValue> values(1);
  values[0].bytes = numbers;
  values[0].shape = {static_cast<int64_t>(numbers.size())};
  std::vector<std::byte> payload;
  SampleEncoder(schema).append(0, values, payload);
  write_records(path, {std::string(as_text(payload))});
  EXPECT_THAT(call({"cat", path, "0", "--json"}).out,
              HasSubstr("{\"x\":{\"dtype\":\"uint8\",\"shape\":[4194305],\"bytes\":4194305}}"));
}

TEST(CliSampleFiles, without_images_are_not_opaque) {
  const TemporaryDirectory directory;
  const std::string path = directory / "texts.rec";
  const Schema schema{{{.name = "text", .kind = FieldKind::kText}}};
  std::vector<std::string> payloads;
  for (const char* text : {"one", "two"}) {
    std::vector<FieldValue> values(1);
    values[0].bytes = as_bytes(std::string_view(text));
    std::vector<std::byte> payload;
    SampleEncoder(schema).append(0, values, payload);
    payloads.emplace_back(as_text(payload));
  }
  write_records(path, payloads);
  const Said said = call({"info", path});
  EXPECT_EQ(said.code, 0);
  EXPECT_THAT(said.out, HasSubstr("fields       name  kind  dtype"));
  EXPECT_THAT(said.out, Not(HasSubstr("opaque")));
  EXPECT_THAT(said.out, Not(HasSubstr("images ")));
  EXPECT_EQ(call({"cat", path, "1"}).out, "two");
  EXPECT_EQ(json::parse(call({"cat", path, "1", "--json"}).out)["sample"]["text"], "two");
  EXPECT_EQ(call({"verify", path}).code, 0);
}

}  // namespace
}  // namespace fuelrail
