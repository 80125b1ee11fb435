#include "fuelrail/pack/packer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "fuelrail/base/endian.h"
#include "fuelrail/base/error.h"
#include "fuelrail/container/open.h"
#include "fuelrail/container/recordio/image_header.h"
#include "fuelrail/container/recordio/record_reader.h"
#include "fuelrail/container/recordio/recordio_container.h"
#include "fuelrail/decode/probe.h"
#include "fuelrail/storage/file_system.h"
#include "fuelrail/testing/forked.h"
#include "fuelrail/testing/photographs.h"
#include "fuelrail/testing/temporary_directory.h"

namespace fuelrail {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

struct Packed {
  uint64_t id = 0;
  std::vector<float> labels;
  std::string image;
};

std::vector<Packed> records_of(const std::string& uri) {
  recordio::RecordReader reader(file_system_for(uri).open(uri));
  std::vector<Packed> records;
  while (const auto record = reader.next()) {
    const recordio::ImageRecord image = recordio::parse_image_record(record->payload);
    records.push_back({.id = image.id, .labels = {}, .image = std::string(as_text(image.image))});
    for (size_t i = 0; i < image.label_count(); ++i) {
      records.back().labels.push_back(image.label(i));
    }
  }
  return records;
}

std::vector<std::string> names_in(const std::string& directory) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    names.push_back(entry.path().filename());
  }
  std::sort(names.begin(), names.end());
  return names;
}

// Three classes, "ant", "bee" and "cat dog", with 5, 4 and 3 photographs of different sizes.
class Packer : public ::testing::Test {
 protected:
  Packer() {
    std::filesystem::create_directory(out());
    uint64_t seed = 0;
    for (const auto& [name, count] : {std::pair("ant", 5), {"bee", 4}, {"cat dog", 3}}) {
      for (int i = 0; i < count; ++i, ++seed) {
        const auto side = static_cast<int64_t>(20 + seed * 7 % 50);
        put_photograph(std::string(name) + "/" + std::to_string(i) + ".jpg", side, 90 - side, seed);
      }
    }
  }

  void put_photograph(const std::string& name, int64_t height, int64_t width, uint64_t seed) {
    const std::vector<std::byte> jpeg = make_jpeg(height, width, seed);
    write_file(photo(name), as_text(jpeg));
    images_.push_back(name);
  }

  std::string photo(const std::string& name) const { return photos() + "/" + name; }
  std::string photos() const { return directory_ / "photos"; }
  std::string out() const { return directory_ / "out"; }
  std::string out(const std::string& name) const { return out() + "/" + name; }

  PackResult pack_photos(const PackOptions& options = {.threads = 2}) const {
    return pack(photos(), out("x.rec"), options);
  }

  // All files of the output folder, by name.
  std::map<std::string, std::string> outputs() const {
    std::map<std::string, std::string> files;
    for (const std::string& name : names_in(out())) files[name] = file_contents(out(name));
    return files;
  }

  // What `pack` says when it fails as it should.
  template <typename Expected>
  std::string refusal(const std::string& source, const std::string& output,
                      const PackOptions& options = {}) const {
    try {
      pack(source, output, options);
    } catch (const Expected& error) {
      return error.what();
    } catch (const Error& error) {
      ADD_FAILURE() << "another kind of error: " << error.what();
    }
    return "";
  }

  TemporaryDirectory directory_;
  std::vector<std::string> images_;  // in the order of packing
};

TEST_F(Packer, a_folder_becomes_one_file_in_the_folders_order) {
  const PackResult result = pack_photos();
  const std::vector<Packed> records = records_of(out("x.rec"));
  ASSERT_EQ(records.size(), images_.size());
  for (size_t i = 0; i < records.size(); ++i) {
    EXPECT_EQ(records[i].id, i);
    EXPECT_THAT(records[i].labels, ElementsAre(i < 5 ? 0.0f : i < 9 ? 1.0f : 2.0f));
    EXPECT_EQ(records[i].image, file_contents(photo(images_[i])));
  }
  ASSERT_EQ(result.files.size(), 1u);
  EXPECT_EQ(result.files[0].path, out("x.rec"));
  EXPECT_EQ(result.files[0].records, images_.size());
  EXPECT_EQ(result.files[0].bytes, std::filesystem::file_size(out("x.rec")));
  EXPECT_THAT(result.failures, IsEmpty());
  EXPECT_EQ(result.report, "");
  EXPECT_THAT(names_in(out()), ElementsAre("x.idx", "x.rec", "x.rec.frx"));
}

