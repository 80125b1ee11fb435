// The conformance suite for containers and for their Concat and Subset. The test of an
// implementation defines a maker and instantiates the suite:
//
//   struct RecordIoFile {
//     static constexpr bool kDetectsTruncation = true;
//     std::shared_ptr<const Container> make();          // opened again at each call
//     std::shared_ptr<const Container> make_copy();     // the same records at another path
//     std::vector<ExpectedSample> expected();           // at least three
//   };
//   INSTANTIATE_TYPED_TEST_SUITE_P(RecordIo, ContainerConformance, WithViews<RecordIoFile>);
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "fuelrail/base/error.h"
#include "fuelrail/container/concat.h"
#include "fuelrail/container/container.h"
#include "fuelrail/container/subset.h"

namespace fuelrail {

struct ExpectedSample {
  std::vector<std::string> fields;  // the bytes of each, in the schema's order
  uint64_t id = 0;
  std::vector<std::vector<int64_t>> shapes{};  // of each field; empty: no field has a shape
};

// The records at every second index, in reverse order, so that no record occurs twice.
template <typename Maker>
struct SubsetOf {
  static constexpr bool kDetectsTruncation = Maker::kDetectsTruncation;
  std::vector<uint64_t> indices() {
    std::vector<uint64_t> chosen;
    for (uint64_t i = maker.make()->size(); i > 0; i -= std::min<uint64_t>(i, 2)) {
      chosen.push_back(i - 1);
    }
    std::swap(chosen.front(), chosen.back());
    return chosen;
  }
  std::shared_ptr<const Container> make() { return subset(maker.make(), indices()); }
  std::shared_ptr<const Container> make_copy() { return subset(maker.make_copy(), indices()); }
  std::vector<ExpectedSample> expected() {
    std::vector<ExpectedSample> chosen;
    for (const uint64_t index : indices()) chosen.push_back(maker.expected()[index]);
    return chosen;
  }
  Maker maker;
};

// All records except the first, in reverse order.
template <typename Maker>
struct SliceOf {
  static constexpr bool kDetectsTruncation = Maker::kDetectsTruncation;
  static std::shared_ptr<const Container> cut(const std::shared_ptr<const Container>& parent) {
    return slice(parent, parent->size() - 1, parent->size() - 1, -1);
  }
  std::shared_ptr<const Container> make() { return cut(maker.make()); }
  std::shared_ptr<const Container> make_copy() { return cut(maker.make_copy()); }
  std::vector<ExpectedSample> expected() {
    std::vector<ExpectedSample> chosen = maker.expected();
    chosen.erase(chosen.begin());
    std::reverse(chosen.begin(), chosen.end());
    return chosen;
  }
  Maker maker;
};

// The container, an empty part, and its copy.
template <typename Maker>
struct ConcatOf {
  static constexpr bool kDetectsTruncation = Maker::kDetectsTruncation;
  static std::shared_ptr<const Container> joined(std::shared_ptr<const Container> first,
                                                 std::shared_ptr<const Container> second) {
    return concat({first, subset(first, {}), std::move(second)});
  }
  std::shared_ptr<const Container> make() { return joined(maker.make(), maker.make_copy()); }
  std::shared_ptr<const Container> make_copy() { return joined(maker.make_copy(), maker.make()); }
  std::vector<ExpectedSample> expected() {
    std::vector<ExpectedSample> twice = maker.expected();
    const std::vector<ExpectedSample> once = twice;
    twice.insert(twice.end(), once.begin(), once.end());
    return twice;
  }
  Maker maker;
};

template <typename Maker>
using WithViews = ::testing::Types<Maker, SubsetOf<Maker>, SliceOf<Maker>, ConcatOf<Maker>,
                                   SliceOf<ConcatOf<Maker>>>;

template <typename Maker>
class ContainerConformance : public ::testing::Test {
 protected:
  static std::vector<std::byte> framed_bytes(const Container& container, uint64_t i) {
    const Extent extent = container.extent(i);
    std::vector<std::byte> framed(extent.length);
    extent.source->read(extent.offset, framed);
    return framed;
  }

  // Returns: the difference between the sample and the expected one, or empty.
  static std::string difference(const Sample& sample, const ExpectedSample& expected) {
    if (sample.id != expected.id) {
      return "id " + std::to_string(sample.id) + ", not " + std::to_string(expected.id);
    }
    if (sample.fields.size() != expected.fields.size()) return "number of fields";
    for (size_t f = 0; f < expected.fields.size(); ++f) {
      if (as_text(sample.fields[f].bytes) != expected.fields[f]) {
        return "bytes of field " + std::to_string(f);
      }
      const std::vector<int64_t> shape =
          expected.shapes.empty() ? std::vector<int64_t>{} : expected.shapes[f];
      if (sample.fields[f].shape != shape) return "shape of field " + std::to_string(f);
    }
    return "";
  }

