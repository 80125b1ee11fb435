#include "fuelrail/pack/packer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "fuelrail/container/build_sidecar.h"
#include "fuelrail/container/open.h"
#include "fuelrail/container/record_file.h"
#include "fuelrail/container/recordio/recordio_container.h"
#include "fuelrail/decode/decoder.h"
#include "fuelrail/decode/probe.h"
#include "fuelrail/testing/ffrecord_file.h"
#include "fuelrail/testing/packer_rig.h"

namespace fuelrail::pack {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

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
  build_sidecar(out("x.rec"));
  EXPECT_EQ(file_contents(out("x.rec.frx")), packed);
}

TEST_F(Packer, entry_points_are_those_that_rebuilding_the_sidecar_makes) {
  put_photograph("ant/1.jpg", 80, 90, 99);
  for (const char* name : {"x.rec", "x.ffr"}) {
    for (const int threads : {1, 5}) {
      pack(photos(), out(name),
           {.entry_points = true, .job = {.overwrite = true}, .threads = threads});
      const auto container = open_container(out(name));
      EXPECT_GT(dynamic_cast<const RecordFile&>(*container).hinted_records(), uint64_t{0});
      const std::string packed = file_contents(out(name) + ".frx");
      build_sidecar(out(name), {.hints = {.maker = hint_maker}});
      EXPECT_TRUE(file_contents(out(name) + ".frx") == packed) << name << " " << threads;
    }
  }
  EXPECT_EQ(refusal<InvalidArgumentError>(photos(), out("x.bzna"), {.entry_points = true}),
            "`entry_points` does not apply to .bzna files: expected an output whose name ends in "
            ".rec or .ffr, found .bzna");
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
  for (const PackOptions& options :
       {PackOptions{}, PackOptions{.images = StoredImages{.resize = 24, .quality = 80}}}) {
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
  pack_photos({.images = StoredImages{.resize = 30}, .threads = 2});
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

TEST_F(Packer, ids_that_a_list_has_more_than_once_are_warned_of_once) {
  write_file(directory_ / "x.lst",
             "7\t1\tphotos/ant/0.jpg\n\n8\t1\tphotos/ant/1.jpg\n8\t1\tphotos/ant/2.jpg\n"
             "7\t1\tphotos/ant/3.jpg\n7\t1\tphotos/ant/4.jpg\n");
  std::vector<std::string> warnings;
  PackOptions options;
  options.job.warn = [&](const std::string& text) { warnings.push_back(text); };
  EXPECT_EQ(pack(directory_ / "x.lst", out("x.rec"), options).files.at(0).records, 5u);
  EXPECT_THAT(warnings,
              ElementsAre(directory_ / "x.lst" +
                          ": 3 lines repeat an id of an earlier line: first line 4, id 8"));
}

TEST_F(Packer, without_verification_any_bytes_pass) {
  write_file(photo("ant/2.jpg"), "no image");
  EXPECT_THAT(pack_photos({.images = StoredImages{.verify_images = false}}).failures, IsEmpty());
  EXPECT_EQ(records_of(out("x.rec")).at(2).image, "no image");
}

TEST_F(Packer, a_split_gives_disjoint_parts_whose_union_is_everything) {
  const PackResult result =
      pack_photos({.split = {{"train", .7}, {"val", .3}}, .split_seed = 5, .threads = 2});
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
  const PackOptions options{.split = {{"a", .5}, {"b", .5}}, .split_seed = 1};
  pack_photos(options);
  const auto first = outputs();
  PackOptions again = options;
  again.threads = 3;
  pack_photos(again);
  EXPECT_EQ(outputs(), first);
  again.split_seed = 2;
  pack_photos(again);
  EXPECT_NE(outputs(), first);
}

TEST_F(Packer, a_split_that_cannot_be_is_refused) {
  const auto message = [&](const std::vector<std::pair<std::string, double>>& split) {
    return refusal<InvalidArgumentError>(photos(), out("x.rec"), {.split = split});
  };
  EXPECT_THAT(message({{"a", .999}, {"b", .001}}), HasSubstr("part 'b' of `split` would be empty"));
  EXPECT_THAT(message({{"a", .5}, {"a", .5}}), HasSubstr("same name"));
  EXPECT_THAT(message({{"a/b", .5}}), HasSubstr("a part name in `split` is invalid"));
  EXPECT_THAT(message({{"", .5}}), HasSubstr("a part name in `split` is invalid"));
  EXPECT_NE(message({{"a", .6}, {"b", .6}}), "");
  EXPECT_NE(message({{"a", -.1}}), "");
  EXPECT_THAT(names_in(out()), IsEmpty());
}

TEST_F(Packer, progress_ends_with_everything_done) {
  std::vector<PackProgress> reports;
  PackOptions options{.threads = 2};
  options.job.progress = [&](const PackProgress& progress) {
    reports.push_back(progress);
    return true;
  };
  pack_photos(options);
  ASSERT_FALSE(reports.empty());
  EXPECT_EQ(reports.back().done, images_.size());
  EXPECT_EQ(reports.back().total, images_.size());
  EXPECT_EQ(reports.back().bytes, std::filesystem::file_size(out("x.rec")));
}

TEST_F(Packer, a_folder_of_files_that_are_packed_already_is_refused) {
  write_file(directory_ / "packed/x.ffr", ffrecord::file_of({"record"}));
  EXPECT_THAT(
      refusal<InvalidArgumentError>(directory_ / "packed", out("x.rec")),
      HasSubstr("the source is already packed: expected a folder with one sub-folder per class, or "
                "a list of images, found a folder of FFRecord files"));
}

TEST_F(Packer, what_cannot_be_packed_is_refused) {
  EXPECT_THAT(refusal<NotFoundError>(directory_ / "nowhere", out("x.rec")), HasSubstr("nowhere"));
  write_file(directory_ / "x.txt", "0\t1\ta.jpg\n");
  EXPECT_THAT(refusal<InvalidArgumentError>(directory_ / "x.txt", out("x.rec")),
              HasSubstr("ends in .lst, .csv or .tsv"));
  write_file(directory_ / "x.lst", "\n");
  EXPECT_THAT(refusal<CorruptError>(directory_ / "x.lst", out("x.rec")),
              HasSubstr("the source has no images"));
  EXPECT_THAT(refusal<InvalidArgumentError>(photos(), out("x.rec"), {.root = "/tmp"}),
              HasSubstr("`root` can be given only for a list of images"));
  EXPECT_THAT(names_in(out()), IsEmpty());
}

TEST_F(Packer, a_folder_without_images_where_they_should_be_is_refused) {
  write_file(directory_ / "texts/a/readme.txt", "no image");
  EXPECT_THAT(refusal<CorruptError>(directory_ / "texts", out("x.rec")),
              HasSubstr("has no images"));
  EXPECT_THAT(refusal<CorruptError>(photo("ant"), out("x.rec")), HasSubstr("no class folders"));
  EXPECT_THAT(names_in(out()), IsEmpty());
}

TEST_F(Packer, options_out_of_range_are_refused) {
  for (const PackOptions& options : {PackOptions{.images = StoredImages{.resize = -1}},
                                     PackOptions{.images = StoredImages{.resize = 40'000}},
                                     PackOptions{.images = StoredImages{.quality = 0}},
                                     PackOptions{.images = StoredImages{.quality = 101}},
                                     PackOptions{.max_errors = {.fraction = 1.5}},
                                     PackOptions{.threads = -1}, PackOptions{.threads = 100'000}}) {
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

TEST_F(Packer, images_in_no_part_of_a_split_are_counted) {
  EXPECT_EQ(pack_photos({.split = {{"train", .5}, {"val", .25}}}).unassigned, 3u);
  EXPECT_EQ(pack_photos({.split = {{"train", .7}, {"val", .2}, {"test", .1}}}).unassigned, 0u);
  EXPECT_EQ(pack_photos().unassigned, 0u);
}

}  // namespace
}  // namespace fuelrail::pack
