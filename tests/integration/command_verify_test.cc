// `fuelrail verify` and `fuelrail index` as people run them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "command_fixture.h"
#include "fuelrail/decode/decoder.h"
#include "fuelrail/testing/golden_images.h"

namespace fuelrail {
namespace {

using nlohmann::json;
using testing::CommandResult;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::run_command;
using ::testing::StartsWith;

TEST_F(CommandTest, ls_ends_quietly_when_its_reader_has_gone) {
  pack_photos();
  const CommandResult result = run_command({"ls", rec()}, [] {
    int ends[2];
    if (::pipe(ends) != 0) ::_exit(126);
    ::close(ends[0]);
    ::dup2(ends[1], STDOUT_FILENO);
  });
  EXPECT_EQ(result.code, 0);
  EXPECT_EQ(result.signal, 0);
  EXPECT_EQ(result.err, "");
}

TEST_F(CommandTest, verify_is_content_with_a_whole_file) {
  pack_photos();
  const CommandResult text = run_command({"verify", rec(), "--decode", "-j", "3", "-q"});
  EXPECT_EQ(text.code, 0);
  EXPECT_EQ(text.out, rec() + ": 7 records, all well\n");
  const json report = json::parse(run_command({"verify", rec(), "--json", "-q"}).out);
  EXPECT_EQ(report.at("ok"), true);
  EXPECT_EQ(report.at("records"), 7);
  EXPECT_THAT(report.at("damage"), IsEmpty());
  EXPECT_EQ(run_command({"verify", photos(), "--decode", "-q"}).code, 0);
}

TEST_F(CommandTest, verify_finds_a_changed_byte_by_its_checksum) {
  pack_photos();
  // In the middle: the first and last 4 KiB are what ties the sidecar to the file.
  const size_t middle = std::filesystem::file_size(rec()) / 2;
  ASSERT_GE(middle, 4096u);
  damage(rec(), middle, "\x01\x02\x03");
  const CommandResult result = run_command({"verify", rec(), "-q"});
  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.out, HasSubstr("checksum"));
  EXPECT_THAT(result.out, HasSubstr(rec() + ": record "));
  const json report = json::parse(run_command({"verify", rec(), "-q", "--json"}).out);
  EXPECT_EQ(report.at("ok"), false);
  EXPECT_EQ(report.at("damage").size(), 1u);
}

// Opening sets such a sidecar aside, and the checksums with it.
TEST_F(CommandTest, verify_finds_a_changed_byte_in_a_sidecar) {
  pack_photos();
  const std::string whole = file_contents(out("x.rec.frx"));
  for (size_t at = 0; at < whole.size(); at += 13) {
    std::string changed = whole;
    changed[at] = static_cast<char>(changed[at] ^ 0x10);
    write_file(out("x.rec.frx"), changed);
    const CommandResult text = run_command({"verify", rec(), "-q"}, own_cache());
    EXPECT_EQ(text.code, 1) << at;
    EXPECT_THAT(text.out, StartsWith(out("x.rec.frx") + ": ")) << at;
    EXPECT_THAT(text.out, HasSubstr("7 records, 1 problem")) << at;
  }
  const json report = json::parse(run_command({"verify", rec(), "-q", "--json"}, own_cache()).out);
  EXPECT_EQ(report.at("ok"), false);
  EXPECT_EQ(report.at("checksums"), false);
  ASSERT_EQ(report.at("damage").size(), 1u);
  EXPECT_EQ(report.at("damage")[0].at("path"), out("x.rec.frx"));
}

TEST_F(CommandTest, verify_finds_a_sidecar_of_another_file) {
  pack_photos();
  std::filesystem::remove(photos() + "/ant/0.jpg");
  ASSERT_EQ(run_command({"pack", photos(), out("y.rec"), "-q"}).code, 0);
  write_file(out("x.rec.frx"), file_contents(out("y.rec.frx")));
  const CommandResult result = run_command({"verify", rec(), "-q"}, own_cache());
  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.out, StartsWith(out("x.rec.frx") + ": the sidecar does not belong"));
}

