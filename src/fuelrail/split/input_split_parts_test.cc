// The records of each part: they equal dmlc-core's partitions, and each record is in exactly one
// part.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "fuelrail/base/endian.h"
#include "fuelrail/split/input_split.h"
#include "fuelrail/testing/split_files.h"

namespace fuelrail::split {
namespace {

using ::testing::ElementsAre;
using Json = nlohmann::json;

const std::string kGolden = std::string(FUELRAIL_SOURCE_DIR) + "/tests/golden/";

// The golden tables use this basis, which is one digit shorter than the usual one.
uint64_t fnv1a64(Bytes bytes) {
  uint64_t hash = 1469598103934665603;
  for (const std::byte b : bytes) hash = (hash ^ std::to_integer<uint64_t>(b)) * 0x100000001b3;
  return hash;
}

std::vector<std::string> part_of(const std::string& uri, InputSplitOptions options, uint64_t part,
                                 uint64_t nsplit) {
  options.part = part;
  options.nsplit = nsplit;
  InputSplit split(uri, options);
  return records_left(split);
}

TEST(InputSplitParts, every_partition_that_dmlc_core_made_is_made) {
  std::string uri;
  for (const char* name : {"part0.rec", "part1.rec", "part2.rec"}) {
    uri += (uri.empty() ? "" : ";") + kGolden + "recordio/" + name;
  }
  std::ifstream table(kGolden + "recordio/partitions.tsv");
  int rows = 0;
  for (std::string line; std::getline(table, line);) {
    if (line.starts_with("#")) continue;
    uint64_t nsplit = 0, part = 0, count = 0, hash = 0;
    std::istringstream(line) >> nsplit >> part >> count >> std::hex >> hash;
    std::vector<std::byte> hashes;
    const auto records = part_of(uri, {}, part, nsplit);
    for (const std::string& record : records) {
      std::byte bytes[8];
      store_le(bytes, fnv1a64(as_bytes(record)));
      hashes.insert(hashes.end(), bytes, bytes + 8);
    }
    EXPECT_EQ(records.size(), count) << line;
    EXPECT_EQ(fnv1a64(hashes), hash) << line;
    ++rows;
  }
  EXPECT_EQ(rows, 179);
}

// As in upstream's unittest_inputsplit: ten records, each with its number and ten lines of it.
TEST(InputSplitParts, upstreams_sample_has_its_ten_records) {
  const auto records = part_of(kGolden + "recordio/sample.rec", {}, 0, 1);
  ASSERT_EQ(records.size(), 10u);
  for (size_t i = 1; i <= 10; ++i) {
    std::string expected;
    for (int line = 0; line < 10; ++line) expected += std::to_string(i) + "\n";
    EXPECT_EQ(load_le<uint64_t>(as_bytes(records[i - 1]).data() + 8), i);
    EXPECT_EQ(records[i - 1].substr(24), expected);
  }
}

class MxnetOrder : public ::testing::Test {
 protected:
  static std::string uri_of(const std::string& list) {
    std::istringstream names(list);
    std::string uri;
    for (std::string name; std::getline(names, name, ';');) {
      uri += (uri.empty() ? "" : ";") + kGolden + "mxnet/" + name;
    }
    return uri;
  }
  static InputSplitOptions options_of(const Json& run) {
    InputSplitOptions options;
    if (!run["idx"].is_null()) {
      options.type = SplitType::kIndexedRecordIo;
      options.index_uri = kGolden + "mxnet/" + run["idx"].get<std::string>();
    }
    options.part = run["part_index"];
    options.nsplit = run["num_parts"];
    return options;
  }
  static std::vector<double> labels_left(InputSplit& split) {
    std::vector<double> labels;
    while (const auto record = split.next_record()) {
      labels.push_back(double{load_le<float>(record->data() + 4)});
    }
    return labels;
  }
  const Json order = Json::parse(file_contents(kGolden + "mxnet/order.json"));
};

TEST_F(MxnetOrder, every_partition_that_mxnet_delivered_is_made) {
  for (const Json& run : order["partitions"]) {
    InputSplit split(uri_of(run["rec"]), options_of(run));
    EXPECT_EQ(labels_left(split), run["labels"].get<std::vector<double>>())
        << run["rec"] << run["idx"] << run["num_parts"] << run["part_index"];
  }
  EXPECT_GT(order["partitions"].size(), 100u);
}

TEST_F(MxnetOrder, shuffled_records_of_an_index_are_those_that_mxnet_delivered) {
  int runs = 0;
  for (const Json& run : order["shuffles"]) {
    if (!run.contains("seed") || run["idx"].is_null() || run["batch_size"] != 1) continue;
    InputSplitOptions options = options_of(run);
    options.shuffle = true;
    options.seed = run["seed"];
    options.batch_size = 5;
    InputSplit split(uri_of("image.rec"), options);
    for (const Json& epoch : run["epochs"]) {
      std::vector<double> delivered;
      for (const Json& batch : epoch) delivered.push_back(batch[0]);
      EXPECT_EQ(labels_left(split), delivered);
      split.before_first();
    }
    ++runs;
  }
  EXPECT_EQ(runs, 4);
}

// MXNet divides a part into ceil(1.1 * bytes / (parts * chunk size in MiB)) sub-parts.
TEST_F(MxnetOrder, shuffled_sub_parts_are_those_that_mxnet_delivered) {
  int runs = 0;
  for (const Json& run : order["shuffles"]) {
    if (run.contains("seed")) continue;
    InputSplitOptions options = options_of(run);
    const std::string uri = uri_of(run["rec"]);
    const auto bytes = static_cast<double>(InputSplit(uri, options).total_size());
    const double size = run["shuffle_chunk_size"].get<double>() * 1048576;
    options.shuffle_parts =
        static_cast<uint64_t>(std::ceil(1.1 * bytes / (run["num_parts"].get<double>() * size)));
    options.seed = run["shuffle_chunk_seed"];
    InputSplit split(uri, options);
    for (const Json& epoch : run["epochs"]) {
      EXPECT_EQ(labels_left(split), epoch.get<std::vector<double>>());
      split.before_first();
    }
    ++runs;
  }
  EXPECT_EQ(runs, 8);
}

TEST(InputSplitParts, line_that_begins_on_a_boundary_goes_to_the_part_before) {
  SplitDirectory directory;
  directory.add("lines.txt", "aaa\nbbb\nccc\nddd\n");
  const auto sizes = [&](uint64_t nsplit) {
    std::vector<size_t> counts;
    for (uint64_t k = 0; k < nsplit; ++k) {
      counts.push_back(part_of(directory.list(), {.type = SplitType::kText}, k, nsplit).size());
    }
    return counts;
  };
  EXPECT_THAT(sizes(2), ElementsAre(3, 1));
  EXPECT_THAT(sizes(3), ElementsAre(2, 2, 0));
  EXPECT_THAT(sizes(4), ElementsAre(2, 1, 1, 0));
}

TEST(InputSplitParts, files_of_ten_equal_lines_are_cut_as_upstreams_test_expects) {
  SplitDirectory directory;
  for (const int lines : {6, 1, 1, 1, 1}) {
    std::string text;
    for (int i = 0; i < lines; ++i) text += "1 3:2.5 7:0.5\n";
    directory.add(std::to_string(directory.list().size()) + ".libsvm", text);
  }
  EXPECT_EQ(part_of(directory.list(), {.type = SplitType::kText}, 0, 2).size(), 6u);
  EXPECT_EQ(part_of(directory.list(), {.type = SplitType::kText}, 1, 2).size(), 4u);
}

TEST(InputSplitParts, indexed_records_are_cut_by_count) {
  SplitDirectory directory;
  const std::string file = framed_records(numbered_records(37));
  const std::string path = directory.add("x.rec", file);
  InputSplitOptions options{.type = SplitType::kIndexedRecordIo};
  options.index_uri = directory.add("x.idx", index_of(file));
  for (uint64_t k = 0; k < 36; ++k) {
    EXPECT_EQ(part_of(path, options, k, 36).size(), k < 18 ? 2u : k == 18 ? 1u : 0u) << k;
  }
}

// Records with escapes, empty records, records longer than a chunk; lines with all kinds of line
// ends.
class RandomData {
 public:
  explicit RandomData(uint32_t seed) : random_(seed) {}
  uint32_t below(uint32_t bound) { return static_cast<uint32_t>(random_()) % bound; }