TEST_F(Packer, the_sidecar_belongs_to_the_file_and_knows_classes_labels_and_checksums) {
  pack_photos();
  std::vector<std::string> warnings;
  const auto file = recordio::open_recordio(
      out("x.rec"), {.warn = [&](const std::string& text) { warnings.push_back(text); }});
  EXPECT_THAT(warnings, IsEmpty());
  EXPECT_EQ(file->sidecar_location().uri, out("x.rec.frx"));
  EXPECT_EQ(file->sidecar().identity(),
            identify(*file_system_for(out("x.rec")).open(out("x.rec"))));
  EXPECT_THAT(file->classes(), ElementsAre("ant", "bee", "cat dog"));
  EXPECT_TRUE(file->verifies_checksums());
  EXPECT_EQ(file->sidecar().labels(), (LabelSummary{.width = 1, .integral = true}));
  EXPECT_NO_THROW(file->sidecar().verify());
}

TEST_F(Packer, the_sidecar_is_what_rebuilding_it_gives) {
  pack_photos();
  const std::string packed = file_contents(out("x.rec.frx"));
  recordio::build_sidecar(out("x.rec"));
  EXPECT_EQ(file_contents(out("x.rec.frx")), packed);
}

TEST_F(Packer, the_index_names_every_record_by_its_id) {
  pack_photos();
  const auto file = open_container(out("x.rec"));
  std::ostringstream expected;
  for (uint64_t i = 0; i < file->size(); ++i)
    expected << i << '\t' << file->extent(i).offset << '\n';
  EXPECT_EQ(file_contents(out("x.idx")), expected.str());
}

TEST_F(Packer, the_bytes_are_the_same_for_any_number_of_threads) {
  for (const PackOptions& options : {PackOptions{}, PackOptions{.resize = 24, .quality = 80}}) {
    std::map<std::string, std::string> first;
    for (int threads : {1, 2, 5, 40}) {
      PackOptions with_threads = options;
      with_threads.threads = threads;
      pack_photos(with_threads);
      if (first.empty()) first = outputs();
      EXPECT_EQ(outputs(), first) << threads;
    }
  }
}

TEST_F(Packer, resizing_makes_the_shorter_side_and_never_enlarges) {
  pack_photos({.resize = 30, .threads = 2});
  const std::vector<Packed> records = records_of(out("x.rec"));
  for (size_t i = 0; i < records.size(); ++i) {
    const std::string before = file_contents(photo(images_[i]));
    const Size source = probe(as_bytes(before)).stored;
    const Size packed = probe(as_bytes(records[i].image)).stored;
    const int64_t shorter = std::min(source.height, source.width);
    EXPECT_EQ(std::min(packed.height, packed.width), std::min<int64_t>(shorter, 30));
    if (shorter <= 30) {
      EXPECT_EQ(records[i].image, before);
    }
  }
}

TEST_F(Packer, a_list_gives_ids_labels_and_order) {
  write_file(directory_ / "photos/x.lst",
             "70\t2\t0.5\tcat dog/1.jpg\r\n8\t1\t-3\tant/0.jpg\n\n8\t0\t0\tbee/2.jpg\n");
  pack(directory_ / "photos/x.lst", out("x.rec"), {.threads = 2});
  const std::vector<Packed> records = records_of(out("x.rec"));
  ASSERT_EQ(records.size(), 3u);
  EXPECT_EQ(records[0].id, 70u);
  EXPECT_THAT(records[0].labels, ElementsAre(2.0f, 0.5f));
  EXPECT_EQ(records[0].image, file_contents(photo("cat dog/1.jpg")));
  EXPECT_THAT(records[1].labels, ElementsAre(1.0f, -3.0f));
  EXPECT_EQ(records[2].id, 8u);
  EXPECT_THAT(file_contents(out("x.idx")), StartsWith("70\t0\n8\t"));
  EXPECT_EQ(recordio::open_recordio(out("x.rec"))->sidecar().labels(),
            (LabelSummary{.width = 2, .integral = false}));
  EXPECT_THAT(open_container(out("x.rec"))->classes(), IsEmpty());
}