// There a change is noticed by itself, too; the sidecar stays in use, and tells the record.
TEST_F(CommandTest, verify_finds_a_changed_bit_in_the_first_and_in_the_last_4_kib) {
  pack_photos();
  const std::string whole = file_contents(rec());
  ASSERT_GT(whole.size(), 8192u);
  struct Case {
    size_t offset;
    size_t record;
  };
  for (const Case& change : {Case{600, 0}, Case{whole.size() - 600, 6}}) {
    write_file(rec(), whole);
    damage(rec(), change.offset, std::string(1, static_cast<char>(whole[change.offset] ^ 1)));
    const CommandResult text = run_command({"verify", rec(), "-q"}, own_cache());
    EXPECT_EQ(text.code, 1);
    EXPECT_THAT(text.out,
                HasSubstr(rec() + ": record " + std::to_string(change.record) + ", offset "));
    const json report =
        json::parse(run_command({"verify", rec(), "-q", "--json"}, own_cache()).out);
    EXPECT_EQ(report.at("ok"), false);
    EXPECT_EQ(report.at("checksums"), true);
    ASSERT_EQ(report.at("damage").size(), 2u);
    EXPECT_EQ(report.at("damage")[0].at("path"), rec());
    EXPECT_THAT(report.at("damage")[0].at("problem").get<std::string>(), HasSubstr("4 KiB"));
    EXPECT_EQ(report.at("damage")[1].at("path"), rec());
    EXPECT_EQ(report.at("damage")[1].at("record"), change.record);
  }
}

TEST_F(CommandTest, a_file_that_was_cut_is_damage_and_can_be_opened_without_its_sidecar) {
  pack_photos();
  const std::string index = file_contents(out("x.idx"));
  const size_t offset = std::stoul(index.substr(index.find("\n5\t") + 3));
  std::filesystem::resize_file(rec(), offset);  // between two records
  const std::string sidecar = file_contents(out("x.rec.frx"));
  const CommandResult verified = run_command({"verify", rec(), "-q"});
  EXPECT_EQ(verified.code, 1);
  EXPECT_THAT(verified.out, HasSubstr(rec() + ": record 5, offset " + std::to_string(offset) +
                                      ": the file is truncated"));
  EXPECT_EQ(run_command({"info", rec()}).code, 1);
  EXPECT_EQ(run_command({"index", rec(), "-q"}).code, 1);
  EXPECT_EQ(file_contents(out("x.rec.frx")), sidecar);
  const CommandResult recovered = run_command({"verify", rec(), "-q", "--recover"});
  EXPECT_EQ(recovered.code, 1);
  EXPECT_THAT(recovered.out, HasSubstr(": it ends before the start of 2 of its 7 records"));
  EXPECT_THAT(recovered.out, HasSubstr("5 records, 1 problem"));
  const CommandResult ignoring = run_command({"info", rec(), "--json", "--sidecar", "ignore"});
  EXPECT_EQ(ignoring.code, 0);
  EXPECT_EQ(json::parse(ignoring.out).at("records"), 5);
  EXPECT_EQ(run_command({"info", rec(), "--sidecar", "none"}).code, 2);
}

TEST_F(CommandTest, verify_says_that_checksums_are_unknown) {
  pack_photos();
  EXPECT_EQ(json::parse(run_command({"verify", rec(), "-q", "--json"}).out).at("checksums"), true);
  std::filesystem::remove(out("x.rec.frx"));
  const CommandResult text = run_command({"verify", rec(), "-q"});
  EXPECT_EQ(text.code, 0);
  EXPECT_EQ(text.out, rec() +
                          ": checksums unknown: payloads were read but not verified; 'fuelrail "
                          "index' stores them\n" +
                          rec() + ": 7 records, none damaged\n");
  const json report = json::parse(run_command({"verify", rec(), "-q", "--json"}).out);
  EXPECT_EQ(report.at("ok"), true);
  EXPECT_EQ(report.at("checksums"), false);
  ASSERT_EQ(run_command({"index", rec(), "-q"}).code, 0);
  EXPECT_EQ(run_command({"verify", rec(), "-q"}).out, rec() + ": 7 records, all well\n");
}

