// Parts by position, and merging them into one file.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "fuelrail/base/crc32.h"
#include "fuelrail/container/open.h"
#include "fuelrail/pack/merge.h"
#include "fuelrail/pack/output/part.h"
#include "fuelrail/pack/source/open_source.h"
#include "fuelrail/testing/packer_rig.h"

namespace fuelrail::pack {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::refusal_of;

TEST_F(Packer, parts_by_position_are_even_and_keep_the_order) {
  const PackResult all = pack_photos();
  const PackResult parts = pack(photos(), out("p.rec"), {.nsplit = 5, .threads = 2});
  ASSERT_EQ(parts.files.size(), 5u);
  std::vector<Packed> together;
  std::vector<uint64_t> sizes;
  for (const PackResult::File& file : parts.files) {
    sizes.push_back(file.records);
    for (const Packed& record : records_of(file.path)) together.push_back(record);
  }
  EXPECT_EQ(parts.files[3].path, out("p.part003.rec"));
  EXPECT_THAT(sizes, ElementsAre(2, 2, 3, 2, 3));
  const std::vector<Packed> whole = records_of(out("x.rec"));
  ASSERT_EQ(together.size(), whole.size());
  for (size_t i = 0; i < whole.size(); ++i) {
    EXPECT_EQ(together[i].id, whole[i].id);
    EXPECT_EQ(together[i].image, whole[i].image);
  }
  EXPECT_EQ(parts.unassigned, 0u);
}

TEST_F(Packer, a_part_made_alone_is_the_part_of_the_whole_run) {
  pack(photos(), out("x.rec"), {.nsplit = 3, .threads = 2});
  const auto expected = outputs();
  for (const std::string& name : names_in(out())) std::filesystem::remove(out(name));
  for (const uint64_t part : {2, 0, 1}) {
    const PackResult result =
        pack(photos(), out("x.rec"), {.nsplit = 3, .part = part, .threads = 1});
    ASSERT_EQ(result.files.size(), 1u);
    EXPECT_EQ(result.unassigned, 0u);
  }
  EXPECT_EQ(outputs(), expected);
}

TEST_F(Packer, merged_parts_are_the_file_that_is_made_without_them) {
  for (const std::string extension : {".rec", ".ffr"}) {
    pack(photos(), out("whole" + extension), {.threads = 2});
    const PackResult parts = pack(photos(), out("p" + extension), {.nsplit = 3, .threads = 2});
    std::vector<std::string> names;
    for (const PackResult::File& file : parts.files) names.push_back(file.path);
    const PackResult::File made = merge(names, out("merged" + extension));
    EXPECT_EQ(made.records, images_.size());
    EXPECT_EQ(file_contents(out("merged" + extension)), file_contents(out("whole" + extension)));
    EXPECT_EQ(file_contents(out("merged" + extension + ".frx")),
              file_contents(out("whole" + extension + ".frx")));
  }
  EXPECT_EQ(file_contents(out("merged.idx")), file_contents(out("whole.idx")));
  EXPECT_FALSE(std::filesystem::exists(out("merged.rec.journal.partial")));
}

TEST_F(Packer, merged_parts_of_a_list_keep_their_labels) {
  write_file(directory_ / "x.lst",
             "7\t1\t2.5\tphotos/ant/0.jpg\n3\t1\tphotos/ant/1.jpg\n9\t4\tphotos/bee/0.jpg\n");
  pack(directory_ / "x.lst", out("whole.rec"), {.threads = 1});
  pack(directory_ / "x.lst", out("p.rec"), {.nsplit = 3, .threads = 1});
  merge({out("p.part000.rec"), out("p.part001.rec"), out("p.part002.rec")}, out("merged.rec"));
  for (const char* name : {".rec", ".idx", ".rec.frx"}) {
    EXPECT_EQ(file_contents(out("merged") + name), file_contents(out("whole") + name)) << name;
  }
}

TEST_F(Packer, more_parts_than_images_are_refused) {
  EXPECT_THAT(refusal<InvalidArgumentError>(photos(), out("x.rec"), {.nsplit = 13}),
              HasSubstr("`nsplit` exceeds the number of images: expected at most 12"));
  EXPECT_NE(refusal<InvalidArgumentError>(photos(), out("x.rec"), {.nsplit = 0}), "");
  EXPECT_THAT(refusal<InvalidArgumentError>(photos(), out("x.rec"), {.nsplit = 2, .part = 2}),
              HasSubstr("`part` is out of range"));
  EXPECT_THAT(refusal<InvalidArgumentError>(photos(), out("x.rec"),
                                            {.split = {{"a", .5}, {"b", .5}}, .nsplit = 2}),
              HasSubstr("`split` and `nsplit` cannot be combined"));
  EXPECT_THAT(names_in(out()), IsEmpty());
}

TEST_F(Packer, above_a_thousand_parts_their_names_still_sort_in_their_order) {
  std::string text;
  for (int i = 0; i < 1001; ++i) text += std::to_string(i) + "\t0\tphotos/ant/0.jpg\n";
  write_file(directory_ / "x.lst", text);
  for (const uint64_t part : {7, 1000}) {
    pack(directory_ / "x.lst", out("x.ffr"), {.nsplit = 1001, .part = part, .threads = 1});
  }
  EXPECT_THAT(names_in(out()), ElementsAre("x.part0007.ffr", "x.part0007.ffr.frx", "x.part1000.ffr",
                                           "x.part1000.ffr.frx"));
}

TEST_F(Packer, parts_that_are_finished_stay_when_too_many_images_fail) {
  write_file(photo("bee/3.jpg"), "no image");  // the ninth image
  const std::string message =
      refusal<CorruptError>(photos(), out("x.rec"), {.nsplit = 3, .threads = 2});
  EXPECT_THAT(
      message,
      HasSubstr("At most 0 of 12 images may be skipped (max_errors, --max-errors), found 1"));
  EXPECT_THAT(names_in(out()), ElementsAre("x.part000.idx", "x.part000.rec",
                                           "x.part000.rec.errors.jsonl", "x.part000.rec.frx",
                                           "x.part001.idx", "x.part001.rec", "x.part001.rec.frx"));
  EXPECT_EQ(records_of(out("x.part001.rec")).size(), 4u);
}

TEST_F(Packer, every_failure_is_told_as_it_is_found) {
  write_file(photo("ant/2.jpg"), "no image");
  write_file(photo("bee/3.jpg"), "");
  std::vector<std::string> told;
  PackOptions options{.max_errors = {.count = 2}, .threads = 2};
  options.failed = [&](const PackFailure& failure) { told.push_back(failure.path); };
  pack_photos(options);
  EXPECT_THAT(told, ElementsAre(photo("ant/2.jpg"), photo("bee/3.jpg")));
}

TEST_F(Packer, bad_lines_of_a_list_count_as_images_that_cannot_be_read) {
  const std::string list = directory_ / "x.lst";
  write_file(list, "0\t1\tphotos/ant/0.jpg\nx\t1\tphotos/ant/1.jpg\n2\t1\t5\tphotos/ant/2.jpg\n");
  EXPECT_THAT(
      refusal<CorruptError>(list, out("x.rec"), {.label_width = 1}),
      AllOf(HasSubstr("line 2"),
            HasSubstr("At most 0 of 1 images may be skipped (max_errors, --max-errors), found 2")));
  EXPECT_THAT(file_contents(out("x.rec.errors.jsonl")),
              AllOf(HasSubstr("line 2"), HasSubstr("line 3")));
  const PackResult result =
      pack(list, out("x.rec"), {.label_width = 1, .max_errors = {.count = 2}, .threads = 1});
  ASSERT_EQ(result.failures.size(), 2u);
  EXPECT_EQ(result.failures[0].path, list);
  EXPECT_THAT(result.failures[0].reason, HasSubstr("line 2: the id is not a number"));
  EXPECT_THAT(result.failures[1].reason, HasSubstr("line 3: the number of labels is wrong"));
  EXPECT_EQ(result.files.at(0).records, 1u);
}

TEST_F(Packer, a_part_made_alone_leaves_out_the_lines_that_the_whole_run_does) {
  std::string text;
  for (int i = 0; i < 40; ++i) {
    text += i % 20 == 7 ? "no line\n" : std::to_string(i) + "\t1\tphotos/ant/0.jpg\n";
  }
  const std::string list = directory_ / "x.lst";
  write_file(list, text);
  PackOptions options{.nsplit = 4, .max_errors = {.fraction = 0.06}, .threads = 1};
  EXPECT_EQ(pack(list, out("x.rec"), options).failures.size(), 2u);
  options.part = 1;
  EXPECT_EQ(pack(list, out("y.rec"), options).failures.size(), 2u);
  EXPECT_EQ(outputs().at("y.part001.rec"), outputs().at("x.part001.rec"));
  options.max_errors.fraction = 0.04;
  EXPECT_THAT(refusal<CorruptError>(list, out("z.rec"), options), HasSubstr("part of the source"));
}

TEST_F(Packer, a_list_of_bad_lines_alone_says_what_they_have) {
  const std::string list = directory_ / "x.lst";
  write_file(list, "0\t1\tphotos/ant/0.jpg\n");
  EXPECT_THAT(
      refusal<CorruptError>(list, out("x.rec"), {.label_width = 2, .max_errors = {.count = 1}}),
      HasSubstr("no images: found unreadable folders or lines: 1; the first: line 1: "));
}

TEST_F(Packer, the_first_label_alone_can_be_kept) {
  write_file(directory_ / "x.lst", "7\t1.5\t2.5\tphotos/ant/0.jpg\n");
  pack(directory_ / "x.lst", out("x.rec"), {.first_label_only = true});
  EXPECT_THAT(records_of(out("x.rec")).at(0).labels, ElementsAre(1.5f));
}

// --- merge ---

class Merging : public Packer {
 protected:
  template <typename Expected>
  std::string merge_refusal(const std::vector<std::string>& sources, const std::string& output) {
    return refusal_of<Expected>([&] { merge(sources, output); });
  }

