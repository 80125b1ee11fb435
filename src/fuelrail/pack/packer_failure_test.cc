#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "fuelrail/container/open.h"
#include "fuelrail/pack/packer.h"
#include "fuelrail/testing/absent_codec.h"
#include "fuelrail/testing/forked.h"
#include "fuelrail/testing/packer_rig.h"

namespace fuelrail::pack {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

TEST_F(Packer, unreadable_images_are_left_out_and_reported_within_the_allowance) {
  write_file(photo("ant/2.jpg"), "no image");
  write_file(photo("bee/3.jpg"), "");
  const PackResult result = pack_photos({.max_errors = {.count = 2}, .threads = 2});
  EXPECT_EQ(result.files.at(0).records, 10u);
  ASSERT_EQ(result.failures.size(), 2u);
  EXPECT_EQ(result.failures[0].path, photo("ant/2.jpg"));
  EXPECT_EQ(result.failures[1].path, photo("bee/3.jpg"));
  EXPECT_EQ(result.report, out("x.rec.errors.jsonl"));

  std::istringstream report(file_contents(result.report));
  std::string line;
  for (const PackFailure& failure : result.failures) {
    ASSERT_TRUE(std::getline(report, line));
    const auto object = nlohmann::json::parse(line);
    EXPECT_EQ(object.at("path"), failure.path);
    EXPECT_EQ(object.at("reason"), failure.reason);
    EXPECT_FALSE(failure.reason.empty());
    EXPECT_THAT(failure.reason, ::testing::Not(HasSubstr(failure.path)));
  }
  EXPECT_FALSE(std::getline(report, line));

  const std::vector<Packed> records = records_of(out("x.rec"));
  EXPECT_EQ(records.at(2).id, 3u);  // ids are the indices in the folder
  EXPECT_EQ(records.at(2).image, file_contents(photo("ant/3.jpg")));
}

TEST_F(Packer, a_missing_codec_ends_the_job_whatever_may_be_left_out) {
  const LentDecoding lent(testing::kAbsentDecoding);
  write_file(photo("ant/2.jpg"), "RARE");
  const std::string error = refusal<MissingCodecError>(
      photos(), out("x.rec"), {.images = StoredImages{.decode = true}, .max_errors = {.count = 5}});
  EXPECT_THAT(error, StartsWith(photo("ant/2.jpg") + ": Rare images cannot be decoded"));
  EXPECT_THAT(error, HasSubstr("Install 'rare'"));
  EXPECT_FALSE(outputs().contains("x.rec"));
}

TEST_F(Packer, more_unreadable_images_than_allowed_end_the_job_and_leave_the_report) {
  write_file(photo("ant/2.jpg"), "no image");
  write_file(photo("bee/3.jpg"), "");
  const std::string message =
      refusal<CorruptError>(photos(), out("x.rec"), {.max_errors = {.count = 1}});
  EXPECT_THAT(message, StartsWith(photo("bee/3.jpg")));
  EXPECT_THAT(
      message,
      HasSubstr("At most 1 of 12 images may be skipped (max_errors, --max-errors), found 2"));
  EXPECT_THAT(names_in(out()), ElementsAre("x.rec.errors.jsonl"));
  const std::string report = file_contents(out("x.rec.errors.jsonl"));
  EXPECT_EQ(std::count(report.begin(), report.end(), '\n'), 2);
}

TEST_F(Packer, an_image_damaged_behind_its_header_is_found_by_decoding_alone) {
  const std::string whole = file_contents(photo("ant/2.jpg"));
  write_file(photo("ant/2.jpg"), whole.substr(0, whole.size() / 2));
  EXPECT_THAT(pack_photos().failures, IsEmpty());
  const PackResult result =
      pack_photos({.images = StoredImages{.decode = true}, .max_errors = {.count = 1}});
  ASSERT_EQ(result.failures.size(), 1u);
  EXPECT_EQ(result.failures[0].path, photo("ant/2.jpg"));
  const std::vector<Packed> records = records_of(out("x.rec"));
  ASSERT_EQ(records.size(), 11u);
  EXPECT_EQ(records[2].image,
            file_contents(photo("ant/3.jpg")));  // the file's bytes are stored unchanged even so
}

TEST_F(Packer, a_job_that_fails_lists_all_images_that_cannot_be_read) {
  const std::vector<std::string> bad{photo("ant/2.jpg"), photo("bee/3.jpg"),
                                     photo("cat dog/1.jpg")};
  for (const std::string& path : bad) write_file(path, "no image");
  for (const uint64_t parts : {1, 2, 3}) {
    std::vector<std::string> told;
    const std::string message = refusal<CorruptError>(
        photos(), out("x.rec"),
        {.nsplit = parts,
         .job = {.overwrite = true},
         .threads = 2,
         .failed = [&](const PackFailure& failure) { told.push_back(failure.path); }});
    EXPECT_THAT(message, StartsWith(bad[0] + ": the bytes are not an image"));
    EXPECT_THAT(
        message,
        HasSubstr("At most 0 of 12 images may be skipped (max_errors, --max-errors), found 3"));
    EXPECT_THAT(message, HasSubstr("lists all of them"));
    EXPECT_EQ(told, bad);
    const std::string report = parts == 1 ? "x.rec.errors.jsonl" : "x.part000.rec.errors.jsonl";
    const std::string listed = file_contents(out(report));
    for (const std::string& path : bad) EXPECT_THAT(listed, HasSubstr(path));
    EXPECT_EQ(std::count(listed.begin(), listed.end(), '\n'), 3);
  }
}

TEST_F(Packer, a_job_that_fails_and_is_stopped_leaves_the_report) {
  for (const std::string& image : images_) write_file(photo(image), "no image");
  std::vector<std::string> said;
  bool failing = false;
  refusal<StateError>(photos(), out("x.rec"),
                      {.job = {.progress = [&](const PackProgress&) { return !failing; },
                               .warn = [&](const std::string& text) { said.push_back(text); }},
                       .failing = [&] { failing = true; }});
  EXPECT_THAT(said,
              ElementsAre(out("x.rec.errors.jsonl") + " lists the unreadable images found so far"));
  EXPECT_THAT(file_contents(out("x.rec.errors.jsonl")), HasSubstr(photo("ant/0.jpg")));
}

TEST_F(Packer, a_report_of_ten_thousand_images_lists_all_of_them_where_there_are_no_more) {
  std::string list = "0\t1\tphotos/ant/0.jpg\n";  // else the job stops after the first 64
  for (int i = 0; i < 10'000; ++i) list += "0\t1\tno\n";
  write_file(directory_ / "x.lst", list);
  EXPECT_THAT(refusal<CorruptError>(directory_ / "x.lst", out("x.rec")),
              HasSubstr("lists all of them"));
}

TEST_F(Packer, a_list_of_more_bad_lines_than_are_listed_leaves_a_report_and_names_the_first) {
  std::string list;
  for (int i = 0; i < 10'001; ++i) list += "no line\n";
  write_file(directory_ / "x.lst", list + "0\t1\tphotos/ant/0.jpg\n");
  EXPECT_THAT(refusal<CorruptError>(directory_ / "x.lst", out("x.rec")),
              AllOf(HasSubstr("line 1:"), HasSubstr("lists those found so far")));
  const std::string report = file_contents(out("x.rec.errors.jsonl"));
  EXPECT_EQ(std::count(report.begin(), report.end(), '\n'), 10'000);
}

// `max_errors` does not apply, because the function caused the error and not the image.
TEST_F(Packer, a_function_that_throws_ends_the_job_at_the_first_image_in_order) {
  std::atomic<int> calls{0};
  const ImageSteps steps{.stages = {PixelFunction([&](ConstImageView from, OwnedPixels& to) {
                           if (++calls > 2) throw std::length_error("mine");
                           to = {.pixels = {1, 2, 3}, .size = {1, 1}, .channels = 3};
                           EXPECT_GT(from.width, 0);
                         })}};
  const PackOptions options{.images = steps, .max_errors = {.count = 12}, .threads = 1};
  try {
    pack(photos(), out("x.rec"), options);
    FAIL();
  } catch (const StepsError& error) {
    EXPECT_EQ(error.detail().path, photo("ant/2.jpg"));
    EXPECT_THAT(error.what(), HasSubstr("a function in the list of transforms failed: found mine"));
    EXPECT_THROW(std::rethrow_exception(error.cause()), std::length_error);
  }
  EXPECT_THAT(names_in(out()), IsEmpty());
}

TEST_F(Packer, alpha_as_jpeg_ends_the_job_at_the_first_image_in_order) {
  const ImageSteps steps{.stages = {PixelFunction([](ConstImageView, OwnedPixels& to) {
                           to = {.pixels = {1, 2, 3, 4}, .size = {1, 1}, .channels = 4};
                         })}};
  const PackOptions options{.images = steps, .max_errors = {.count = 12}};
  try {
    pack(photos(), out("x.rec"), options);
    FAIL();
  } catch (const StepsError& error) {
    EXPECT_EQ(error.detail().path, photo("ant/0.jpg"));
    EXPECT_THAT(error.what(), HasSubstr("JPEG cannot store alpha"));
    EXPECT_EQ(error.cause(), nullptr);
  }
  EXPECT_THAT(names_in(out()), IsEmpty());
}

TEST_F(Packer, a_folder_that_cannot_be_written_to_is_said_of_the_output) {
  using std::filesystem::perms;
  std::filesystem::permissions(directory_.path(), perms::all);
  std::filesystem::permissions(out(), perms::all & ~(perms::group_write | perms::others_write));
  const std::string said = in_unprivileged_child(
      [&] { return refusal<IoError>(photos(), out("x.rec"), {.threads = 1}); });
  EXPECT_THAT(said, StartsWith(out("x.rec") + ": cannot create the file"));
}

TEST_F(Packer, a_journal_that_cannot_be_written_is_an_error_of_the_output) {
  const std::string said = in_forked_child([&] {
    const rlimit limit{10, 10};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    ::signal(SIGXFSZ, SIG_IGN);
    return refusal<IoError>(photos(), out("x.rec"));
  });
  EXPECT_THAT(said, StartsWith(out("x.rec") + ": the file would exceed the largest allowed size"));
  EXPECT_THAT(said, ::testing::Not(HasSubstr("journal")));
}

TEST_F(Packer, the_allowance_may_be_a_fraction_of_all_images) {
  write_file(photo("ant/2.jpg"), "no image");
  refusal<CorruptError>(photos(), out("x.rec"), {.max_errors = {.fraction = 0.08}});
  EXPECT_THAT(names_in(out()), ElementsAre("x.rec.errors.jsonl"));
  EXPECT_EQ(pack_photos({.max_errors = {.fraction = 0.09}}).failures.size(), 1u);
}

TEST_F(Packer, a_percentage_of_the_images_is_exact) {
  for (uint64_t percent = 0; percent <= 100; ++percent) {
    const Allowance allowed{.fraction = static_cast<double>(percent) / 100};
    for (const uint64_t images : {1u, 7u, 12u, 99u, 100u, 101u, 1000u, 1281167u}) {
      EXPECT_EQ(allowed.of(images), percent * images / 100) << percent << " % of " << images;
    }
    for (uint64_t images = 0; images < 300; ++images) {
      EXPECT_EQ(allowed.of(images), percent * images / 100) << percent << " % of " << images;
    }
  }
  EXPECT_EQ((Allowance{.count = 5, .fraction = .01}.of(100)), 5u);
}

TEST_F(Packer, a_file_too_long_for_a_record_is_one_image_that_cannot_be_packed) {
  constexpr uint64_t kGiantBytes = 900'000'000'000;
  write_file(photo("ant/000.jpg"), "");
  std::filesystem::resize_file(photo("ant/000.jpg"), kGiantBytes);
  write_file(directory_ / "x.lst", "0\t1\tphotos/ant/000.jpg\n1\t1\tphotos/ant/0.jpg\n");
  for (const std::string& source : {photos(), directory_ / "x.lst"}) {
    const PackResult result =
        pack(source, out("x.rec"), {.max_errors = {.count = 1}, .job = {.overwrite = true}});
    ASSERT_EQ(result.failures.size(), 1u) << source;
    EXPECT_EQ(result.failures[0].path, photo("ant/000.jpg"));
    EXPECT_THAT(result.failures[0].reason, HasSubstr("too long"));
    EXPECT_THAT(result.failures[0].reason, HasSubstr(std::to_string(kGiantBytes)));
    EXPECT_THAT(refusal<CorruptError>(source, out("y.rec")), StartsWith(photo("ant/000.jpg")));
  }
}

// A sanitizer's own memory passes such a limit, and it ends the process where `new` would throw.
#ifndef FUELRAIL_SANITIZED
// Returns: whether this process has no more memory from now on: an emulated kernel (qemu-user) sets
// no limit, whatever it says.
bool limit_memory(size_t bytes) {
  const rlimit limit{bytes, bytes};
  if (::setrlimit(RLIMIT_DATA, &limit) != 0) return false;
  void* const more =
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (more != MAP_FAILED) ::munmap(more, bytes);
  return more == MAP_FAILED;
}

TEST_F(Packer, memory_that_one_image_cannot_have_leaves_out_that_image) {
  write_file(photo("ant/000.jpg"), "");
  std::filesystem::resize_file(photo("ant/000.jpg"), 500'000'000);
  const std::string not_limited = "this kernel does not limit memory (RLIMIT_DATA)";
  const std::string said = in_forked_child([&]() -> std::string {
    if (!limit_memory(400'000'000)) return not_limited;
    const PackResult result = pack_photos({.max_errors = {.count = 1}, .threads = 1});
    return result.failures.at(0).path + ": " + result.failures.at(0).reason;
  });
  if (said == not_limited) GTEST_SKIP() << said;
  EXPECT_EQ(said, photo("ant/000.jpg") + ": not enough memory for the image");
}
#endif

TEST_F(Packer, a_job_without_failures_removes_an_old_report) {
  write_file(out("x.rec.errors.jsonl"), "{}\n");
  pack_photos();
  EXPECT_THAT(names_in(out()), ElementsAre("x.idx", "x.rec", "x.rec.frx"));
}

TEST_F(Packer, a_file_without_any_readable_image_is_not_made) {
  for (const std::string& image : images_) write_file(photo(image), "no image");
  EXPECT_THAT(refusal<CorruptError>(photos(), out("x.rec"), {.max_errors = {.fraction = 1}}),
              HasSubstr("none of the images for this file can be read"));
  EXPECT_THAT(names_in(out()), ElementsAre("x.rec.errors.jsonl"));
}

TEST_F(Packer, images_that_a_list_names_and_nobody_has_are_left_out) {
  write_file(directory_ / "photos/x.lst", "0\t1\tant/0.jpg\n1\t1\tant/99.jpg\n2\t1\tant\n");
  const PackResult result =
      pack(directory_ / "photos/x.lst", out("x.rec"), {.max_errors = {.count = 2}});
  ASSERT_EQ(result.failures.size(), 2u);
  EXPECT_EQ(result.failures[0].path, photo("ant/99.jpg"));
  EXPECT_EQ(result.failures[1].path, photo("ant"));
  EXPECT_EQ(result.files.at(0).records, 1u);
}

TEST_F(Packer, damage_behind_the_header_is_found_when_images_are_encoded_anew) {
  const std::string whole = file_contents(photo("ant/1.jpg"));
  write_file(photo("ant/1.jpg"), whole.substr(0, whole.size() / 2));
  EXPECT_THAT(pack_photos().failures, IsEmpty());
  const PackResult result =
      pack_photos({.images = StoredImages{.resize = 24}, .max_errors = {.count = 1}});
  ASSERT_EQ(result.failures.size(), 1u);
  EXPECT_EQ(result.failures[0].path, photo("ant/1.jpg"));
}

TEST_F(Packer, an_unreadable_folder_is_an_input_output_error) {
  std::filesystem::permissions(directory_.path(), std::filesystem::perms::all);
  std::filesystem::permissions(out(), std::filesystem::perms::all);
  std::filesystem::permissions(photo("bee"), std::filesystem::perms::none);
  const std::string said = in_unprivileged_child([&]() -> std::string {
    try {
      pack_photos();
    } catch (const IoError& error) {
      return error.what();
    }
    return "packed";
  });
  std::filesystem::permissions(photo("bee"), std::filesystem::perms::owner_all);
  EXPECT_THAT(said, HasSubstr(photo("bee")));
  EXPECT_THAT(names_in(out()), IsEmpty());
}

TEST_F(Packer, an_unreadable_image_counts_as_one_that_cannot_be_read) {
  std::filesystem::permissions(directory_.path(), std::filesystem::perms::all);
  std::filesystem::permissions(out(), std::filesystem::perms::all);
  std::filesystem::permissions(photo("bee/1.jpg"), std::filesystem::perms::none);
  const std::string said = in_unprivileged_child([&]() -> std::string {
    const PackResult result = pack_photos({.max_errors = {.count = 1}, .threads = 1});
    return result.failures.at(0).path + ": " + result.failures.at(0).reason;
  });
  EXPECT_THAT(said, StartsWith(photo("bee/1.jpg") + ": "));
  EXPECT_THAT(said, HasSubstr("ermission denied"));
}

TEST_F(Packer, an_unreadable_folder_counts_as_one_image_left_out) {
  std::filesystem::permissions(directory_.path(), std::filesystem::perms::all);
  std::filesystem::permissions(out(), std::filesystem::perms::all);
  std::filesystem::permissions(photo("bee"), std::filesystem::perms::none);
  const std::string said = in_unprivileged_child([&]() -> std::string {
    const PackResult result = pack_photos({.max_errors = {.count = 1}, .threads = 1});
    return result.failures.at(0).path + ": " + result.failures.at(0).reason + ", " +
           std::to_string(result.files.at(0).records) + " records";
  });
  std::filesystem::permissions(photo("bee"), std::filesystem::perms::owner_all);
  EXPECT_THAT(said, StartsWith(photo("bee") + ": "));
  EXPECT_THAT(said, HasSubstr("ermission denied"));
  EXPECT_THAT(said, ::testing::EndsWith("8 records"));
  EXPECT_THAT(open_container(out("x.rec"))->classes(), ElementsAre("ant", "bee", "cat dog"));
  EXPECT_THAT(records_of(out("x.rec")).back().labels, ElementsAre(2.0f));
  const auto line = nlohmann::json::parse(file_contents(out("x.rec.errors.jsonl")));
  EXPECT_EQ(line.at("path"), photo("bee"));
}

TEST_F(Packer, more_unreadable_folders_than_allowed_end_the_job_and_leave_the_report) {
  for (const char* name : {"ant", "bee"}) {
    std::filesystem::permissions(photo(name), std::filesystem::perms::none);
  }
  std::filesystem::permissions(directory_.path(), std::filesystem::perms::all);
  std::filesystem::permissions(out(), std::filesystem::perms::all);
  const std::string said = in_unprivileged_child([&]() -> std::string {
    return refusal<CorruptError>(photos(), out("x.rec"), {.max_errors = {.count = 1}});
  });
  for (const char* name : {"ant", "bee"}) {
    std::filesystem::permissions(photo(name), std::filesystem::perms::owner_all);
  }
  EXPECT_THAT(said, StartsWith(photo("bee") + ": part of the source cannot be read"));
  EXPECT_THAT(names_in(out()), ElementsAre("x.rec.errors.jsonl"));
}

TEST_F(Packer, packers_of_different_parts_do_not_share_a_report) {
  write_file(photo("ant/2.jpg"), "no image");
  const PackResult first =
      pack_photos({.split = {{"a", .5}, {"b", .5}}, .max_errors = {.count = 1}});
  const PackResult second =
      pack_photos({.split = {{"c", .5}, {"d", .5}}, .max_errors = {.count = 1}});
  EXPECT_EQ(first.report, out("x_a.rec.errors.jsonl"));
  EXPECT_EQ(second.report, out("x_c.rec.errors.jsonl"));
  EXPECT_TRUE(std::filesystem::exists(first.report));
  EXPECT_TRUE(std::filesystem::exists(second.report));
}

}  // namespace
}  // namespace fuelrail::pack
