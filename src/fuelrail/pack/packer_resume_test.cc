// A packing job that is killed at any moment can be resumed, and the result is that of an
// uninterrupted job.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "fuelrail/storage/local/local_file_system.h"
#include "fuelrail/testing/bzna_file.h"
#include "fuelrail/testing/faulty_file_system.h"
#include "fuelrail/testing/forked.h"
#include "fuelrail/testing/packer_rig.h"

namespace fuelrail::pack {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// Kills at every operation in turn; in sanitized builds, where forks are slow, at every thirteenth.
#ifdef FUELRAIL_SANITIZED
constexpr uint64_t kOperationStep = 13;
#else
constexpr uint64_t kOperationStep = 1;
#endif

// Uses a folder in memory if one exists: data that outlives a process needs no disk, and waiting
// for a disk takes minutes.
class ResumedPacker : public Packer {
 protected:
  static void SetUpTestSuite() {
    if (std::filesystem::is_directory("/dev/shm")) ::setenv("TMPDIR", "/dev/shm", 0);
  }
  struct Job {
    std::string output;  // a name in the output folder
    PackOptions options;
    std::string source = "photos";
  };

  // One file, parts that are named one by one, and parts that are named together, in all formats;
  // two images are unreadable, and one is large enough to have entry points.
  static std::vector<Job> jobs() {
    return {
        {"x.rec", {.images = StoredImages{.resize = 24}, .max_errors = {.count = 2}, .threads = 2}},
        {"x.ffr", {.entry_points = true, .max_errors = {.count = 2}, .threads = 1}},
        {"x.rec", {.nsplit = 3, .entry_points = true, .max_errors = {.count = 2}, .threads = 2}},
        {"x.rec", {.split = {{"a", .6}, {"b", .4}}, .max_errors = {.count = 2}, .threads = 1}},
        {"x.bzna", {.max_errors = {.count = 2}, .threads = 1}, "nested"},
    };
  }

  ResumedPacker() {
    put_photograph("ant/1.jpg", 80, 90, 99);
    write_file(photo("ant/2.jpg"), "no image");
    write_file(photo("bee/3.jpg"), "");
    for (size_t i = 0; i < images_.size(); ++i) {  // images that `.bzna` stores without an encoder
      const bzna::MadeRecord record{.input = std::string(3000 + i, 'x')};
      write_file(directory_ / ("nested/a/" + std::to_string(i) + ".mp4"),
                 i == 2 || i == 5 ? "no image" : record.bytes());
    }
  }

  std::string source_of(const Job& job) const { return directory_ / job.source; }

  void empty_out() const {
    for (const std::string& name : names_in(out())) std::filesystem::remove(out(name));
  }

  std::map<std::string, std::string> made_in_one_go(const Job& job) const {
    empty_out();
    pack(source_of(job), out(job.output), job.options);
    return outputs();
  }

  // Packs in a child process that is killed just before the operation with this number. Returns:
  // whether it reached that operation.
  bool killed_at(uint64_t operation, const Job& job, bool resume) const {
    return in_forked_child([&]() -> std::string {
             FaultyFileSystem faulty(local_file_system());
             const FileSystemOverride instead("file", faulty);
             faulty.arm(Fault::kKill, operation);
             PackOptions options = job.options;
             options.resume = resume;
             options.journal_interval_ms = 0;
             pack(source_of(job), out(job.output), options);
             return "packed";
           }) == "";
  }

  // Unlike a kill between the operations of several threads, this always leaves the same files.
  void stop_at_the_second_bad_image(const Job& job) const {
    PackOptions options = job.options;
    options.resume = true;
    options.journal_interval_ms = 0;
    uint64_t images = 0;
    options.failed = [&](const PackFailure&) {
      if (++images == 2) throw std::runtime_error("stopped at the second bad image");
    };
    EXPECT_THROW(pack(source_of(job), out(job.output), options), std::runtime_error);
    EXPECT_THAT(names_in(out()),
                ElementsAre(job.output + ".journal.partial", job.output + ".partial"));
  }

