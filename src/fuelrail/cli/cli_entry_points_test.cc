// Entry points of JPEGs: which commands make them, carry them along and speak of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "fuelrail/container/build_sidecar.h"
#include "fuelrail/container/open.h"
#include "fuelrail/container/record_file.h"
#include "fuelrail/decode/decoder.h"
#include "fuelrail/testing/cli_call.h"
#include "fuelrail/testing/photographs.h"
#include "fuelrail/testing/temporary_directory.h"

namespace fuelrail {
namespace {

using ::testing::AllOf;
using testing::call;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::Said;

// A folder of four JPEGs, which are large enough for entry points, and a file packed from it.
class CliEntryPoints : public ::testing::Test {
 protected:
  CliEntryPoints() {
    for (const char* name : {"ant/0", "ant/1", "bee/0", "bee/1"}) {
      write_file(directory_ / (std::string("photos/") + name + ".jpg"),
                 as_text(make_jpeg(200, 300 + static_cast<int>(name[4]), 1)));
    }
  }

  std::string at(const std::string& name) const { return directory_ / name; }
  std::string packed(const std::string& name, std::vector<std::string> options = {}) const {
    options.insert(options.begin(), {"pack", at("photos"), at(name), "-q"});
    const Said said = call(options);
    EXPECT_EQ(said.code, 0) << said.err;
    return at(name);
  }
  static std::string frx(const std::string& file) { return file_contents(file + ".frx"); }
  // The number of records with entry points.
  static uint64_t with_entry_points(const std::string& file) {
    const auto container = open_container(file);
    const Sidecar& sidecar = dynamic_cast<const RecordFile&>(*container).sidecar();
    return sidecar.has_hints() ? sidecar.hinted_records() : 0;
  }