TEST_F(Packer, a_lists_root_may_be_elsewhere) {
  write_file(directory_ / "lists/x.lst", "0\t1\t0.jpg\n");
  pack(directory_ / "lists/x.lst", out("x.rec"), {.root = photo("bee")});
  EXPECT_EQ(records_of(out("x.rec")).at(0).image, file_contents(photo("bee/0.jpg")));
}

TEST_F(Packer, a_list_with_a_label_that_is_no_number_is_refused_with_its_line) {
  write_file(directory_ / "x.lst", "0\t1\tphotos/ant/0.jpg\n1\tbee\tphotos/bee/0.jpg\n");
  EXPECT_THAT(refusal<CorruptError>(directory_ / "x.lst", out("x.rec")),
              HasSubstr("x.lst: line 2: the label is not a number"));
  EXPECT_THAT(names_in(out()), IsEmpty());
}

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
  EXPECT_EQ(records.at(2).id, 3u);  // ids stay those of the folder
  EXPECT_EQ(records.at(2).image, file_contents(photo("ant/3.jpg")));
}

TEST_F(Packer, more_unreadable_images_than_allowed_end_the_job_and_leave_the_report) {
  write_file(photo("ant/2.jpg"), "no image");
  write_file(photo("bee/3.jpg"), "");
  const std::string message =
      refusal<CorruptError>(photos(), out("x.rec"), {.max_errors = {.count = 1}});
  EXPECT_THAT(message, StartsWith(photo("bee/3.jpg")));
  EXPECT_THAT(message, HasSubstr("at most 1 of 12 images"));
  EXPECT_THAT(names_in(out()), ElementsAre("x.rec.errors.jsonl"));
  const std::string report = file_contents(out("x.rec.errors.jsonl"));
  EXPECT_EQ(std::count(report.begin(), report.end(), '\n'), 2);
}

TEST_F(Packer, the_allowance_may_be_a_fraction_of_all_images) {
  write_file(photo("ant/2.jpg"), "no image");
  refusal<CorruptError>(photos(), out("x.rec"), {.max_errors = {.fraction = 0.08}});
  EXPECT_THAT(names_in(out()), ElementsAre("x.rec.errors.jsonl"));
  EXPECT_EQ(pack_photos({.max_errors = {.fraction = 0.09}}).failures.size(), 1u);
}

TEST_F(Packer, a_percentage_of_the_images_is_exact) {
  for (uint64_t percent = 0; percent <= 100; ++percent) {
    const MaxErrors allowed{.fraction = static_cast<double>(percent) / 100};
    for (const uint64_t images : {1u, 7u, 12u, 99u, 100u, 101u, 1000u, 1281167u}) {
      EXPECT_EQ(allowed.of(images), percent * images / 100) << percent << " % of " << images;
    }
    for (uint64_t images = 0; images < 300; ++images) {
      EXPECT_EQ(allowed.of(images), percent * images / 100) << percent << " % of " << images;
    }
  }
  EXPECT_EQ((MaxErrors{.count = 5, .fraction = .01}.of(100)), 5u);
}

