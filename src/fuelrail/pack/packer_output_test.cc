#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>

#include <filesystem>
#include <map>
#include <string>

#include "fuelrail/container/open.h"
#include "fuelrail/pack/packer.h"
#include "fuelrail/testing/forked.h"
#include "fuelrail/testing/packer_rig.h"

namespace fuelrail::pack {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

TEST_F(Packer, an_old_output_is_replaced_as_a_whole) {
  pack_photos();
  const auto before = outputs();
  put_photograph("ant/5.jpg", 20, 20, 99);
  pack_photos();
  const auto after = outputs();
  EXPECT_NE(after, before);
  EXPECT_THAT(names_in(out()), ElementsAre("x.idx", "x.rec", "x.rec.frx"));
  EXPECT_EQ(open_container(out("x.rec"))->size(), 13u);
}

TEST_F(Packer, a_failing_job_leaves_the_old_output_alone) {
  pack_photos();
  const auto before = outputs();
  write_file(photo("cat dog/2.jpg"), "no image");
  refusal<CorruptError>(photos(), out("x.rec"), {.job = {.overwrite = true}});
  auto after = outputs();
  EXPECT_EQ(after.erase("x.rec.errors.jsonl"), 1u);
  EXPECT_EQ(after, before);
}

TEST_F(Packer, stale_partial_files_are_replaced) {
  for (const char* name : {"x.rec.partial", "x.idx.partial", "x.rec.frx.partial"}) {
    write_file(out(name), std::string(100'000, 'x'));
  }
  pack_photos();
  EXPECT_THAT(names_in(out()), ElementsAre("x.idx", "x.rec", "x.rec.frx"));
  EXPECT_EQ(records_of(out("x.rec")).size(), images_.size());
}

TEST_F(Packer, stopping_by_the_progress_callback_leaves_nothing) {
  PackOptions options{.threads = 2};
  options.job.progress = [](const PackProgress&) { return false; };
  EXPECT_EQ(refusal<StateError>(photos(), out("x.rec"), options), "the work was interrupted");
  EXPECT_THAT(names_in(out()), IsEmpty());
}

TEST_F(Packer, a_second_packer_of_the_same_output_is_refused_and_harms_nothing) {
  pack_photos();
  const auto expected = outputs();
  std::filesystem::remove(out("x.rec"));
  PackOptions options{.threads = 2};
  int refused = 0;
  options.job.progress = [&](const PackProgress&) {
    const std::string here = refusal<IoError>(photos(), out("x.rec"));
    EXPECT_EQ(here.find(out("x.rec") + ": another job is writing the output"), 0u) << here;
    EXPECT_EQ(in_forked_child([&] { return refusal<IoError>(photos(), out("x.rec")); }), here);
    ++refused;
    return true;
  };
  pack_photos(options);
  EXPECT_GT(refused, 0);
  EXPECT_EQ(outputs(), expected);
  pack_photos();  // no lock is left
}

TEST_F(Packer, packers_of_different_outputs_do_not_mind_each_other) {
  PackOptions options{.threads = 2};
  options.job.progress = [&](const PackProgress&) {
    pack(photos(), out("y.rec"), {.job = {.overwrite = true}, .threads = 1});
    return true;
  };
  pack_photos(options);
  EXPECT_EQ(file_contents(out("y.rec")), file_contents(out("x.rec")));
}

TEST_F(Packer, an_error_in_the_progress_callback_leaves_nothing) {
  PackOptions options{.threads = 2};
  options.job.progress = [](const PackProgress&) -> bool { throw std::runtime_error("mine"); };
  EXPECT_THROW(pack_photos(options), std::runtime_error);
  EXPECT_THAT(names_in(out()), IsEmpty());
}

// RLIMIT_FSIZE simulates a full disk at every stage: data, sidecar, index, report.
TEST_F(Packer, a_full_disk_is_one_clear_error_and_leaves_the_old_output) {
  pack_photos();
  const auto before = outputs();
  put_photograph("ant/5.jpg", 60, 60, 99);
  const uint64_t needed =
      std::filesystem::file_size(out("x.rec")) + std::filesystem::file_size(photo("ant/5.jpg"));
  for (const uint64_t limit : {uint64_t{0}, uint64_t{50}, uint64_t{300}, needed / 2, needed - 1}) {
    const std::string said = in_forked_child([&]() -> std::string {
      ::signal(SIGXFSZ, SIG_IGN);
      const rlimit bytes{limit, limit};
      if (::setrlimit(RLIMIT_FSIZE, &bytes) != 0) return "setrlimit failed";
      try {
        pack_photos();
      } catch (const IoError& error) {
        return error.what();
      }
      return "packed";
    });
    EXPECT_THAT(said, HasSubstr("x.")) << limit;
    EXPECT_THAT(said, HasSubstr("largest allowed size")) << limit;
    EXPECT_EQ(outputs(), before) << limit;
  }
}

TEST_F(Packer, an_output_that_cannot_be_is_refused) {
  EXPECT_THAT(refusal<InvalidArgumentError>(photos(), out("x.data")),
              HasSubstr("ends in .rec, .ffr or .bzna"));
  EXPECT_THAT(refusal<InvalidArgumentError>(photos(), out(".rec")), HasSubstr("ends in .rec"));
  EXPECT_NE(refusal<NotFoundError>(photos(), out("no/such/x.rec")), "");
  std::filesystem::create_directory(out("d.rec"));
  EXPECT_THAT(refusal<InvalidArgumentError>(photos(), out("d.rec")), HasSubstr("d.rec"));
  EXPECT_THAT(names_in(out()), ElementsAre("d.rec"));
}

TEST_F(Packer, an_output_that_is_there_is_refused_and_left_alone) {
  pack_photos();
  const auto before = outputs();
  EXPECT_THAT(refusal<IoError>(photos(), out("x.rec")),
              StartsWith(out("x.rec") + ": the output already exists"));
  EXPECT_EQ(outputs(), before);
  write_file(out("y_val.rec"), "mine");
  EXPECT_THAT(refusal<IoError>(photos(), out("y.rec"), {.split = {{"train", .5}, {"val", .5}}}),
              StartsWith(out("y_val.rec")));
  EXPECT_EQ(file_contents(out("y_val.rec")), "mine");
  EXPECT_FALSE(std::filesystem::exists(out("y_train.rec")));
}

TEST_F(Packer, an_output_that_comes_while_packing_is_left_alone) {
  PackOptions options{.threads = 2};
  options.job.progress = [&](const PackProgress&) {
    write_file(out("x.rec"), "mine");
    return true;
  };
  EXPECT_THAT(refusal<IoError>(photos(), out("x.rec"), options), HasSubstr("already exists"));
  EXPECT_EQ(outputs(), (std::map<std::string, std::string>{{"x.rec", "mine"}}));
}

TEST_F(Packer, companions_without_their_file_are_replaced_only_where_that_is_allowed) {
  for (const char* name : {"x.idx", "x.rec.frx"}) {
    write_file(out(name), "mine");
    EXPECT_THAT(refusal<IoError>(photos(), out("x.rec")),
                StartsWith(out(name) + ": this companion file exists without its record file"));
    EXPECT_THAT(names_in(out()), ElementsAre(name));
    EXPECT_EQ(file_contents(out(name)), "mine");
    EXPECT_EQ(pack(photos(), out("x.rec"), {.job = {.overwrite = true}}).files.at(0).records,
              images_.size());
    for (const std::string& made : names_in(out())) std::filesystem::remove(out(made));
  }
  write_file(out("x.ffr.frx"), "mine");
  EXPECT_THAT(refusal<IoError>(photos(), out("x.ffr")), StartsWith(out("x.ffr.frx")));
  write_file(out("x.idx"), "of another format");
  EXPECT_EQ(pack(photos(), out("x.ffr"), {.job = {.overwrite = true}}).files.at(0).records,
            images_.size());
  EXPECT_EQ(file_contents(out("x.idx")), "of another format");
}

TEST_F(Packer, companions_that_a_killed_pack_has_left_are_replaced) {
  write_file(out("x.idx"), "old");
  write_file(out("x.rec.frx"), "old");
  write_file(out("x.rec.partial"), "old");
  EXPECT_EQ(pack(photos(), out("x.rec"), {}).files.at(0).records, images_.size());
}

TEST_F(Packer, stopping_while_the_folder_is_listed_leaves_nothing) {
  int asked = 0;
  PackOptions options;
  options.job.keep_going = [&] { return ++asked < 2; };
  EXPECT_THAT(refusal<StateError>(photos(), out("x.rec"), options), HasSubstr("interrupted"));
  EXPECT_THAT(names_in(out()), IsEmpty());
}

}  // namespace
}  // namespace fuelrail::pack