  // Records that do not contain their keys.
  void put_keyed(const std::string& name, const std::vector<uint64_t>& keys) const {
    Part part(out(name), keys.size(), true);
    for (const uint64_t key : keys) {
      const std::string payload = "of " + std::to_string(key);
      part.append(as_bytes(payload), crc32(as_bytes(payload)), key);
    }
    part.finish();
    part.commit();
  }

  // The keys of the file into which the files with these stems are merged.
  std::vector<uint64_t> merged_keys(const std::string& extension,
                                    const std::vector<std::string>& stems) const {
    std::vector<std::string> sources;
    for (const std::string& stem : stems) sources.push_back(out(stem + extension));
    merge(sources, out("m" + extension), {.overwrite = true});
    const auto made = open_stream(out("m" + extension), out("m" + extension), {});
    std::vector<uint64_t> keys;
    for (uint64_t i = 0; i < made->size(); ++i) {
      const StreamedRecord record = made->read(i);
      keys.push_back(record.key.value_or(record.id.value_or(i)));
    }
    return keys;
  }
};

TEST_F(Merging, what_cannot_be_merged_is_refused_and_nothing_is_left) {
  pack_photos();
  pack(photos(), out("x.ffr"), {});
  const auto before = outputs();
  EXPECT_THAT(merge_refusal<InvalidArgumentError>({}, out("m.rec")),
              HasSubstr("the list of files to merge is empty"));
  EXPECT_THAT(merge_refusal<InvalidArgumentError>({out("x.rec"), out("x.ffr")}, out("m.rec")),
              HasSubstr("the source and the output have different formats"));
  EXPECT_THAT(merge_refusal<InvalidArgumentError>({out("x.rec")}, out("./x.rec")),
              HasSubstr("the output is also a source"));
  EXPECT_NE(merge_refusal<NotFoundError>({out("x.rec"), out("no.rec")}, out("m.rec")), "");
  pack(photos(), out("y.rec"), {.job = {.overwrite = true}});
  EXPECT_THAT(merge_refusal<IoError>({out("x.rec")}, out("y.rec")), HasSubstr("already exists"));
  for (const char* name : {"y.rec", "y.idx", "y.rec.frx"}) std::filesystem::remove(out(name));
  EXPECT_EQ(outputs(), before);
}

TEST_F(Merging, a_link_is_the_file_that_it_leads_to) {
  pack_photos();
  std::filesystem::create_symlink("x.rec", out("link.rec"));
  std::filesystem::create_hard_link(out("x.rec"), out("hard.rec"));
  std::filesystem::create_directory_symlink(out(), directory_ / "here");
  const auto before = outputs();
  for (const std::string& link :
       {out("link.rec"), out("hard.rec"), directory_ / "here/x.rec", "file://" + out("x.rec")}) {
    EXPECT_THAT(merge_refusal<InvalidArgumentError>({out("x.rec"), link}, out("m.rec")),
                HasSubstr(link + ": the source is listed twice"));
    EXPECT_THAT(
        refusal_of<InvalidArgumentError>([&] { merge({out("x.rec")}, link, {.overwrite = true}); }),
        HasSubstr("the output is also a source"));
  }
  EXPECT_EQ(outputs(), before);
}

TEST_F(Merging, a_file_that_is_named_twice_is_refused_before_it_is_read) {
  EXPECT_THAT(merge_refusal<InvalidArgumentError>({out("no.rec"), out("./no.rec")}, out("m.rec")),
              HasSubstr("./no.rec: the source is listed twice"));
}

TEST_F(Merging, a_key_of_two_files_is_refused_with_both_names) {
  for (const std::string extension : {".rec", ".ffr"}) {
    const std::string first = "p.part000" + extension;
    pack(photos(), out("p" + extension), {.nsplit = 3});
    std::filesystem::copy_file(out(first), out("copy" + extension));
    std::filesystem::copy_file(out(first + ".frx"), out("copy" + extension + ".frx"));
    if (extension == ".rec") std::filesystem::copy_file(out("p.part000.idx"), out("copy.idx"));
    const std::string message = merge_refusal<InvalidArgumentError>(
        {out("p.part001" + extension), out(first), out("copy" + extension)}, out("m" + extension));
    EXPECT_THAT(message, HasSubstr(out("copy" + extension) + ": two of the files"));
    EXPECT_THAT(message, HasSubstr("found 0, which is also a key of " + out(first)));
    EXPECT_FALSE(std::filesystem::exists(out("m" + extension)));
  }
}

TEST_F(Merging, keys_that_no_two_files_share_stay) {
  for (const std::string extension : {".rec", ".ffr"}) {
    put_keyed("a" + extension, {5, 6, 7});
    put_keyed("b" + extension, {0, 1, 2});
    EXPECT_THAT(merged_keys(extension, {"a", "b"}), ElementsAre(5, 6, 7, 0, 1, 2));
    put_keyed("c" + extension, {3, 1, 9});  // key 1 happens to equal a record's number
    EXPECT_THAT(merged_keys(extension, {"a", "c"}), ElementsAre(5, 6, 7, 3, 1, 9));
    put_keyed("d" + extension, {1, 2, 3});
    put_keyed("e" + extension, {0, 10, 11});
    EXPECT_THAT(merged_keys(extension, {"d", "e"}), ElementsAre(1, 2, 3, 0, 10, 11));
  }
}

TEST_F(Merging, keys_that_are_but_numbers_go_on_where_an_earlier_file_has_them) {
  for (const std::string extension : {".rec", ".ffr"}) {
    for (const char* name : {"a", "b"}) put_keyed(name + extension, {0, 1, 2});
    EXPECT_THAT(merged_keys(extension, {"a", "b"}), ElementsAre(0, 1, 2, 3, 4, 5));
    put_keyed("c" + extension, {0, 9});
    EXPECT_THAT(merged_keys(extension, {"c", "a", "b"}), ElementsAre(0, 9, 2, 3, 4, 5, 6, 7));
  }
}

TEST_F(Merging, a_shared_key_is_told_as_its_file_has_it) {
  for (const std::string extension : {".rec", ".ffr"}) {
    for (const char* name : {"a", "b"}) put_keyed(name + extension, {0, 1, 2});
    put_keyed("c" + extension, {5, 9});
    const auto found = [&](const std::vector<std::string>& names) {
      return merge_refusal<InvalidArgumentError>(
          {out(names[0] + extension), out(names[1] + extension), out(names[2] + extension)},
          out("m" + extension));
    };
    EXPECT_THAT(found({"a", "b", "c"}), HasSubstr(out("c" + extension) + ": two of the files"));
    EXPECT_THAT(found({"a", "b", "c"}), HasSubstr("found 5, the same as key 2 of " +
                                                  out("b" + extension) + " after renumbering"));
    EXPECT_THAT(
        found({"a", "c", "b"}),
        HasSubstr("found 0, renumbered to 5, which is also a key of " + out("c" + extension)));
  }
}

TEST_F(Merging, parts_in_any_order_keep_their_keys) {
  pack(photos(), out("p.rec"), {.nsplit = 3});
  merge({out("p.part002.rec"), out("p.part000.rec"), out("p.part001.rec")}, out("m.rec"));
  std::vector<uint64_t> ids;
  for (const Packed& record : records_of(out("m.rec"))) ids.push_back(record.id);
  EXPECT_THAT(ids, ElementsAre(8, 9, 10, 11, 0, 1, 2, 3, 4, 5, 6, 7));
}

TEST_F(Merging, a_key_that_one_file_has_twice_is_warned_of) {
  write_file(directory_ / "x.lst", "4\t0\tphotos/ant/0.jpg\n4\t0\tphotos/ant/1.jpg\n");
  pack(directory_ / "x.lst", out("x.rec"), {});
  std::vector<std::string> said;
  merge({out("x.rec")}, out("m.rec"),
        {.warn = [&](const std::string& text) { said.push_back(text); }});
  EXPECT_THAT(said,
              ElementsAre(AllOf(HasSubstr("x.rec: a search by key cannot find 1 of its 2 records"),
                                HasSubstr("An index by position"))));
}

TEST_F(Merging, files_of_different_classes_are_refused) {
  pack_photos();
  std::filesystem::rename(photo("bee"), photo("wasp"));
  pack(photos(), out("y.rec"), {});
  EXPECT_THAT(
      merge_refusal<InvalidArgumentError>({out("x.rec"), out("y.rec")}, out("m.rec")),
      HasSubstr(
          "different class names: expected 'bee' as class 1, as in the first file, found 'cat "
          "dog' as class 1"));
  EXPECT_FALSE(std::filesystem::exists(out("m.rec")));
}

TEST_F(Merging, a_damaged_record_says_its_file_and_number) {
  pack(photos(), out("x.rec"), {.nsplit = 2});
  std::string bytes = file_contents(out("x.part001.rec"));
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
  write_file(out("x.part001.rec"), bytes);
  const std::string message =
      merge_refusal<CorruptError>({out("x.part000.rec"), out("x.part001.rec")}, out("m.rec"));
  EXPECT_THAT(message, HasSubstr("x.part001.rec: record "));
  EXPECT_FALSE(std::filesystem::exists(out("m.rec")));
}

TEST_F(Merging, files_that_have_neither_index_nor_sidecar_are_merged) {
  pack(photos(), out("whole.rec"), {});
  pack(photos(), out("x.rec"), {.nsplit = 2});
  for (const char* part : {"x.part000", "x.part001"}) {
    std::filesystem::remove(out(part) + ".idx");
    std::filesystem::remove(out(part) + ".rec.frx");
  }
  merge({out("x.part000.rec"), out("x.part001.rec")}, out("m.rec"));
  EXPECT_EQ(file_contents(out("m.rec")), file_contents(out("whole.rec")));
  EXPECT_EQ(file_contents(out("m.idx")), file_contents(out("whole.idx")));
  EXPECT_EQ(open_container(out("m.rec"))->size(), images_.size());
}

}  // namespace
}  // namespace fuelrail::pack