TEST_F(Packer, a_file_too_long_for_a_record_is_one_image_that_cannot_be_packed) {
  constexpr uint64_t kGiantBytes = 900'000'000'000;
  write_file(photo("ant/000.jpg"), "");
  std::filesystem::resize_file(photo("ant/000.jpg"), kGiantBytes);
  write_file(directory_ / "x.lst", "0\t1\tphotos/ant/000.jpg\n1\t1\tphotos/ant/0.jpg\n");
  for (const std::string& source : {photos(), directory_ / "x.lst"}) {
    const PackResult result = pack(source, out("x.rec"), {.max_errors = {.count = 1}});
    ASSERT_EQ(result.failures.size(), 1u) << source;
    EXPECT_EQ(result.failures[0].path, photo("ant/000.jpg"));
    EXPECT_THAT(result.failures[0].reason, HasSubstr("too long"));
    EXPECT_THAT(result.failures[0].reason, HasSubstr(std::to_string(kGiantBytes)));
    EXPECT_THAT(refusal<CorruptError>(source, out("y.rec")), StartsWith(photo("ant/000.jpg")));
  }
}

// A sanitizer's own memory passes such a limit, and it ends the process where `new` would throw.
#ifndef FUELRAIL_SANITIZED
TEST_F(Packer, memory_that_one_image_cannot_have_leaves_out_that_image) {
  write_file(photo("ant/000.jpg"), "");
  std::filesystem::resize_file(photo("ant/000.jpg"), 500'000'000);
  const std::string said = in_forked_child([&]() -> std::string {
    const rlimit bytes{400'000'000, 400'000'000};
    if (::setrlimit(RLIMIT_DATA, &bytes) != 0) return "setrlimit failed";
    const PackResult result = pack_photos({.max_errors = {.count = 1}, .threads = 1});
    return result.failures.at(0).path + ": " + result.failures.at(0).reason;
  });
  EXPECT_EQ(said, photo("ant/000.jpg") + ": there is not enough memory for the image");
}
#endif

TEST_F(Packer, ids_that_a_list_has_more_than_once_are_warned_of_once) {
  write_file(directory_ / "x.lst",
             "7\t1\tphotos/ant/0.jpg\n\n8\t1\tphotos/ant/1.jpg\n8\t1\tphotos/ant/2.jpg\n"
             "7\t1\tphotos/ant/3.jpg\n7\t1\tphotos/ant/4.jpg\n");
  std::vector<std::string> warnings;
  PackOptions options;
  options.warn = [&](const std::string& text) { warnings.push_back(text); };
  EXPECT_EQ(pack(directory_ / "x.lst", out("x.rec"), options).files.at(0).records, 5u);
  EXPECT_THAT(warnings, ElementsAre(directory_ / "x.lst" +
                                    ": 3 lines have an id that an earlier line has: first line 4, "
                                    "id 8"));
}

TEST_F(Packer, a_job_without_failures_removes_an_old_report) {
  write_file(out("x.rec.errors.jsonl"), "{}\n");
  pack_photos();
  EXPECT_THAT(names_in(out()), ElementsAre("x.idx", "x.rec", "x.rec.frx"));
}

TEST_F(Packer, a_file_without_any_readable_image_is_not_made) {
  for (const std::string& image : images_) write_file(photo(image), "no image");
  EXPECT_THAT(refusal<CorruptError>(photos(), out("x.rec"), {.max_errors = {.fraction = 1}}),
              HasSubstr("no image of the file can be read"));
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
  const PackResult result = pack_photos({.resize = 24, .max_errors = {.count = 1}});
  ASSERT_EQ(result.failures.size(), 1u);
  EXPECT_EQ(result.failures[0].path, photo("ant/1.jpg"));
}

TEST_F(Packer, without_verification_any_bytes_pass) {
  write_file(photo("ant/2.jpg"), "no image");
  EXPECT_THAT(pack_photos({.verify_images = false}).failures, IsEmpty());
  EXPECT_EQ(records_of(out("x.rec")).at(2).image, "no image");
}