  Maker maker_;
  std::shared_ptr<const Container> container_ = maker_.make();
  std::vector<ExpectedSample> expected_ = maker_.expected();
};

TYPED_TEST_SUITE_P(ContainerConformance);

TYPED_TEST_P(ContainerConformance, has_as_many_records_and_fields_as_expected) {
  ASSERT_EQ(this->container_->size(), this->expected_.size());
  for (const ExpectedSample& sample : this->expected_) {
    EXPECT_EQ(this->container_->schema().fields.size(), sample.fields.size());
  }
}

TYPED_TEST_P(ContainerConformance, extents_lie_in_their_sources_and_do_not_overlap) {
  std::vector<std::tuple<std::string, uint64_t, uint64_t>> ranges;
  for (uint64_t i = 0; i < this->container_->size(); ++i) {
    const Extent extent = this->container_->extent(i);
    ASSERT_NE(extent.source, nullptr);
    EXPECT_LE(extent.offset, extent.source->size_bytes());
    EXPECT_LE(extent.length, extent.source->size_bytes() - extent.offset);
    ranges.emplace_back(extent.source->uri(), extent.offset, extent.length);
  }
  std::sort(ranges.begin(), ranges.end());
  for (size_t i = 1; i < ranges.size(); ++i) {
    const auto& [uri, offset, length] = ranges[i - 1];
    if (std::get<0>(ranges[i]) != uri) continue;
    EXPECT_LE(offset + length, std::get<1>(ranges[i]));
  }
}

TYPED_TEST_P(ContainerConformance, records_parse_to_what_is_expected) {
  Sample sample;
  for (uint64_t i = 0; i < this->container_->size(); ++i) {
    const auto framed = this->framed_bytes(*this->container_, i);
    this->container_->parse(i, framed, sample);
    EXPECT_EQ(this->difference(sample, this->expected_[i]), "") << "record " << i;
  }
}

TYPED_TEST_P(ContainerConformance, read_sample_reads_in_any_order_into_the_same_memory) {
  Sample sample;
  std::vector<std::byte> framed;
  for (uint64_t i = this->container_->size(); i-- > 0;) {
    read_sample(*this->container_, i, framed, sample);
    EXPECT_EQ(this->difference(sample, this->expected_[i]), "") << "record " << i;
  }
}

TYPED_TEST_P(ContainerConformance, a_record_past_the_end_is_out_of_range) {
  Sample sample;
  std::vector<std::byte> framed;
  for (const uint64_t i : {this->container_->size(), ~uint64_t{0}}) {
    EXPECT_THROW(read_sample(*this->container_, i, framed, sample), OutOfRangeError);
  }
}

TYPED_TEST_P(ContainerConformance, places_say_where_the_records_are) {
  for (uint64_t i = 0; i < this->container_->size(); ++i) {
    const Place place = this->container_->place(i);
    const Extent extent = this->container_->record_extent(i);
    EXPECT_EQ(place.path, extent.source->uri());
    EXPECT_EQ(place.offset, extent.offset);
  }
}

TYPED_TEST_P(ContainerConformance, the_fingerprint_is_of_content) {
  const Fingerprint fingerprint = this->container_->fingerprint();
  EXPECT_EQ(fingerprint.records, this->container_->size());
  EXPECT_EQ(this->maker_.make()->fingerprint(), fingerprint);
  EXPECT_EQ(this->maker_.make_copy()->fingerprint(), fingerprint);
  EXPECT_NE(slice(this->container_, 0, this->container_->size() - 1, 1)->fingerprint(),
            fingerprint);
  EXPECT_NE(
      slice(this->container_, fingerprint.records - 1, fingerprint.records, -1)->fingerprint(),
      fingerprint);
}

TYPED_TEST_P(ContainerConformance, threads_read_and_parse_at_once) {
  std::vector<std::thread> threads;
  std::vector<std::string> problems(4);
  for (size_t t = 0; t < problems.size(); ++t) {
    threads.emplace_back([this, &problem = problems[t], t] {
      Sample sample;
      std::vector<std::byte> framed;
      const uint64_t size = this->container_->size();
      for (uint64_t n = 0; n < 3 * size; ++n) {
        const uint64_t i = (n + t) % size;
        read_sample(*this->container_, i, framed, sample);
        problem += this->difference(sample, this->expected_[i]);
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(problems, std::vector<std::string>(4));
}

TYPED_TEST_P(ContainerConformance, framed_bytes_that_are_cut_short_are_refused_with_their_place) {
  if (!TypeParam::kDetectsTruncation) GTEST_SKIP() << "this format cannot tell";
  Sample sample;
  for (uint64_t i = 0; i < this->container_->size(); ++i) {
    const auto framed = this->framed_bytes(*this->container_, i);
    for (const size_t length : {size_t{0}, framed.size() / 2, framed.size() - 4}) {
      try {
        this->container_->parse(i, Bytes(framed).first(length), sample);
        ADD_FAILURE() << "record " << i << " parses with " << length << " bytes";
      } catch (const Error& error) {
        const Place place = this->container_->place(i);
        EXPECT_TRUE(dynamic_cast<const TruncatedError*>(&error) ||
                    dynamic_cast<const CorruptError*>(&error))
            << error.what();
        EXPECT_EQ(error.detail().path, place.path);
        EXPECT_EQ(error.detail().record, place.record);
        EXPECT_TRUE(error.detail().offset.has_value());
      }
    }
    this->container_->parse(i, framed, sample);  // the sample is usable again
    EXPECT_EQ(this->difference(sample, this->expected_[i]), "") << "record " << i;
  }
}

REGISTER_TYPED_TEST_SUITE_P(ContainerConformance, has_as_many_records_and_fields_as_expected,
                            extents_lie_in_their_sources_and_do_not_overlap,
                            records_parse_to_what_is_expected,
                            read_sample_reads_in_any_order_into_the_same_memory,
                            a_record_past_the_end_is_out_of_range, places_say_where_the_records_are,
                            the_fingerprint_is_of_content, threads_read_and_parse_at_once,
                            framed_bytes_that_are_cut_short_are_refused_with_their_place);

}  // namespace fuelrail
