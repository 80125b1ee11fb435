// Names from outside are escaped for the terminal in every message; bytes of records are not
// escaped.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "fuelrail/base/bytes.h"
#include "fuelrail/container/open.h"
#include "fuelrail/container/record_file.h"
#include "fuelrail/storage/file_system.h"
#include "fuelrail/testing/cli_call.h"
#include "fuelrail/testing/photographs.h"
#include "fuelrail/testing/temporary_directory.h"

namespace fuelrail {
namespace {

using testing::call;
using ::testing::HasSubstr;
using testing::Said;

struct Hostile {
  std::string name;
  std::string shown;
};

const std::vector<Hostile>& hostile_names() {
  static const std::vector<Hostile> names{
      {"\x1b]0;title\x07\x1b[2J", R"(\u001b]0;title\u0007\u001b[2J)"},
      {"all well\nx.rec: 3 records", R"(all well\nx.rec: 3 records)"},
      {"\x7f\xc2\x9b"
       "31m",
       R"(\u007f\u009b31m)"},
      {"a\xe2\x80\xae"
       "b\xe2\x81\xa6"
       "c\xd8\x9c"
       "d\xe2\x80\x8e",
       R"(a\u202eb\u2066c\u061cd\u200e)"},
      {"\xff\x9b"
       "1m\xc0\x9b\xed\xa0\x80",
       R"(\xff\x9b1m\xc0\x9b\xed\xa0\x80)"},
  };
  return names;
}

// Contains no byte that controls a terminal, except line ends.
bool is_harmless(const std::string& text) {
  for (const Hostile& hostile : hostile_names()) {
    if (text.find(hostile.name) != std::string::npos) return false;
  }
  return text.find_first_of("\x1b\x07\x7f\x9b\xff\r") == std::string::npos;
}

class CliTerminal : public ::testing::Test {
 protected:
  // A downloaded file: one image per class, with class names in its sidecar.
  void SetUp() override {
    std::vector<std::string> names;
    for (size_t i = 0; i < hostile_names().size(); ++i) {
      write_file(directory_ / ("photos/" + std::to_string(i) + "/0.jpg"),
                 as_text(make_jpeg(20, 30, i)));
      names.push_back(hostile_names()[i].name);
    }
    ASSERT_EQ(call({"pack", directory_ / "photos", rec_, "-q"}).code, 0);
    const auto packed = open_container(rec_);
    const Sidecar& made = dynamic_cast<const RecordFile&>(*packed).sidecar();
    SidecarWriter writer;
    for (uint64_t i = 0; i < made.records(); ++i) {
      writer.add_record(made.record(i), made.payload_crc(i));
    }
    writer.set_labels(*made.labels());
    writer.set_classes(names);
    const auto sink = file_system_for(rec_).create(rec_ + ".frx");
    writer.write_to(made.identity(), *sink);
    sink->commit();
  }

  TemporaryDirectory directory_;
  std::string rec_ = directory_ / "x.rec";
};

TEST_F(CliTerminal, class_names_of_a_sidecar_are_escaped) {
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"info", rec_}, {"ls", rec_}}) {
    const Said said = call(command);
    EXPECT_EQ(said.code, 0);
    EXPECT_TRUE(is_harmless(said.out)) << said.out;
    for (const Hostile& hostile : hostile_names()) EXPECT_THAT(said.out, HasSubstr(hostile.shown));
  }
}

TEST_F(CliTerminal, json_is_harmless_and_parses_to_the_names) {
  const Said said = call({"info", rec_, "--json"});
  EXPECT_TRUE(is_harmless(said.out)) << said.out;
  const auto classes = nlohmann::json::parse(said.out)["classes"];
  ASSERT_EQ(classes.size(), hostile_names().size());
  for (size_t i = 0; i + 1 < classes.size(); ++i) EXPECT_EQ(classes[i], hostile_names()[i].name);
  const Said listed = call({"ls", rec_, "--json"});
  EXPECT_TRUE(is_harmless(listed.out)) << listed.out;
  EXPECT_EQ(nlohmann::json::parse(listed.out)[2]["class"], hostile_names()[2].name);
}

TEST_F(CliTerminal, file_names_are_escaped_in_results_warnings_and_errors) {
  for (const Hostile& hostile : hostile_names()) {
    write_file(directory_ / ("bad/" + hostile.name + "/0.jpg"), "no image");
  }
  write_file(directory_ / "bad/good/0.jpg", as_text(make_jpeg(20, 30, 1)));
  const std::string out = hostile_names()[0].name + ".rec";
  const Said packed = call({"pack", directory_ / "bad", directory_ / out, "--max-errors", "9"});
  EXPECT_THAT(packed.out, HasSubstr(hostile_names()[0].shown + ".rec: 1 record"));
  const Said verified = call({"verify", directory_ / "bad"});
  EXPECT_TRUE(is_harmless(packed.out + packed.err)) << packed.out << packed.err;
  EXPECT_TRUE(is_harmless(verified.out + verified.err)) << verified.out << verified.err;
  for (const Hostile& hostile : hostile_names()) {
    EXPECT_THAT(packed.err, HasSubstr(hostile.shown + "/0.jpg"));
    EXPECT_THAT(verified.out, HasSubstr(hostile.shown + "/0.jpg"));
    const Said missing = call({"info", directory_ / (hostile.name + "/nosuch.rec")});
    EXPECT_THAT(missing.err, HasSubstr(hostile.shown + "/nosuch.rec"));
    EXPECT_TRUE(is_harmless(missing.err)) << missing.err;
  }
}

TEST_F(CliTerminal, bytes_of_records_stay_raw) {
  write_file(directory_ / "raw/a/0.jpg", as_text(make_jpeg(20, 30, 1)));
  const Said said = call({"cat", directory_ / "raw", "0"});
  EXPECT_EQ(said.out, as_text(make_jpeg(20, 30, 1)));
}

}  // namespace
}  // namespace fuelrail