  TemporaryDirectory directory_;
};

TEST_F(CliEntryPoints, index_makes_them_unless_told_not_to) {
  for (const char* name : {"x.rec", "x.ffr"}) {
    const std::string file = packed(name);
    const std::string without = frx(file);
    EXPECT_EQ(with_entry_points(file), 0u);
    ASSERT_EQ(call({"index", file, "-q", "--threads", "1"}).code, 0);
    EXPECT_EQ(with_entry_points(file), 4u);
    const std::string with = frx(file);
    EXPECT_THAT(call({"index", file, "--threads", "3"}).err,
                HasSubstr("entry points in 4 of 4 records"));
    EXPECT_EQ(frx(file), with);
    EXPECT_EQ(call({"verify", file, "-q"}).code, 0);
    ASSERT_EQ(call({"index", file, "-q", "--no-entry-points"}).code, 0);
    EXPECT_EQ(frx(file), without);
  }
}

TEST_F(CliEntryPoints, index_refuses_wrong_options) {
  const std::string file = packed("x.rec");
  EXPECT_EQ(call({"index", file, "--threads", "0"}).code, 2);
  EXPECT_EQ(call({"index", file, "--threads", "2", "--no-entry-points"}).code, 2);
  const Said said = call({"index", file, "--no-entry-point"});
  EXPECT_EQ(said.code, 2);
  EXPECT_THAT(said.err, HasSubstr("--no-entry-points"));
}

TEST_F(CliEntryPoints, pack_makes_them_if_asked_and_otherwise_says_how_to_get_them) {
  const Said without = call({"pack", at("photos"), at("x.rec")});
  EXPECT_THAT(without.err, HasSubstr("tip: 'fuelrail index " + at("x.rec") + "'"));
  const Said with = call({"pack", at("photos"), at("y.rec"), "--entry-points"});
  EXPECT_THAT(with.err, Not(HasSubstr("tip")));
  EXPECT_THAT(with.out, HasSubstr(at("y.rec") + ": entry points in 4 of 4 records\n"));
  EXPECT_EQ(with_entry_points(at("y.rec")), 4u);
  const Said quiet = call({"pack", at("photos"), at("q.rec"), "--entry-points", "-q"});
  EXPECT_THAT(quiet.out, HasSubstr("entry points in 4 of 4 records\n"));
  const Said kept = call({"pack", at("photos"), at("x.rec"), "--entry-points", "--resume"});
  EXPECT_THAT(kept.err, HasSubstr("tip: 'fuelrail index " + at("x.rec") + "' lets loaders"));
  EXPECT_THAT(kept.out, HasSubstr(at("x.rec") + ": entry points in 0 of 4 records\n"));
  const std::string packed = frx(at("y.rec"));
  ASSERT_EQ(call({"index", at("y.rec"), "-q"}).code, 0);
  EXPECT_EQ(frx(at("y.rec")), packed);
  EXPECT_THAT(call({"doctor", at("x.rec")}).out, HasSubstr("have no entry points"));
  EXPECT_THAT(call({"doctor", at("y.rec")}).out, Not(HasSubstr("entry points")));
  write_file(at("x.rec.frx"), "no sidecar");
  EXPECT_THAT(call({"doctor", at("x.rec")}).out, Not(HasSubstr("entry points")));
}

TEST_F(CliEntryPoints, convert_and_merge_carry_them_along) {
  const std::string rec = packed("x.rec");
  ASSERT_EQ(call({"index", rec, "-q"}).code, 0);
  ASSERT_EQ(call({"convert", rec, at("y.ffr"), "-q"}).code, 0);
  const std::string converted = frx(at("y.ffr"));
  EXPECT_EQ(with_entry_points(at("y.ffr")), 4u);
  ASSERT_EQ(call({"index", at("y.ffr"), "-q"}).code, 0);
  EXPECT_EQ(frx(at("y.ffr")), converted);
  ASSERT_EQ(call({"convert", at("y.ffr"), at("z.rec"), "-q"}).code, 0);
  EXPECT_EQ(frx(at("z.rec")), frx(rec));

  for (const char* part : {"0", "1"}) packed("p.rec", {"--nsplit", "2", "--part", part});
  ASSERT_EQ(call({"index", at("p.part001.rec"), "-q"}).code, 0);
  const std::vector<std::string> merge{"merge", at("m.rec"), at("p.part000.rec"),
                                       at("p.part001.rec"), "-q"};
  ASSERT_EQ(call(merge).code, 0);
  EXPECT_EQ(with_entry_points(at("m.rec")), 2u);
  EXPECT_EQ(call({"verify", at("m.rec"), "-q"}).code, 0);
  EXPECT_THAT(call({"info", at("m.rec")}).out,
              HasSubstr("in 2 of 4 records, for faster decoding ('fuelrail index' adds more)"));
  EXPECT_THAT(call({"doctor", at("m.rec")}).out, HasSubstr("have no entry points"));
  EXPECT_THAT(call({"bench", at("m.rec"), "--seconds", "0.05", "-q"}).out,
              HasSubstr("in 2 of 4 records; with those that 'fuelrail index' makes, the limit is"));
  ASSERT_EQ(call({"index", at("m.rec"), "-q"}).code, 0);
  EXPECT_EQ(frx(at("m.rec")), frx(rec));
}

TEST_F(CliEntryPoints, merge_says_once_that_they_are_damaged) {
  const std::string rec = packed("x.rec");
  ASSERT_EQ(call({"index", rec, "-q"}).code, 0);
  std::string damaged = frx(rec);
  damaged.back() = static_cast<char>(damaged.back() ^ 1);
  write_file(rec + ".frx", damaged);
  const std::string text = "the entry points of the images are not used";
  const std::string said = call({"merge", at("m.rec"), rec, "-q"}).err;
  EXPECT_NE(said.find(text), std::string::npos) << said;
  EXPECT_EQ(said.find(text), said.rfind(text)) << said;
  EXPECT_EQ(with_entry_points(at("m.rec")), 0u);
}

TEST_F(CliEntryPoints, info_and_bench_say_whether_there_are_any) {
  const std::string rec = packed("x.rec");
  EXPECT_THAT(call({"info", rec}).out, HasSubstr("entry points none ('fuelrail index' adds them"));
  EXPECT_THAT(call({"info", rec, "--json"}).out, HasSubstr("\"entry_points\":0"));
  ASSERT_EQ(call({"index", rec, "-q"}).code, 0);
  EXPECT_THAT(call({"info", rec}).out, HasSubstr("entry points in 4 of 4 records"));
  EXPECT_THAT(call({"info", rec, "--json"}).out, HasSubstr("\"entry_points\":4"));
  EXPECT_THAT(call({"info", at("photos")}).out, Not(HasSubstr("entry points")));
  write_file(at("small/ant/0.jpg"), as_text(make_jpeg(8, 8, 1)));
  ASSERT_EQ(call({"pack", at("small"), at("small.rec"), "-q"}).code, 0);
  EXPECT_THAT(call({"index", at("small.rec")}).err, HasSubstr("entry points in 0 of 1 record"));
  EXPECT_THAT(call({"info", at("small.rec")}).out, HasSubstr("entry points none (only baseline"));
}

TEST_F(CliEntryPoints, bench_measures_what_they_would_bring) {
  const std::string rec = packed("x.rec");
  const std::vector<std::string> bench{"bench", rec, "--seconds", "0.05", "-q"};
  std::vector<std::string> as_json = bench;
  as_json.emplace_back("--json");
  EXPECT_THAT(call(bench).out, ContainsRegex("entry points none; with those that 'fuelrail "
                                             "index' makes, the limit is [0-9,]+ images/s, "));
  EXPECT_THAT(call(as_json).out, HasSubstr("\"records_per_second_with_entry_points\":"));
  EXPECT_THAT(call(as_json).out, Not(HasSubstr("\"records_per_second_with_entry_points\":null")));
  ASSERT_EQ(call({"index", rec, "-q"}).code, 0);
  EXPECT_THAT(call(bench).out,
              AllOf(HasSubstr("entry points in 4 of 4 records"), Not(HasSubstr("fuelrail index"))));
  EXPECT_THAT(call(as_json).out, HasSubstr("\"records_per_second_with_entry_points\":null"));
}

// The variable of docs/decoding.md is wrong, and no image is.
TEST_F(CliEntryPoints, an_invalid_way_of_decoding_is_a_wrong_call) {
  const std::string rec = packed("x.rec");
  const std::pair<const char*, std::string> ways[] = {{"FUELRAIL_JPEG", "libjpeg, stream"},
                                                      {"FUELRAIL_PNG", "libspng"}};
  for (const auto& [variable, expected] : ways) {
    ::setenv(variable, "Lib", 1);
    const Said verified = call({"verify", rec, "--decode"});
    const Said packing =
        call({"pack", at("photos"), at("y.rec"), "--decode", "--max-errors", "100%"});
    ::unsetenv(variable);
    for (const Said& said : {verified, packing}) {
      EXPECT_EQ(said.code, 2) << said.out;
      EXPECT_THAT(said.err, HasSubstr(std::string(variable) + " is invalid: expected " + expected +
                                      " or empty"));
    }
  }
}

// The sidecar's checksums are right.
TEST_F(CliEntryPoints, verify_finds_forged_ones) {
  const std::string rec = packed("x.rec");
  const MakeHints forged = [made = hint_maker()](Bytes encoded) {
    std::vector<std::byte> hints = made(encoded);
    hints.back() ^= std::byte{1};
    return hints;
  };
  build_sidecar(rec, {.hints = {.maker = [&] { return forged; }, .threads = 1}});
  EXPECT_EQ(call({"verify", rec, "-q"}).code, 0);
  const Said said = call({"verify", rec, "--decode"});
  EXPECT_EQ(said.code, 1);
  EXPECT_THAT(
      said.out + said.err,
      AllOf(HasSubstr("the entry points in the sidecar are not those that this version makes "
                      "of the image. Make them again with 'fuelrail index'"),
            Not(HasSubstr("recover")), Not(HasSubstr("on_error"))));
  ASSERT_EQ(call({"index", rec, "-q"}).code, 0);
  EXPECT_EQ(call({"verify", rec, "--decode", "-q"}).code, 0);
}

}  // namespace
}  // namespace fuelrail