TEST_F(Packer, a_split_gives_disjoint_parts_whose_union_is_everything) {
  const PackResult result =
      pack_photos({.split = {{"train", .7}, {"val", .3}}, .seed = 5, .threads = 2});
  EXPECT_THAT(names_in(out()), ElementsAre("x_train.idx", "x_train.rec", "x_train.rec.frx",
                                           "x_val.idx", "x_val.rec", "x_val.rec.frx"));
  ASSERT_EQ(result.files.size(), 2u);
  EXPECT_EQ(result.files[0].path, out("x_train.rec"));
  EXPECT_EQ(result.files[0].records, 8u);
  EXPECT_EQ(result.files[1].records, 4u);
  std::set<uint64_t> ids;
  for (const char* name : {"x_train.rec", "x_val.rec"}) {
    uint64_t last = 0;
    for (const Packed& record : records_of(out(name))) {
      EXPECT_TRUE(ids.insert(record.id).second);
      EXPECT_GE(record.id, last);
      last = record.id;
      EXPECT_EQ(record.image, file_contents(photo(images_.at(record.id))));
    }
    EXPECT_THAT(open_container(out(name))->classes(), ElementsAre("ant", "bee", "cat dog"));
  }
  EXPECT_EQ(ids.size(), images_.size());
}

TEST_F(Packer, a_split_depends_on_its_seed_only) {
  const PackOptions options{.split = {{"a", .5}, {"b", .5}}, .seed = 1};
  pack_photos(options);
  const auto first = outputs();
  PackOptions again = options;
  again.threads = 3;
  pack_photos(again);
  EXPECT_EQ(outputs(), first);
  again.seed = 2;
  pack_photos(again);
  EXPECT_NE(outputs(), first);
}

TEST_F(Packer, a_split_that_cannot_be_is_refused) {
  const auto message = [&](const std::vector<std::pair<std::string, double>>& split) {
    return refusal<InvalidArgumentError>(photos(), out("x.rec"), {.split = split});
  };
  EXPECT_THAT(message({{"a", .999}, {"b", .001}}),
              HasSubstr("part 'b' of the split would be empty"));
  EXPECT_THAT(message({{"a", .5}, {"a", .5}}), HasSubstr("same name"));
  EXPECT_THAT(message({{"a/b", .5}}), HasSubstr("cannot be in a file's name"));
  EXPECT_THAT(message({{"", .5}}), HasSubstr("cannot be in a file's name"));
  EXPECT_NE(message({{"a", .6}, {"b", .6}}), "");
  EXPECT_NE(message({{"a", -.1}}), "");
  EXPECT_THAT(names_in(out()), IsEmpty());
}

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
  refusal<CorruptError>(photos(), out("x.rec"));
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
  options.progress = [](const PackProgress&) { return false; };
  EXPECT_EQ(refusal<StateError>(photos(), out("x.rec"), options), "interrupted");
  EXPECT_THAT(names_in(out()), IsEmpty());
}

TEST_F(Packer, a_second_packer_of_the_same_output_is_refused_and_harms_nothing) {
  pack_photos();
  const auto expected = outputs();
  std::filesystem::remove(out("x.rec"));
  PackOptions options{.threads = 2};
  int refused = 0;
  options.progress = [&](const PackProgress&) {
    const std::string here = refusal<IoError>(photos(), out("x.rec"));
    EXPECT_EQ(here.find(out("x.rec") + ": another pack is writing it"), 0u) << here;
    EXPECT_EQ(in_forked_child([&] { return refusal<IoError>(photos(), out("x.rec")); }), here);
    ++refused;
    return true;
  };
  pack_photos(options);
  EXPECT_GT(refused, 0);
  EXPECT_EQ(outputs(), expected);
  pack_photos();  // nothing is left locked
}

TEST_F(Packer, packers_of_different_outputs_do_not_mind_each_other) {
  PackOptions options{.threads = 2};
  options.progress = [&](const PackProgress&) {
    pack(photos(), out("y.rec"), {.threads = 1});
    return true;
  };
  pack_photos(options);
  EXPECT_EQ(file_contents(out("y.rec")), file_contents(out("x.rec")));
}

TEST_F(Packer, progress_ends_with_everything_done) {
  std::vector<PackProgress> reports;
  PackOptions options{.threads = 2};
  options.progress = [&](const PackProgress& progress) {
    reports.push_back(progress);
    return true;
  };
  pack_photos(options);
  ASSERT_FALSE(reports.empty());
  EXPECT_EQ(reports.back().done, images_.size());
  EXPECT_EQ(reports.back().total, images_.size());
  EXPECT_EQ(reports.back().bytes, std::filesystem::file_size(out("x.rec")));
}