TEST_F(CommandTest, recovery_uses_the_checksums_of_the_sidecar_beside_the_file) {
  pack_photos();
  const size_t middle = std::filesystem::file_size(rec()) / 2;
  damage(rec(), middle, "\x01\x02\x03");
  const CommandResult result = run_command({"verify", rec(), "-q", "--recover"});
  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.out, HasSubstr("checksum"));
}

TEST_F(CommandTest, damage_inside_an_image_is_found_by_decoding) {
  const std::string image = file_contents(photos() + "/ant/2.jpg");
  write_file(photos() + "/ant/2.jpg", image.substr(0, image.size() / 2));
  pack_photos();
  EXPECT_EQ(run_command({"verify", rec(), "-q"}).code, 0);
  const CommandResult result = run_command({"verify", rec(), "-q", "--decode"});
  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.out, HasSubstr("record 2, offset "));
}

TEST_F(CommandTest, recovery_reports_what_it_skips_and_verifies_the_rest) {
  pack_photos();
  const json records = json::parse(run_command({"ls", rec(), "--json"}).out);
  const std::string index = file_contents(out("x.idx"));
  const size_t offset = std::stoul(index.substr(index.find("\n3\t") + 3));
  std::filesystem::remove(out("x.rec.frx"));
  damage(rec(), offset, "XXXX");
  const CommandResult plain = run_command({"verify", rec(), "-q"});
  EXPECT_EQ(plain.code, 1);
  EXPECT_THAT(plain.out, HasSubstr("offset " + std::to_string(offset)));
  EXPECT_THAT(plain.err, HasSubstr("--recover"));
  const json report = json::parse(run_command({"verify", rec(), "-q", "--recover", "--json"}).out);
  EXPECT_EQ(report.at("records"), 6);
  ASSERT_EQ(report.at("damage").size(), 1u);
  EXPECT_EQ(report.at("damage")[0].at("path"), rec());
  EXPECT_EQ(report.at("damage")[0].at("offset"), offset);
  EXPECT_GT(report.at("damage")[0].at("skipped_bytes"), 1000);
}

TEST_F(CommandTest, an_index_that_disagrees_with_its_file_is_found) {
  pack_photos();
  std::string index = file_contents(out("x.idx"));
  index[index.find("1\t") + 2] = '9';
  write_file(out("x.idx"), index);
  const CommandResult result = run_command({"verify", rec(), "-q"});
  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.out, HasSubstr("x.idx"));
}

TEST_F(CommandTest, a_sidecar_of_another_file_is_set_aside_and_never_overwritten) {
  pack_photos();
  std::filesystem::remove(photos() + "/ant/0.jpg");
  ASSERT_EQ(run_command({"pack", photos(), out("y.rec"), "-q"}).code, 0);
  const std::string foreign = file_contents(out("y.rec.frx"));
  write_file(out("x.rec.frx"), foreign);
  const CommandResult result = run_command({"info", rec(), "--json"}, own_cache());
  EXPECT_EQ(result.code, 0);
  EXPECT_THAT(result.err, StartsWith("fuelrail: warning: "));
  EXPECT_EQ(json::parse(result.out).at("records"), 7);
  EXPECT_EQ(json::parse(result.out).at("sidecar").at("place"), "cache");
  const CommandResult rebuilt = run_command({"index", rec(), "-q"});
  EXPECT_EQ(rebuilt.code, 1);
  EXPECT_EQ(file_contents(out("x.rec.frx")), foreign);
}

