#include "fuelrail/container/payload.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fuelrail/base/error.h"
#include "fuelrail/container/image_record.h"
#include "fuelrail/testing/made_samples.h"
#include "fuelrail/testing/refusal.h"

namespace fuelrail {
namespace {

using testing::made_payload;
using testing::made_schema;

std::vector<std::byte> labelled(const std::vector<float>& labels) {
  std::vector<std::byte> payload;
  append_image_record(1, labels, {}, payload);
  return payload;
}

TEST(PayloadTally, more_than_half_must_be_image_records) {
  PayloadTally tally;
  EXPECT_EQ(tally.kind().labels, std::nullopt);
  tally.add(labelled({3}));
  EXPECT_EQ(tally.kind().labels, (LabelSummary{.width = 1, .integral = true}));
  tally.add(as_bytes("short"));
  EXPECT_EQ(tally.kind().labels, std::nullopt);
  tally.add(labelled({0.5}));
  EXPECT_EQ(tally.kind().labels, (LabelSummary{.width = 1, .integral = false}));
  tally.add(std::vector<std::byte>(24, std::byte{1}));  // announces labels that are missing
  EXPECT_EQ(tally.kind().labels, std::nullopt);
  EXPECT_EQ(tally.records(), 4);
}

TEST(PayloadTally, a_record_that_would_change_the_labels_is_known_before) {
  PayloadTally tally;
  EXPECT_FALSE(tally.would_change(labelled({3})));  // one whole number, as expected
  EXPECT_TRUE(tally.would_change(labelled({0.5f})));
  EXPECT_TRUE(tally.would_change(labelled({3, 4})));
  tally.add(labelled({3, 4}));
  EXPECT_FALSE(tally.would_change(labelled({5, 6})));
  EXPECT_TRUE(tally.would_change(labelled({5, 6, 7})));
  EXPECT_TRUE(tally.would_change(labelled({5, 6.5f})));
  tally.add(labelled({5, 6.5f, 7}));
  EXPECT_FALSE(tally.would_change(labelled({0.25f})));
  EXPECT_FALSE(tally.would_change(as_bytes("short")));
  EXPECT_EQ(tally.records(), 2);
}

TEST(PayloadTally, sample_records_have_the_fields_of_most_of_them) {
  const auto other = testing::encoded(
      [] {
        Schema schema = made_schema();
        schema.fields[testing::kMadeExtra].name = "other";
        return schema;
      }(),
      testing::MadeSample(1), 1);
  PayloadTally tally;
  EXPECT_TRUE(tally.would_change(as_bytes(made_payload(0))));
  tally.add(as_bytes(other));  // a first record whose name is damaged
  tally.add(as_bytes(made_payload(0)));
  tally.add(as_bytes(made_payload(1)));
  EXPECT_EQ(tally.kind(), (PayloadKind{.samples = made_schema()}));
  EXPECT_FALSE(tally.would_change(as_bytes(made_payload(2))));
  EXPECT_TRUE(tally.would_change(as_bytes(other)));
  tally.add(labelled({3}));
  tally.add(as_bytes("FRS1 but not a sample record, however long it may be"));
  EXPECT_EQ(tally.kind(), (PayloadKind{.samples = made_schema()}));
  tally.add(as_bytes("short"));
  EXPECT_EQ(tally.kind(), PayloadKind{});
}

TEST(PayloadTally, needs_only_the_descriptors_of_a_sample) {
  const std::string payload = made_payload(2);
  const uint64_t prefix = payload_prefix_bytes(as_bytes(payload).first(kPayloadHeadBytes));
  EXPECT_EQ(prefix, 32 + descriptors_of(made_schema()).size());
  PayloadTally tally;
  tally.add(as_bytes(payload).first(prefix));
  EXPECT_EQ(tally.kind().samples, made_schema());
}

TEST(PayloadTally, fields_that_only_a_newer_version_knows_are_unsupported) {
  std::string payload = made_payload(0);
  payload[32] = 9;  // the kind of the first field
  PayloadTally tally;
  tally.add(as_bytes(payload));
  EXPECT_THROW(tally.kind(), UnsupportedError);
}

TEST(PayloadTally, fields_that_break_a_rule_are_no_raw_bytes) {
  std::string broken = made_payload(0);
  broken[36] = broken[37] = 0;  // the first field, an image, is `of` itself
  PayloadTally tally;
  tally.add(as_bytes(broken));
  EXPECT_EQ(testing::refusal_of<CorruptError>([&] { tally.kind(); }),
            "field 'cameras.0.image' refers to a field that is not an image of its own: found "
            "'cameras.0.image'. Restore the file, or pack it again.");
  tally.add(as_bytes(broken));
  tally.add(as_bytes(made_payload(1)));
  EXPECT_EQ(tally.kind(), (PayloadKind{.samples = made_schema()}));
}

TEST(PayloadParser, without_labels_everything_is_bytes) {
  const PayloadParser parser(PayloadKind{});
  Sample sample;
  parser.parse(7, as_bytes("anything"), sample);
  ASSERT_EQ(sample.fields.size(), 1);
  EXPECT_EQ(parser.schema().fields[0].name, "data");
  EXPECT_EQ(as_text(sample.fields[0].bytes), "anything");
  EXPECT_EQ(sample.id, 7u);
}

TEST(PayloadParser, labels_unlike_the_others_are_refused) {
  const auto refusal = [](LabelSummary summary, const std::vector<float>& labels) {
    std::vector<std::byte> payload;
    append_image_record(1, labels, as_bytes("image"), payload);
    Sample sample;
    return testing::refusal_of<CorruptError>(
        [&] { PayloadParser(PayloadKind{.labels = summary}).parse(0, payload, sample); });
  };
  EXPECT_EQ(refusal({.width = 1, .integral = true}, {1, 2}),
            "the record has a different number of labels than the other records: expected 1, "
            "found 2");
  EXPECT_EQ(
      refusal({.width = 1, .integral = true}, {0.5}),
      "the other records' labels are whole numbers, but this record's label is not: found 0.5");
}

TEST(PayloadParser, a_record_of_another_kind_is_corrupt) {
  const PayloadParser parser(PayloadKind{.samples = made_schema()});
  EXPECT_EQ(parser.schema(), made_schema());
  Sample sample;
  parser.parse(7, as_bytes(made_payload(1)), sample);
  EXPECT_EQ(sample.id, 101u);
  EXPECT_EQ(payload_id({.samples = made_schema()}, as_bytes(made_payload(1))), 101u);
  EXPECT_THROW(parser.parse(0, labelled({1, 2, 3}), sample), CorruptError);
  EXPECT_THROW(PayloadParser(PayloadKind{.labels = LabelSummary{}})
                   .parse(0, as_bytes(made_payload(1)), sample),
               CorruptError);
}

}  // namespace
}  // namespace fuelrail
