#include "fuelrail/mxnet/record_order.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "fuelrail/base/error.h"
#include "fuelrail/testing/record_file.h"

namespace fuelrail::mxnet {
namespace {

using recordio::image_payload;
using recordio::RecordFile;
using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using ::testing::ThrowsMessage;

// `count` framed image records of `bytes` bytes, with ids from `first` on.
std::vector<std::string> payloads(size_t count, size_t bytes, uint64_t first = 0) {
  std::vector<std::string> made;
  for (size_t i = 0; i < count; ++i) {
    made.push_back(image_payload(first + i, {static_cast<float>(i)}, std::string(bytes - 32, 'x')));
  }
  return made;
}

std::vector<uint64_t> records_of(const RecordPass& pass) {
  std::vector<uint64_t> records;
  for (uint64_t i = 0; i < pass.size(); ++i) records.push_back(pass.record(i));
  return records;
}

struct Opened {
  explicit Opened(std::vector<std::vector<std::string>> contents) {
    std::vector<std::string> uris;
    for (const auto& content : contents) {
      files.push_back(std::make_unique<RecordFile>(content));
      uris.push_back(files.back()->path);
    }
    records = std::make_shared<const RecordFiles>(uris);
  }
  std::vector<std::unique_ptr<RecordFile>> files;
  std::shared_ptr<const RecordFiles> records;
};

TEST(RecordOrder, every_record_is_in_one_part_of_any_number_of_parts) {
  const Opened data({payloads(7, 100), payloads(1, 4000), payloads(12, 64)});
  for (const bool indexed : {false, true}) {
    for (const uint32_t parts : {1U, 2U, 3U, 7U, 20U}) {
      std::vector<uint64_t> all;
      for (uint32_t part = 0; part < parts; ++part) {
        try {
          const RecordOrder order(data.records,
                                  {.num_parts = parts, .part_index = part, .indexed = indexed});
          const auto records = records_of(*order.pass(0));
          EXPECT_THAT(records, SizeIs(order.size()));
          all.insert(all.end(), records.begin(), records.end());
        } catch (const InvalidArgumentError& error) {
          EXPECT_THAT(error.what(), HasSubstr("the part has no records"));
        }
      }
      EXPECT_THAT(all, SizeIs(20));
      EXPECT_TRUE(std::is_sorted(all.begin(), all.end()));
      EXPECT_THAT(std::set<uint64_t>(all.begin(), all.end()), SizeIs(20));
    }
  }
}

TEST(RecordOrder, a_shuffled_pass_is_the_same_whatever_passes_were_asked_for_before) {
  const Opened data({payloads(40, 64)});
  for (const bool indexed : {false, true}) {
    const RecordOrderOptions options{.indexed = indexed, .shuffle = true, .seed = 3};
    const RecordOrder forward(data.records, options);
    std::vector<std::vector<uint64_t>> passes;
    for (uint32_t pass = 0; pass < 4; ++pass) passes.push_back(records_of(*forward.pass(pass)));
    EXPECT_NE(passes[0], passes[1]);
    const RecordOrder jumping(data.records, options);
    for (const uint32_t pass : {3U, 1U, 2U, 0U}) {
      EXPECT_THAT(records_of(*jumping.pass(pass)), ElementsAreArray(passes[pass]));
    }
  }
}

TEST(RecordOrder, chunks_end_at_the_last_head_that_eight_mebibytes_hold) {
  constexpr size_t kMebibyte = size_t{1} << 20;
  std::vector<std::string> contents = payloads(17, kMebibyte);
  contents.push_back(payloads(1, 9 * kMebibyte)[0]);  // neither it nor the next one fits
  contents.push_back(payloads(1, 64)[0]);
  const Opened data({contents});
  const auto pass = RecordOrder(data.records, {}).pass(0);
  // Eight whole records fill the buffer, but the next record's head is not in it.
  EXPECT_THAT(pass->chunks, ElementsAre(0, 7, 14, 17));
  EXPECT_EQ(pass->chunk_begin(6), 0U);
  EXPECT_EQ(pass->chunk_begin(7), 7U);
  EXPECT_EQ(pass->chunk_begin(18), 17U);
}

TEST(RecordOrder, a_shuffle_without_index_stays_in_its_chunk_and_knows_the_places_before) {
  const Opened data({payloads(17, size_t{1} << 20)});
  const auto pass = RecordOrder(data.records, {.shuffle = true}).pass(0);
  const auto records = records_of(*pass);
  ASSERT_THAT(pass->chunks, ElementsAre(0, 7, 14));
  for (size_t i = 0; i < records.size(); ++i) {
    const uint64_t begin = pass->chunk_begin(i);
    EXPECT_EQ(pass->places[i], records[i] - begin);
    EXPECT_EQ(records[i] / 7, begin / 7);
  }
}

TEST(RecordOrder, sub_parts_are_visited_in_another_order_each_pass) {
  const Opened data({payloads(40, size_t{1} << 19)});
  const RecordOrder order(data.records, {.shuffle_chunk_size = 4});
  const auto first = records_of(*order.pass(0));
  EXPECT_NE(first, records_of(*order.pass(1)));
  auto sorted = first;
  std::sort(sorted.begin(), sorted.end());
  EXPECT_NE(first, sorted);
  for (uint64_t i = 0; i < sorted.size(); ++i) EXPECT_EQ(sorted[i], i);
}

TEST(RecordOrder, sub_parts_larger_than_any_data_are_one_however_large) {
  const Opened data({payloads(40, size_t{1} << 16)});
  for (const int shift : {30, 43, 44, 63}) {
    const RecordOrder order(data.records, {.shuffle_chunk_size = (uint64_t{1} << shift) + 1});
    EXPECT_EQ(order.pass(0)->record(0), 0U) << shift;
    EXPECT_TRUE(order.pass(0)->order.empty()) << shift;
  }
}

TEST(RecordOrder, indexed_chunks_are_of_the_batchs_size_over_the_ends_of_passes) {
  const Opened data({payloads(10, 64)});
  const RecordOrder order(data.records, {.indexed = true, .batch_size = 4});
  EXPECT_EQ(order.pass(0)->chunk_begin(9), 8U);
  EXPECT_EQ(order.pass(1)->chunk_begin(1), 0U);  // two records that the last chunk lacked
  EXPECT_EQ(order.pass(1)->chunk_begin(9), 6U);
  EXPECT_EQ(order.pass(2)->chunk_begin(3), 0U);
}

TEST(RecordOrder, part_that_is_none_or_empty_is_refused) {
  const Opened data({payloads(3, 64)});
  EXPECT_THAT([&] { RecordOrder(data.records, {.num_parts = 2, .part_index = 2}); },
              ThrowsMessage<InvalidArgumentError>(HasSubstr("2")));
  EXPECT_THAT([&] { RecordOrder(data.records, {.num_parts = 50, .part_index = 49}); },
              ThrowsMessage<InvalidArgumentError>(HasSubstr("no records")));
}

class IndexCheck : public ::testing::Test {
 protected:
  void check(const std::string& text) {
    write_file(path_, text);
    check_index(path_, *data_.records);
  }
  static std::string line(uint64_t key, uint64_t offset) {
    return std::to_string(key) + "\t" + std::to_string(offset) + "\n";
  }
  Opened data_{{payloads(2, 64), payloads(1, 64)}};
  std::string path_ = data_.files[0]->path + ".idx";
};

TEST_F(IndexCheck, names_every_record_of_all_files_in_any_order) {
  check(line(5, 128) + line(7, 0) + line(9, 64));
}

TEST_F(IndexCheck, of_some_records_or_of_another_file_is_refused_with_its_line) {
  EXPECT_THAT([&] { check(line(0, 0) + line(1, 64)); },
              ThrowsMessage<CorruptError>(HasSubstr("before the last record")));
  EXPECT_THAT([&] { check(line(0, 0) + line(1, 128)); },
              ThrowsMessage<CorruptError>(HasSubstr("a record is missing from the index")));
  EXPECT_THAT([&] { check(line(0, 0) + line(1, 60)); },
              ThrowsMessage<CorruptError>(HasSubstr("line 2")));
  EXPECT_THAT([&] { check(line(0, 0) + line(1, 64) + line(2, 128) + line(3, 192)); },
              ThrowsMessage<CorruptError>(HasSubstr("line 4")));
}

}  // namespace
}  // namespace fuelrail::mxnet
