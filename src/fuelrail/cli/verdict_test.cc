#include "fuelrail/cli/verdict.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fuelrail::cli {
namespace {

using ::testing::HasSubstr;

// Two threads busy all the time, for ten seconds, on a machine of two processors.
Measured decoding_limits() {
  Measured measured{.uri = "x.rec", .crop = 224, .threads = 2, .usable_threads = 2};
  measured.loader = {.records = 1000, .batches = 4, .seconds = 10, .cpu_seconds = 20};
  measured.loader.stats.process = {.busy_seconds = 19, .waiting_seconds = 1, .items = 1000};
  measured.loader.stats.fetch = {.busy_seconds = 1, .waiting_seconds = 9, .items = 1000};
  measured.loader.stats.limit = "process";
  measured.limit = {.records = 1100, .seconds = 10, .held = 256, .shorter_side = 256};
  return measured;
}

TEST(Verdict, images_of_a_good_size_leave_only_processors) {
  const Verdict verdict = judge(decoding_limits());
  EXPECT_EQ(verdict.bottleneck, "decoding");
  EXPECT_THAT(verdict.suggestion, HasSubstr("more processors"));
}

TEST(Verdict, large_images_are_to_be_packed_smaller) {
  Measured measured = decoding_limits();
  measured.limit.shorter_side = 375;
  EXPECT_THAT(judge(measured).suggestion, HasSubstr("pack with --resize 256"));
  measured.crop = 112;
  EXPECT_THAT(judge(measured).suggestion, HasSubstr("pack with --resize 128"));
}

TEST(Verdict, entry_points_are_suggested_for_images_of_any_size) {
  Measured measured = decoding_limits();
  measured.limit.shorter_side = 375;
  measured.limit.with_entry_points =
      1.3 * static_cast<double>(measured.limit.records) / measured.limit.seconds;
  EXPECT_THAT(judge(measured).suggestion,
              AllOf(HasSubstr("pack with --resize 256"), HasSubstr("run 'fuelrail index x.rec'")));
  measured.limit.shorter_side = 256;
  EXPECT_THAT(
      judge(measured).suggestion,
      AllOf(HasSubstr("run 'fuelrail index x.rec', with which this limit is 1.30 times as high"),
            Not(HasSubstr("--resize"))));
  *measured.limit.with_entry_points /= 1.3;
  EXPECT_THAT(judge(measured).suggestion, Not(HasSubstr("fuelrail index")));
}

TEST(Verdict, processors_that_lie_idle_are_to_be_used_first) {
  Measured measured = decoding_limits();
  measured.limit.shorter_side = 375;
  measured.usable_threads = 16;
  EXPECT_EQ(judge(measured).bottleneck, "decoding");
  EXPECT_THAT(judge(measured).suggestion, HasSubstr("use 16 threads"));
}

TEST(Verdict, storage_limits_where_reading_is_what_the_others_wait_for) {
  Measured measured = decoding_limits();
  measured.loader.stats.limit = "fetch";
  EXPECT_EQ(judge(measured).bottleneck, "storage");
  EXPECT_THAT(judge(measured).suggestion, HasSubstr("faster disk"));
  measured.remote = true;
  EXPECT_THAT(judge(measured).suggestion, HasSubstr("local disk"));
}

TEST(Verdict, reading_limits_where_storage_is_not_waited_for) {
  Measured measured = decoding_limits();
  measured.loader.stats.limit = "fetch";
  measured.loader.stats.process = {.busy_seconds = 2, .waiting_seconds = 18, .items = 1000};
  measured.loader.cpu_seconds = 10;  // 8 of them in the reading thread
  EXPECT_EQ(judge(measured).bottleneck, "reading");
  EXPECT_THAT(judge(measured).suggestion, HasSubstr("longer records"));
  measured.loader.cpu_seconds = 4;
  EXPECT_EQ(judge(measured).bottleneck, "storage");
}

TEST(Verdict, busy_threads_without_processor_time_share_the_machine) {
  Measured measured = decoding_limits();
  measured.loader.cpu_seconds = 10;
  EXPECT_EQ(judge(measured).bottleneck, "processors");
  EXPECT_THAT(judge(measured).suggestion, HasSubstr("Other programs"));
  measured.threads = 8;
  measured.loader.stats.process.busy_seconds = 76;
  measured.loader.stats.process.waiting_seconds = 4;
  EXPECT_THAT(judge(measured).suggestion, HasSubstr("more threads than processors: use 2"));
}

TEST(Verdict, progressive_images_are_to_be_recoded) {
  Measured measured = decoding_limits();
  measured.progressive = true;
  EXPECT_THAT(judge(measured).suggestion, HasSubstr("pack with --baseline"));
}

TEST(Verdict, a_loader_far_above_the_limit_shows_that_the_limit_was_disturbed) {
  Measured measured = decoding_limits();
  measured.limit.records = 600;
  EXPECT_EQ(judge(measured).bottleneck, "unknown");
  EXPECT_THAT(judge(measured).suggestion, HasSubstr("measure again"));
}

TEST(Verdict, bytes_are_not_decoded_nor_made_smaller_by_packing) {
  Measured measured = decoding_limits();
  measured.crop = 0;
  measured.limit.shorter_side = 0;
  EXPECT_EQ(judge(measured).bottleneck, "copying");
  EXPECT_THAT(judge(measured).suggestion,
              HasSubstr("copying the bytes limits the speed: only more"));
  measured.usable_threads = 16;
  EXPECT_THAT(judge(measured).suggestion,
              HasSubstr("copying the bytes limits the speed: use 16 threads"));
  measured.loader.stats.limit = "fetch";
  EXPECT_EQ(judge(measured).bottleneck, "storage");
  EXPECT_THAT(judge(measured).suggestion, ::testing::Not(HasSubstr("--resize")));
}

}  // namespace
}  // namespace fuelrail::cli