TEST_F(CommandTest, index_makes_the_sidecar_anew_and_keeps_class_names) {
  pack_photos();
  const std::string packed = file_contents(out("x.rec.frx"));
  const CommandResult result = run_command({"index", rec()});
  EXPECT_EQ(result.code, 0);
  EXPECT_EQ(result.out, out("x.rec.frx") + "\n");
  EXPECT_EQ(file_contents(out("x.rec.frx")), packed);
  std::filesystem::remove(out("x.rec.frx"));
  EXPECT_EQ(run_command({"index", rec()}).code, 0);
  const json info = json::parse(run_command({"info", rec(), "--json"}).out);
  EXPECT_EQ(info.at("checksums"), true);
  EXPECT_EQ(info.at("classes"), nullptr);
}

TEST_F(CommandTest, verify_counts_the_oddities_that_decoding_tolerates) {
  std::string image = file_contents(photo("ant/1.jpg"));
  ASSERT_THAT(image, EndsWith("\xff\xd9"));
  write_file(photo("ant/1.jpg"), image.substr(0, image.size() - 2));
  pack_photos();
  const json plain = json::parse(run_command({"verify", rec(), "-q", "--json"}).out);
  EXPECT_EQ(plain.at("tolerated"), nullptr);
  const json decoded = json::parse(run_command({"verify", rec(), "-q", "--decode", "--json"}).out);
  EXPECT_EQ(decoded.at("ok"), true);
  EXPECT_EQ(decoded.at("tolerated"), (json{{"images", 1}, {"oddities", 1}}));
  const CommandResult text = run_command({"verify", rec(), "-q", "--decode"});
  EXPECT_EQ(text.code, 0);
  EXPECT_THAT(text.out, HasSubstr("1 oddity tolerated in 1 image"));
}

// One bit of an image's scan changed, so that libjpeg decodes it without a warning, and our own
// decoder leaves it to libjpeg.
std::string suspect_jpeg(std::string image) {
  const auto decoder = make_decoder();
  const ImageInfo info = probe(as_bytes(image));
  std::vector<uint8_t> pixels(static_cast<size_t>(info.stored.height * info.stored.width * 3));
  for (size_t at = image.size() / 2; at + 20 < image.size(); ++at) {
    std::string changed = image;
    changed[at] = static_cast<char>(changed[at] ^ 4);
    DecodeJob job{
        .encoded = as_bytes(changed),
        .info = info,
        .box = whole(info.stored),
        .output = {pixels.data(), info.stored.height, info.stored.width, 3, info.stored.width * 3}};
    decoder->decode({&job, 1});
    if (!job.error && job.tolerated == 0 && job.way == DecodeWay::kSuspect) return changed;
  }
  return {};
}

// The last byte, of a checksum, is wrong.
std::string suspect_png() {
  std::string png = testing::read_golden_image_file("rgb8.png");
  png.back() = static_cast<char>(png.back() ^ 1);
  return png;
}

TEST_F(CommandTest, verify_names_images_whose_damage_no_decoder_reports) {
  const std::string jpeg = suspect_jpeg(file_contents(photo("ant/1.jpg")));
  ASSERT_NE(jpeg, "");
  write_file(photo("ant/1.jpg"), jpeg);
  write_file(photo("ant/2.png"), suspect_png());
  pack_photos();
  const json decoded = json::parse(run_command({"verify", rec(), "-q", "--decode", "--json"}).out);
  EXPECT_EQ(decoded.at("ok"), true);
  ASSERT_EQ(decoded.at("suspect").size(), 2u);
  for (const json& finding : decoded.at("suspect")) {
    EXPECT_THAT(finding.at("problem").get<std::string>(),
                HasSubstr("data are not what encoders write"));
  }
  const CommandResult text = run_command({"verify", rec(), "-q", "--decode"});
  EXPECT_EQ(text.code, 0);
  EXPECT_THAT(text.out, HasSubstr("record " + decoded.at("suspect")[0].at("record").dump()));
  EXPECT_THAT(text.out, HasSubstr("records, no problem, 2 suspect"));
}

}  // namespace
}  // namespace fuelrail