TEST_F(Packer, an_error_in_the_progress_callback_leaves_nothing) {
  PackOptions options{.threads = 2};
  options.progress = [](const PackProgress&) -> bool { throw std::runtime_error("mine"); };
  EXPECT_THROW(pack_photos(options), std::runtime_error);
  EXPECT_THAT(names_in(out()), IsEmpty());
}

// RLIMIT_FSIZE is the disk that is full, at every stage: data, sidecar, index, report.
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
    EXPECT_THAT(said, HasSubstr("largest size allowed")) << limit;
    EXPECT_EQ(outputs(), before) << limit;
  }
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

TEST_F(Packer, what_cannot_be_packed_is_refused) {
  EXPECT_THAT(refusal<NotFoundError>(directory_ / "nowhere", out("x.rec")), HasSubstr("nowhere"));
  write_file(directory_ / "x.txt", "0\t1\ta.jpg\n");
  EXPECT_THAT(refusal<InvalidArgumentError>(directory_ / "x.txt", out("x.rec")),
              HasSubstr("ends in .lst"));
  write_file(directory_ / "x.lst", "\n");
  EXPECT_THAT(refusal<CorruptError>(directory_ / "x.lst", out("x.rec")),
              HasSubstr("there is no image in it"));
  EXPECT_THAT(refusal<InvalidArgumentError>(photos(), out("x.rec"), {.root = "/tmp"}),
              HasSubstr("a root is for a list"));
  EXPECT_THAT(names_in(out()), IsEmpty());
}

TEST_F(Packer, a_folder_without_images_where_they_should_be_is_refused) {
  write_file(directory_ / "texts/a/readme.txt", "no image");
  EXPECT_THAT(refusal<CorruptError>(directory_ / "texts", out("x.rec")),
              HasSubstr("has no images"));
  EXPECT_THAT(refusal<CorruptError>(photo("ant"), out("x.rec")), HasSubstr("no class folders"));
  EXPECT_THAT(names_in(out()), IsEmpty());
}

TEST_F(Packer, an_output_that_cannot_be_is_refused) {
  EXPECT_THAT(refusal<InvalidArgumentError>(photos(), out("x.data")), HasSubstr("ends in .rec"));
  EXPECT_THAT(refusal<InvalidArgumentError>(photos(), out(".rec")), HasSubstr("ends in .rec"));
  EXPECT_NE(refusal<NotFoundError>(photos(), out("no/such/x.rec")), "");
  std::filesystem::create_directory(out("d.rec"));
  EXPECT_THAT(refusal<InvalidArgumentError>(photos(), out("d.rec")), HasSubstr("d.rec"));
  EXPECT_THAT(names_in(out()), ElementsAre("d.rec"));
}

TEST_F(Packer, options_out_of_range_are_refused) {
  for (const PackOptions& options :
       {PackOptions{.resize = -1}, PackOptions{.resize = 40'000}, PackOptions{.quality = 0},
        PackOptions{.quality = 101}, PackOptions{.max_errors = {.fraction = 1.5}},
        PackOptions{.threads = -1}}) {
    EXPECT_THAT(refusal<InvalidArgumentError>(photos(), out("x.rec"), options),
                HasSubstr("out of range"));
  }
  EXPECT_THAT(names_in(out()), IsEmpty());
}

TEST_F(Packer, the_memory_file_system_serves_as_well) {
  write_file(directory_ / "x.lst", "0\t1\tmemory://packer_test/a.jpg\n");
  FileSystem& memory = file_system_for("memory://packer_test");
  memory.make_directory("memory://packer_test");
  const auto sink = memory.create("memory://packer_test/a.jpg");
  sink->write(as_bytes(file_contents(photo("ant/0.jpg"))));
  sink->commit();
  pack(directory_ / "x.lst", "memory://packer_test/x.rec", {});
  EXPECT_EQ(records_of("memory://packer_test/x.rec").at(0).image,
            file_contents(photo("ant/0.jpg")));
}

}  // namespace
}  // namespace fuelrail
