// `fuelrail bench` as people run it, on a few photographs: what it counts and says, not how fast.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "command_fixture.h"

namespace fuelrail {
namespace {

using nlohmann::json;
using ::testing::AnyOf;
using testing::CommandResult;
using ::testing::Eq;
using ::testing::HasSubstr;
using testing::run_command;

class Bench : public CommandTest {
 protected:
  // On seven photographs, for two epochs of four batches, and a moment for the limit.
  static CommandResult bench(const std::string& path, std::vector<std::string> more) {
    std::vector<std::string> arguments{"bench", path, "--crop",   "16", "--batch-size", "2",
                                       "-j",    "2",  "--epochs", "2",  "--seconds",    "0.05"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_command(std::move(arguments));
  }
  static json report(const std::string& path) {
    const CommandResult result = bench(path, {"--json"});
    EXPECT_EQ(result.code, 0) << result.err;
    return json::parse(result.out);
  }
};

TEST_F(Bench, counts_the_epochs_that_it_was_told) {
  pack_photos();
  const json said = report(rec());
  EXPECT_EQ(said["records"], 7);
  EXPECT_EQ(said["settings"]["crop"], 16);
  EXPECT_EQ(said["settings"]["batch_size"], 2);
  EXPECT_EQ(said["settings"]["threads"], 2);
  const json loader = said["loader"];
  EXPECT_EQ(loader["batches"], 8);
  EXPECT_EQ(loader["records"], 14);
  EXPECT_EQ(loader["bad_records"], 0);
  EXPECT_NEAR(loader["records_per_second"].get<double>(), 14 / loader["seconds"].get<double>(),
              1e-6);
  EXPECT_GT(loader["first_batch_seconds"], 0);
  for (const char* stage : {"fetch", "process", "consumer"}) {
    EXPECT_GE(said["stages"][stage]["busy_share"], 0) << stage;
    EXPECT_LE(said["stages"][stage]["busy_share"], 1) << stage;
  }
  EXPECT_EQ(said["stages"]["consumer"]["items"], 8);
}

TEST_F(Bench, measures_the_limit_on_records_in_memory) {
  pack_photos();
  const json said = report(rec());
  const json limit = said["limit"];
  EXPECT_EQ(limit["held_records"], 7);
  EXPECT_EQ(limit["unusable_records"], 0);
  EXPECT_EQ(limit["median_shorter_side"], 43);  // of 40 to 46
  EXPECT_GT(limit["mean_record_bytes"], 100);
  EXPECT_GT(limit["records"], 0);
  EXPECT_GE(limit["seconds"], 0.05);
  EXPECT_NEAR(said["share_of_limit"].get<double>(),
              said["loader"]["records_per_second"].get<double>() /
                  limit["records_per_second"].get<double>(),
              1e-6);
  EXPECT_THAT(said["bottleneck"].get<std::string>(),
              AnyOf(Eq("storage"), Eq("decoding"), Eq("processors")));
  EXPECT_FALSE(said["suggestion"].get<std::string>().empty());
}

TEST_F(Bench, tells_people_the_same) {
  const CommandResult result = bench(photos(), {});  // a folder, too
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(result.err, "");
  for (const char* part :
       {"7 records", "RandomResizedCrop 16", "batches of 2", "2 threads", "images/s", "MB/s read",
        "7 records in memory", "process", "consumer", "bottleneck", "suggestion"}) {
    EXPECT_THAT(result.out, HasSubstr(part));
  }
}

TEST_F(Bench, passes_over_a_bad_record_and_says_so) {
  write_file(photo("bee/6.jpg"), "no image");
  const CommandResult result = bench(photos(), {"--json"});
  EXPECT_EQ(result.code, 0) << result.err;
  expect_one_line(result.err);
  EXPECT_THAT(result.err, HasSubstr("1 bad record skipped"));
  const json said = json::parse(result.out);
  EXPECT_EQ(said["loader"]["records"], 14);
  EXPECT_EQ(said["loader"]["bad_records"], 1);
  EXPECT_EQ(said["limit"]["held_records"], 6);
  EXPECT_EQ(said["limit"]["unusable_records"], 1);
}

TEST_F(Bench, ends_with_the_first_error_where_every_record_is_bad) {
  for (int i = 0; i < 7; ++i) {
    write_file(photo((i < 4 ? "ant/" : "bee/") + std::to_string(i) + ".jpg"), "no image");
  }
  const CommandResult result = bench(photos(), {});
  EXPECT_EQ(result.code, 1);
  EXPECT_EQ(result.out, "");
  EXPECT_THAT(result.err, HasSubstr("not an image of a known format"));
}

TEST_F(Bench, an_interrupt_ends_it_at_once) {
  pack_photos();
  const std::string sidecar = rec() + ".frx";
  std::filesystem::remove(sidecar);
  testing::Command command({"bench", rec(), "--seconds", "10000"});
  while (!std::filesystem::exists(sidecar) && !command.has_ended()) std::this_thread::yield();
  command.send(SIGINT);  // it has made the sidecar anew: it is at work
  const CommandResult result = command.wait();
  EXPECT_EQ(result.code, 130);
  EXPECT_EQ(result.out, "");
  EXPECT_THAT(result.err, ::testing::EndsWith("fuelrail: interrupted\n"));
}

TEST_F(Bench, refuses_a_duration_of_nothing_and_a_missing_file) {
  EXPECT_EQ(run_command({"bench", photos(), "--seconds", "0"}).code, 2);
  EXPECT_EQ(run_command({"bench", photos(), "--epochs", "0"}).code, 2);
  EXPECT_EQ(run_command({"bench", out("gone.rec")}).code, 3);
}

}  // namespace
}  // namespace fuelrail
