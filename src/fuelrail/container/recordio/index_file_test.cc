#include "fuelrail/container/recordio/index_file.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "fuelrail/base/error.h"
#include "fuelrail/container/recordio/recordio_container.h"
#include "fuelrail/testing/collecting_sink.h"
#include "fuelrail/testing/refusal.h"
#include "fuelrail/testing/temporary_directory.h"

namespace fuelrail::recordio {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

const std::string kGolden = std::string(FUELRAIL_SOURCE_DIR) + "/tests/golden/recordio/";

std::string refusal(std::string_view text) {
  return testing::refusal_of<CorruptError>([&] { parse_index(as_bytes(text), "x.idx"); });
}

// Golden files are opened as copies, because opening writes a sidecar beside the file.
class GoldenCopy {
 public:
  explicit GoldenCopy(const std::string& name) : uri_(directory_ / name) {
    write_file(uri_, file_contents(kGolden + name));
    container_ = open_recordio(uri_);
  }
  const Container& container() const { return *container_; }

 private:
  TemporaryDirectory directory_;
  std::string uri_;
  std::shared_ptr<const Container> container_;
};

TEST(IndexFile, every_golden_index_names_every_record_in_order) {
  for (const std::string part : {"part0", "part1", "part2"}) {
    const GoldenCopy golden(part + ".rec");
    const std::string text = file_contents(kGolden + part + ".idx");
    const auto entries = parse_index(as_bytes(text), "golden");
    const auto records = resolve_index(entries, golden.container(), "golden");
    ASSERT_EQ(records.size(), golden.container().size());
    for (uint64_t i = 0; i < records.size(); ++i) EXPECT_EQ(records[i], i);

    CollectingSink sink;
    IndexWriter writer(sink);
    for (const IndexEntry& entry : entries) writer.add(entry.key, entry.offset);
    EXPECT_EQ(as_text(sink.bytes()), text);
  }
}

TEST(IndexFile, one_that_was_cut_at_a_lines_end_is_held_against_the_sidecars_count) {
  const GoldenCopy golden("part0.rec");  // opening it wrote a sidecar
  const Source& data = *golden.container().extent(0).source;
  const std::string uri = data.uri().substr(0, data.uri().size() - 4) + ".idx";
  const std::string text = file_contents(kGolden + "part0.idx");
  write_file(uri, text);
  const uint64_t records = golden.container().size();
  ASSERT_EQ(parse_index(as_bytes(text), uri).size(), records);
  EXPECT_NO_THROW(check_complete(records, data, uri));
  const std::string said = fmt::format(
      "{}: the index has fewer entries than the file has records: expected {}, "
      "found {}",
      uri, records, records - 1);
  EXPECT_THAT(testing::refusal_of<TruncatedError>([&] { check_complete(records - 1, data, uri); }),
              StartsWith(said));
  EXPECT_THROW(check_complete(records - 1, data, "file://" + uri), TruncatedError);
  EXPECT_NO_THROW(check_complete(records - 1, data, "some_of_them.idx"));
  std::filesystem::remove(data.uri() + ".frx");
  EXPECT_NO_THROW(check_complete(records - 1, data, uri));
}

TEST(IndexFile, what_upstreams_python_forgives_is_read) {
  const std::string text = "  7\t0\r\nname with space\t 16\textra\tcolumns\n\n \t \nlast\t32";
  const auto entries = parse_index(as_bytes(text), "x.idx");
  ASSERT_EQ(entries.size(), 3u);
  EXPECT_EQ(entries[0].key, "7");
  EXPECT_EQ(entries[0].offset, 0u);
  EXPECT_EQ(entries[1].key, "name with space");
  EXPECT_EQ(entries[1].offset, 16u);
  EXPECT_EQ(entries[1].line, 2u);
  EXPECT_EQ(entries[2].key, "last");
  EXPECT_EQ(entries[2].offset, 32u);
  EXPECT_EQ(entries[2].line, 5u);
}

TEST(IndexFile, empty_index_has_no_entries) { EXPECT_TRUE(parse_index({}, "x.idx").empty()); }

TEST(IndexFile, bad_lines_are_refused_with_their_number) {
  EXPECT_THAT(refusal("0\t0\n1 16\n"),
              HasSubstr("x.idx: line 2 of the index is invalid: expected key TAB offset, found "
                        "\"1 16\""));
  EXPECT_THAT(refusal("0\t0\n\n1\tx16\n"), HasSubstr("line 3 of the index"));
  EXPECT_THAT(refusal("0\t-4\n"), HasSubstr("a decimal offset below 2^64"));
  EXPECT_THAT(refusal("0\t\n"), HasSubstr("line 1"));
  EXPECT_THAT(refusal("0\t16 17\n"), HasSubstr("line 1"));
  EXPECT_THAT(refusal("0\t18446744073709551616\n"), HasSubstr("line 1"));
  EXPECT_THAT(refusal("\t5\n"), HasSubstr("line 1"));
}

TEST(IndexFile, line_without_end_is_refused) {
  EXPECT_THAT(refusal("0\t0\n" + std::string(kMaxIndexLineBytes + 1, '1')), HasSubstr("line 2"));
}

TEST(IndexFile, subset_in_any_order_is_resolved) {
  const GoldenCopy golden("part1.rec");
  const Container& container = golden.container();
  std::string text;
  for (const uint64_t record : std::vector<uint64_t>{5, 3, 3, 20, 0}) {
    text += "k\t" + std::to_string(container.extent(record).offset) + "\n";
  }
  const auto records = resolve_index(parse_index(as_bytes(text), "x.idx"), container, "x.idx");
  EXPECT_THAT(records, ::testing::ElementsAre(5, 3, 3, 20, 0));
}

TEST(IndexFile, index_of_another_file_is_refused_with_line_and_offset) {
  const GoldenCopy golden("part1.rec");
  for (const std::string offset : {"4", "18446744073709551615", "28028"}) {
    const std::string text = "0\t0\n1\t" + offset + "\n";
    const auto entries = parse_index(as_bytes(text), "x.idx");
    try {
      resolve_index(entries, golden.container(), "x.idx");
      ADD_FAILURE() << offset;
    } catch (const CorruptError& error) {
      EXPECT_THAT(error.what(), HasSubstr("x.idx: line 2 of the index has an offset where no "
                                          "record begins"));
      EXPECT_THAT(error.what(), HasSubstr("found " + offset));
    }
  }
}

TEST(IndexWriter, keys_that_would_not_come_back_are_refused) {
  CollectingSink sink;
  IndexWriter writer(sink);
  for (const std::string key : {"", " a", "a ", "a\tb", "a\nb", "a\rb"}) {
    EXPECT_THROW(writer.add(key, 0), InvalidArgumentError) << key;
  }
  EXPECT_THROW(writer.add(std::string(kMaxIndexLineBytes, 'k'), 0), InvalidArgumentError);
  EXPECT_TRUE(sink.bytes().empty());
  writer.add(uint64_t{17}, 42);
  EXPECT_EQ(as_text(sink.bytes()), "17\t42\n");
}

}  // namespace
}  // namespace fuelrail::recordio