  PackResult resume(const Job& job, std::vector<std::string>* said = nullptr) const {
    PackOptions options = job.options;
    options.resume = true;
    if (said != nullptr) {
      options.job.warn = [said](const std::string& text) { said->push_back(text); };
    }
    return pack(source_of(job), out(job.output), options);
  }
};

TEST_F(ResumedPacker, a_kill_at_any_operation_leaves_what_can_be_gone_on_with) {
  if (!child_can_start_threads()) GTEST_SKIP() << "a child cannot start threads here";
  for (const Job& job : jobs()) {
    const auto expected = made_in_one_go(job);
    uint64_t operation = 0;
    for (;; operation += kOperationStep) {
      empty_out();
      const bool killed = killed_at(operation, job, false);
      if (!killed) break;
      for (const auto& [name, bytes] : outputs()) {
        if (name.ends_with(".rec") || name.ends_with(".ffr") || name.ends_with(".bzna")) {
          ASSERT_EQ(bytes, expected.at(name)) << name << " after operation " << operation;
        }
      }
      if (outputs() == expected) continue;  // killed after the last file got its name
      const PackResult result = resume(job);
      ASSERT_TRUE(outputs() == expected) << job.output << " after operation " << operation;
      ASSERT_EQ(result.failures.size(), 2u);
      ASSERT_EQ(result.files.size(),
                std::max<size_t>(job.options.split.size(), job.options.nsplit));
    }
    EXPECT_GT(operation, 40u);
  }
}

TEST_F(ResumedPacker, a_run_that_goes_on_may_be_killed_again) {
  if (!child_can_start_threads()) GTEST_SKIP() << "a child cannot start threads here";
  for (const Job& job : jobs()) {
    const auto expected = made_in_one_go(job);
    for (const uint64_t first : {25, 40, 60, 90}) {
      for (uint64_t again = 0; again < 40; again += 3 * kOperationStep) {
        empty_out();
        killed_at(first, job, false);
        killed_at(again, job, true);
        if (outputs() != expected) resume(job);
        ASSERT_TRUE(outputs() == expected) << job.output << " after " << first << ", " << again;
      }
    }
  }
}

TEST_F(ResumedPacker, an_error_at_any_operation_leaves_what_can_be_gone_on_with) {
  std::string list;
  for (size_t i = 0; i < images_.size(); ++i) {
    list += std::to_string(i) + "\t0\tphotos/" + images_[i] + "\n";
  }
  write_file(directory_ / "x.lst", list);
  PackOptions options{.max_errors = {.count = 2}, .threads = 1};
  pack(directory_ / "x.lst", out("x.rec"), options);
  auto expected = outputs();
  expected.erase("x.rec.errors.jsonl");
  options.resume = true;
  FaultyFileSystem faulty(local_file_system());
  uint64_t failures = 0;
  for (uint64_t operation = 0;; operation += 2) {
    empty_out();
    try {
      const FileSystemOverride instead("file", faulty);
      faulty.arm(Fault::kError, operation);
      pack(directory_ / "x.lst", out("x.rec"), options);
    } catch (const Error&) {
      ++failures;
      pack(directory_ / "x.lst", out("x.rec"), options);
    }
    auto made = outputs();  // the report may contain the injected error
    EXPECT_EQ(made.erase("x.rec.errors.jsonl"), 1u);
    ASSERT_TRUE(made == expected) << operation;
    if (faulty.operations() <= operation) break;
  }
  EXPECT_GT(failures, 20u);
}

TEST_F(ResumedPacker, records_that_are_there_are_not_read_again) {
  const Job job{"x.rec", {.max_errors = {.count = 2}, .threads = 1}};
  const auto expected = made_in_one_go(job);
  empty_out();
  stop_at_the_second_bad_image(job);
  // The records before it are taken from the unfinished file: the images may even have been
  // deleted.
  for (const char* name : {"ant/0.jpg", "ant/1.jpg", "bee/0.jpg"}) {
    std::filesystem::resize_file(photo(name), 0);
  }
  resume(job);
  EXPECT_TRUE(outputs() == expected);
}

TEST_F(ResumedPacker, what_was_damaged_meanwhile_is_packed_again) {
  const Job job{"x.rec", {.max_errors = {.count = 2}, .threads = 1}};
  const auto expected = made_in_one_go(job);
  for (const bool cut : {false, true}) {
    empty_out();
    stop_at_the_second_bad_image(job);
    std::string left = file_contents(out("x.rec.partial"));
    ASSERT_GT(left.size(), 2000u);
    if (cut) {
      left.resize(left.size() - 5);
    } else {
      left[left.size() / 2] = static_cast<char>(left[left.size() / 2] ^ 1);
    }
    write_file(out("x.rec.partial"), left);
    std::vector<std::string> said;
    resume(job, &said);
    EXPECT_TRUE(outputs() == expected);
    EXPECT_THAT(said, ElementsAre(HasSubstr("packing resumes after them")));
  }
}

TEST_F(ResumedPacker, what_another_job_has_left_is_begun_anew_with_a_word) {
  const Job job{"x.rec", {.max_errors = {.count = 2}, .threads = 1}};
  const auto expected = made_in_one_go(job);
  empty_out();
  ASSERT_TRUE(killed_at(
      60,
      {"x.rec", {.images = StoredImages{.resize = 16}, .max_errors = {.count = 2}, .threads = 1}},
      false));
  std::vector<std::string> said;
  resume(job, &said);
  EXPECT_TRUE(outputs() == expected);
  EXPECT_THAT(said, ElementsAre(HasSubstr("belongs to a different job")));
}

TEST_F(ResumedPacker, what_another_job_has_left_stays_where_an_output_is_there) {
  const Job job{"x.rec", {.nsplit = 2, .max_errors = {.count = 2}, .threads = 1}};
  const auto expected = made_in_one_go(job);
  empty_out();
  PackOptions options = job.options;
  options.resume = true;
  options.journal_interval_ms = 0;
  uint64_t bad = 0;
  options.failed = [&](const PackFailure&) {
    if (++bad == 2) throw std::runtime_error("stopped at the second bad image");
  };
  EXPECT_THROW(pack(photos(), out("x.rec"), options), std::runtime_error);
  const auto left = outputs();
  EXPECT_TRUE(left.contains("x.part000.rec"));
  EXPECT_TRUE(left.contains("x.part001.rec.partial"));
  PackOptions other = job.options;
  other.images = StoredImages{.resize = 15};
  for (const bool resume : {true, false}) {
    other.resume = resume;
    EXPECT_THAT(refusal<IoError>(photos(), out("x.rec"), other),
                AllOf(HasSubstr("x.part000.rec: the output"), HasSubstr("already exist")));
    EXPECT_TRUE(outputs() == left) << resume;
  }
  std::vector<std::string> said;
  EXPECT_TRUE(this->resume(job, &said).files.at(0).was_there);
  EXPECT_THAT(said, IsEmpty());
  EXPECT_TRUE(outputs() == expected);
}

TEST_F(ResumedPacker, a_list_with_too_many_bad_lines_leaves_no_journal_and_changes_none) {
  const std::string list = directory_ / "x.lst";
  write_file(list, "0\t1\tphotos/ant/0.jpg\nno line\n");
  const auto fail = [&] {
    for (const bool resume : {false, true}) {
      EXPECT_THAT(refusal<CorruptError>(list, out("x.rec"), {.resume = resume}),
                  HasSubstr("line 2"));
    }
  };
  fail();
  EXPECT_THAT(names_in(out()), ElementsAre("x.rec.errors.jsonl"));
  empty_out();
  stop_at_the_second_bad_image({"x.rec", {.max_errors = {.count = 2}, .threads = 1}});
  auto left = outputs();
  fail();
  left["x.rec.errors.jsonl"] = outputs().at("x.rec.errors.jsonl");
  EXPECT_TRUE(outputs() == left);
}

TEST_F(ResumedPacker, without_anything_left_it_is_an_ordinary_run) {
  const Job job = jobs().at(0);
  const auto expected = made_in_one_go(job);
  empty_out();
  const PackResult result = resume(job);
  EXPECT_FALSE(result.files.at(0).was_there);
  EXPECT_TRUE(outputs() == expected);
}

TEST_F(ResumedPacker, what_is_done_already_stays_and_is_said) {
  for (const Job& job : jobs()) {
    const auto expected = made_in_one_go(job);
    const PackResult result = resume(job);
    EXPECT_TRUE(outputs() == expected) << job.output;
    uint64_t records = 0;
    for (const PackResult::File& file : result.files) {
      EXPECT_TRUE(file.was_there) << file.path;
      EXPECT_EQ(file.bytes, expected.at(std::filesystem::path(file.path).filename()).size());
      records += file.records;
    }
    EXPECT_EQ(records, images_.size() - 2);
    EXPECT_EQ(result.failures.size(), 2u);
  }
}

TEST_F(ResumedPacker, what_is_there_and_is_not_what_the_job_makes_is_refused) {
  const Job job{"x.rec", {.max_errors = {.count = 2}, .threads = 1}};
  const auto expected = made_in_one_go(job);
  PackOptions options = job.options;
  options.resume = true;
  const auto refused = [&](const PackOptions& with) {
    const auto before = outputs();
    const std::string message = refusal<IoError>(photos(), out("x.rec"), with);
    EXPECT_THAT(message, HasSubstr("already exists: expected no file, or a file that equals"));
    EXPECT_TRUE(outputs() == before) << message;
    return message;
  };
  const auto set_back = [&] {
    for (const auto& [name, bytes] : expected) write_file(out(name), bytes);
  };
  PackOptions other = options;
  other.images = StoredImages{.quality = 50};
  const std::string what_to_do =
      "Choose another name, or allow replacing the file (overwrite, --overwrite).";
  EXPECT_THAT(refused(other),
              HasSubstr("record 0, which differs from the record that the job makes from " +
                        photo("ant/0.jpg")));
  other = options;
  other.max_errors = {.count = 1};
  EXPECT_THAT(refused(other), HasSubstr(photo("bee/3.jpg") + ", which cannot be compared"));
  std::filesystem::remove(out("x.idx"));
  EXPECT_THAT(refused(options), HasSubstr("no index beside the file"));
  set_back();
  std::filesystem::remove(out("x.rec.frx"));
  EXPECT_THAT(refused(options), HasSubstr("no sidecar beside the file"));
  write_file(out("x.rec.frx"), "junk");
  EXPECT_THAT(refused(options), EndsWith("x.rec.frx: the sidecar cannot be used, but it may hold "
                                         "data that the file does not have. " +
                                         what_to_do));
  set_back();
  std::string index = expected.at("x.idx");
  std::swap(index[0], index[index.find('\n') + 1]);
  write_file(out("x.idx"), index);
  EXPECT_THAT(refused(options), Not(HasSubstr("Move the index away")));
  set_back();
  std::string damaged = expected.at("x.rec");
  damaged[damaged.size() / 2] = static_cast<char>(damaged[damaged.size() / 2] ^ 1);
  write_file(out("x.rec"), damaged);
  refused(options);
  set_back();
  std::filesystem::rename(photo("bee"), photo("wasp"));
  EXPECT_THAT(refused(options),
              HasSubstr("found 'bee' as class 1, but the job has 'cat dog' as class 1"));
  std::filesystem::rename(photo("wasp"), photo("bee"));
  put_photograph("cat dog/3.jpg", 30, 40, 77);
  EXPECT_THAT(refused(options), HasSubstr("found no record from"));
  std::filesystem::remove(photo("cat dog/3.jpg"));
  std::filesystem::remove(photo("cat dog/2.jpg"));
  EXPECT_THAT(refused(options), HasSubstr("more records than the job makes (10, not 9)"));
}

TEST_F(ResumedPacker, a_file_without_classes_that_should_have_some_is_refused) {
  std::string list;
  for (size_t i = 0; i < images_.size(); ++i) {
    const int label = images_[i].starts_with("ant") ? 0 : images_[i].starts_with("bee") ? 1 : 2;
    list += fmt::format("{}\t{}\tphotos/{}\n", i, label, images_[i]);
  }
  write_file(directory_ / "x.lst", list);
  PackOptions options{.max_errors = {.count = 2}, .threads = 1};
  pack(directory_ / "x.lst", out("x.rec"), options);
  options.resume = true;
  EXPECT_THAT(refusal<IoError>(photos(), out("x.rec"), options),
              HasSubstr("found no class names, but the job has 'ant' as class 0"));
}

TEST_F(ResumedPacker, an_interrupted_comparison_changes_nothing_and_can_be_gone_on_with) {
  const Job job{"x.rec", {.max_errors = {.count = 2}, .threads = 1}};
  const auto expected = made_in_one_go(job);
  PackOptions options = job.options;
  options.resume = true;
  options.job.progress = [](const PackProgress&) { return false; };
  EXPECT_THROW(pack(photos(), out("x.rec"), options), StateError);
  for (const auto& [name, bytes] : expected) EXPECT_TRUE(outputs().at(name) == bytes) << name;
  EXPECT_TRUE(resume(job).files.at(0).was_there);
  EXPECT_TRUE(outputs() == expected);
}

TEST_F(ResumedPacker, parts_that_were_made_alone_are_kept_and_the_others_made) {
  for (const std::string output : {"x.rec", "x.ffr"}) {
    const Job job{output, {.nsplit = 3, .max_errors = {.count = 2}, .threads = 2}};
    auto expected = made_in_one_go(job);
    for (const uint64_t alone : {0, 1, 2}) {
      empty_out();
      Job part = job;
      part.options.part = alone;
      resume(part);
      const PackResult result = resume(job);
      for (uint64_t i = 0; i < 3; ++i) EXPECT_EQ(result.files.at(i).was_there, i == alone);
      auto made = outputs();
      if (alone > 0)
        made.erase("x.part00" + std::to_string(alone) + output.substr(1) +
                   ".errors.jsonl");  // the report of that run
      EXPECT_TRUE(made == expected) << output << alone;
    }
  }
}

TEST_F(ResumedPacker, a_kill_after_a_comparison_leaves_what_can_be_gone_on_with) {
  if (!child_can_start_threads()) GTEST_SKIP() << "a child cannot start threads here";
  const Job job{"x.rec", {.nsplit = 3, .max_errors = {.count = 2}, .threads = 1}};
  const auto expected = made_in_one_go(job);
  Job part = job;
  part.options.part = 0;
  for (uint64_t operation = 0;; operation += kOperationStep) {
    empty_out();
    pack(photos(), out("x.rec"), part.options);
    if (!killed_at(operation, job, true)) break;
    resume(job);
    ASSERT_TRUE(outputs() == expected) << operation;
  }
}

TEST_F(ResumedPacker, what_was_left_is_not_lost_to_a_file_of_the_outputs_name) {
  const Job job{"x.rec", {.max_errors = {.count = 2}, .threads = 1}};
  const auto expected = made_in_one_go(job);
  empty_out();
  stop_at_the_second_bad_image(job);
  write_file(out("x.rec"), "somebody's");
  const auto before = outputs();
  PackOptions options = job.options;
  options.resume = true;
  EXPECT_THAT(refusal<IoError>(photos(), out("x.rec"), options), HasSubstr("already exists"));
  EXPECT_EQ(outputs().at("x.rec.partial"), before.at("x.rec.partial"));
  std::filesystem::remove(out("x.rec"));
  resume(job);
  EXPECT_TRUE(outputs() == expected);
}

TEST_F(ResumedPacker, a_run_that_had_too_many_failures_goes_on_when_more_are_allowed) {
  const Job job{"x.rec", {.max_errors = {.count = 2}, .threads = 1}};
  const auto expected = made_in_one_go(job);
  empty_out();
  PackOptions options = job.options;
  options.resume = true;
  options.max_errors = {.count = 1};
  EXPECT_THAT(refusal<CorruptError>(photos(), out("x.rec"), options), HasSubstr("found 2"));
  EXPECT_THAT(names_in(out()),
              ElementsAre("x.rec.errors.jsonl", "x.rec.journal.partial", "x.rec.partial"));
  EXPECT_THAT(refusal<CorruptError>(photos(), out("x.rec"), options), HasSubstr("found 2"));
  resume(job);
  EXPECT_TRUE(outputs() == expected);
}

TEST_F(ResumedPacker, an_image_that_was_mended_is_packed_in_its_place) {
  const Job job{"x.rec", {.max_errors = {.count = 2}, .threads = 1}};
  PackOptions options = job.options;
  options.resume = true;
  options.max_errors = {.count = 1};
  EXPECT_THAT(refusal<CorruptError>(photos(), out("x.rec"), options), HasSubstr("found 2"));
  put_photograph("ant/2.jpg", 30, 40, 77);
  EXPECT_EQ(pack(photos(), out("x.rec"), options).failures.size(), 1u);
  const auto made = outputs();
  EXPECT_EQ(made_in_one_go(job), made);
}

TEST_F(ResumedPacker, a_run_without_it_leaves_nothing_and_replaces_what_was_left) {
  const Job job{"x.rec", {.max_errors = {.count = 2}, .threads = 1}};
  const auto expected = made_in_one_go(job);
  empty_out();
  ASSERT_TRUE(killed_at(60, job, false));
  EXPECT_THAT(names_in(out()), Contains("x.rec.journal.partial"));
  pack(photos(), out("x.rec"), job.options);
  EXPECT_TRUE(outputs() == expected);
}

}  // namespace
}  // namespace fuelrail::pack