  std::string record() {
    std::string payload;
    const uint32_t length = below(10) == 0 ? below(3000) : below(40);
    while (payload.size() < length) {
      if (below(6) == 0) {
        payload += kMagicText;
      } else {
        payload += static_cast<char>(below(256));
      }
    }
    return payload;
  }
  std::string line() {
    std::string line;
    for (uint32_t i = 0, length = 1 + below(30); i < length; ++i) {
      line += static_cast<char>('a' + below(26));
    }
    return line;
  }
  std::string line_end() {
    static const std::vector<std::string> kEnds{"\n", "\r\n", "\r", "\n\n", "\n\r\n\n"};
    return kEnds[below(5)];
  }

 private:
  std::mt19937 random_;
};

std::vector<std::string> all_parts(const std::string& uri, const InputSplitOptions& options,
                                   uint64_t nsplit) {
  std::vector<std::string> all;
  for (uint64_t k = 0; k < nsplit; ++k) {
    const auto records = part_of(uri, options, k, nsplit);
    all.insert(all.end(), records.begin(), records.end());
  }
  return all;
}

TEST(InputSplitParts, any_number_of_parts_of_any_files_has_each_record_exactly_once) {
  RandomData random(7);
  for (int round = 0; round < 5; ++round) {
    SplitDirectory records, lines, index;
    std::vector<std::string> payloads, texts;
    std::string whole;
    for (uint32_t file = 0, files = 1 + random.below(4); file < files; ++file) {
      std::vector<std::string> here;
      for (uint32_t i = 0, count = 1 + random.below(60); i < count; ++i) {
        here.push_back(random.record());
      }
      whole += framed_records(here);
      records.add_records(std::to_string(file) + ".rec", here);
      payloads.insert(payloads.end(), here.begin(), here.end());
      std::string text = random.below(2) == 0 ? random.line_end() : "";
      for (uint32_t i = 0, count = 1 + random.below(60); i < count; ++i) {
        texts.push_back(random.line());
        text += texts.back() + (i + 1 < count || random.below(2) == 0 ? random.line_end() : "");
      }
      lines.add(std::to_string(file) + ".txt", text);
    }
    InputSplitOptions indexed{.type = SplitType::kIndexedRecordIo,
                              .index_uri = index.add("x.idx", index_of(whole))};
    indexed.batch_size = 1 + random.below(20);
    for (const uint64_t nsplit : {1, 2, 7, 33}) {
      const uint64_t chunk = 1 + random.below(5000);
      EXPECT_EQ(all_parts(records.list(), {.chunk_bytes = chunk}, nsplit), payloads);
      EXPECT_EQ(all_parts(lines.list(), {.type = SplitType::kText, .chunk_bytes = chunk}, nsplit),
                texts);
      EXPECT_EQ(all_parts(records.list(), indexed, nsplit), payloads);
      for (InputSplitOptions shuffled :
           {InputSplitOptions{.shuffle_parts = 5}, InputSplitOptions{indexed}}) {
        shuffled.shuffle = shuffled.type == SplitType::kIndexedRecordIo;
        std::vector<std::string> got = all_parts(records.list(), shuffled, nsplit);
        std::vector<std::string> expected = payloads;
        std::sort(got.begin(), got.end());
        std::sort(expected.begin(), expected.end());
        EXPECT_EQ(got, expected);
      }
    }
  }
}

TEST(InputSplitParts, record_of_nine_megabytes_is_in_one_part) {
  SplitDirectory directory;
  std::vector<std::string> payloads = numbered_records(50);
  payloads.insert(payloads.begin() + 20, std::string(size_t{9} << 20, 'x'));
  directory.add_records("x.rec", payloads);
  for (const uint64_t nsplit : {1, 2, 9}) {
    EXPECT_EQ(all_parts(directory.list(), {}, nsplit), payloads) << nsplit;
  }
}

}  // namespace
}  // namespace fuelrail::split
