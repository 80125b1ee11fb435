// StoredImages::baseline: progressive JPEGs that are packed as baseline JPEGs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "fuelrail/encode/baseline_jpeg.h"
#include "fuelrail/testing/made_jpeg.h"
#include "fuelrail/testing/packer_rig.h"

namespace fuelrail::pack {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Progressive are images 1 and 5, and image 9, which is truncated.
class BaselinePacker : public Packer {
 protected:
  BaselinePacker() {
    put_progressive("ant/1.jpg", {40, 50}, 1.0);
    put_progressive("bee/0.jpg", {90, 70}, 1.0);
    put_progressive("cat dog/0.jpg", {30, 30}, 0.7);
  }

  void put_progressive(const std::string& name, Size size, double part) const {
    const std::vector<std::byte> jpeg = make_jpeg({.size = size, .progressive = true});
    write_file(photo(name), as_text(jpeg).substr(
                                0, static_cast<size_t>(part * static_cast<double>(jpeg.size()))));
  }

  static PackOptions options(StoredImages images = {.baseline = true}, int threads = 2) {
    return {.images = images, .threads = threads};
  }

  PackResult resume(PackOptions options, std::vector<std::string>* said = nullptr) const {
    options.resume = true;
    options.job.warn = [said](const std::string& text) {
      if (said != nullptr) said->push_back(text);
    };
    return pack(photos(), out("x.rec"), options);
  }
};

TEST_F(BaselinePacker, recodes_and_counts_progressive_jpegs_and_nothing_else) {
  EXPECT_EQ(pack_photos(options()).recoded, 2u);
  const std::vector<Packed> records = records_of(out("x.rec"));
  ASSERT_EQ(records.size(), images_.size());
  for (size_t i = 0; i < records.size(); ++i) {
    SCOPED_TRACE(images_[i]);
    const std::string file = file_contents(photo(images_[i]));
    if (i != 1 && i != 5) {
      EXPECT_TRUE(records[i].image == file);
      continue;
    }
    EXPECT_FALSE(is_progressive_jpeg(as_bytes(records[i].image)));
    EXPECT_TRUE(decode_plainly(as_bytes(records[i].image)).pixels ==
                decode_plainly(as_bytes(file)).pixels);
  }
}

TEST_F(BaselinePacker, stores_other_kinds_of_progressive_jpegs_as_they_are) {
  const std::string whole = file_contents(photo("ant/1.jpg"));
  const size_t frame = whole.find("\xFF\xC2");
  ASSERT_NE(frame, std::string::npos);
  std::string arithmetic = whole;
  arithmetic[frame + 1] = '\xCA';
  std::string deep = whole;
  deep[frame + 4] = '\x0C';  // bits
  for (const std::string& image : {arithmetic, deep, whole + '\0'}) {
    write_file(photo("ant/1.jpg"), image);
    EXPECT_EQ(pack_photos(options({.verify_images = false, .baseline = true})).recoded, 1u);
    EXPECT_TRUE(records_of(out("x.rec")).at(1).image == image);
  }
}

TEST_F(BaselinePacker, is_off_by_default) {
  EXPECT_EQ(pack_photos().recoded, 0u);
  EXPECT_TRUE(records_of(out("x.rec")).at(1).image == file_contents(photo("ant/1.jpg")));
}

TEST_F(BaselinePacker, writes_the_same_bytes_for_any_number_of_threads) {
  pack_photos(options({.baseline = true}, 1));
  const auto one = outputs();
  for (const int threads : {2, 5}) {
    pack_photos(options({.baseline = true}, threads));
    EXPECT_TRUE(outputs() == one) << threads;
  }
}

TEST_F(BaselinePacker, recodes_small_images_that_resizing_keeps) {
  put_progressive("cat dog/0.jpg", {30, 30}, 1.0);
  EXPECT_EQ(pack_photos(options({.resize = 50, .baseline = true})).recoded, 2u);
  EXPECT_EQ(pack_photos(options({.quality = 90, .baseline = true})).recoded, 0u);
}

TEST_F(BaselinePacker, finds_the_same_damage_as_without) {
  PackOptions strict = options({.decode = true, .baseline = true});
  strict.max_errors = {.count = 1};
  const PackResult result = pack_photos(strict);
  EXPECT_EQ(result.recoded, 2u);
  ASSERT_EQ(result.failures.size(), 1u);
  EXPECT_EQ(result.failures[0].path, photo("cat dog/0.jpg"));
  write_file(photo("ant/2.jpg"), "no image");
  EXPECT_EQ(pack_photos(options({.verify_images = false, .baseline = true})).recoded, 2u);
  EXPECT_EQ(records_of(out("x.rec")).at(2).image, "no image");
}

TEST_F(BaselinePacker, an_output_is_kept_only_with_the_same_option) {
  pack_photos(options());
  const PackResult kept = resume(options());
  EXPECT_TRUE(kept.files.at(0).was_there);
  EXPECT_EQ(kept.recoded, 2u);
  EXPECT_THROW(resume(options({})), IoError);
}

TEST_F(BaselinePacker, unfinished_files_are_continued_only_with_the_same_option) {
  const std::string image = file_contents(photo("cat dog/2.jpg"));
  write_file(photo("cat dog/2.jpg"), "no image");
  PackOptions unfinished = options();
  unfinished.journal_interval_ms = 0;
  EXPECT_THROW(resume(unfinished), CorruptError);
  std::vector<std::string> said;
  unfinished.images = StoredImages{};
  EXPECT_THROW(resume(unfinished, &said), CorruptError);
  EXPECT_THAT(said, ElementsAre(HasSubstr("different options")));
  write_file(photo("cat dog/2.jpg"), image);
  said.clear();
  resume(options({}), &said);
  EXPECT_THAT(said, ElementsAre());
  EXPECT_TRUE(records_of(out("x.rec")).at(1).image == file_contents(photo("ant/1.jpg")));
}

TEST_F(BaselinePacker, is_refused_for_files_of_stills) {
  EXPECT_THAT(refusal<InvalidArgumentError>(photos(), out("x.bzna"), options()),
              HasSubstr("`baseline` does not apply to .bzna files"));
}

}  // namespace
}  // namespace fuelrail::pack
