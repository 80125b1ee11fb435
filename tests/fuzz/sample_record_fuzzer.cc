// Sample records: descriptors, table and values. An input that begins as a sample record is used as
// one, any other as the table and the values of a record whose header and descriptors are right.
#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "fuelrail/base/endian.h"
#include "fuelrail/container/payload.h"
#include "fuelrail/container/sample_record.h"
#include "fuelrail/testing/made_samples.h"
#include "fuzzing.h"

namespace fuelrail {
namespace {

using fuzzing::require;

// Parses a record, and writes its values again.
void check_record(const SampleParser& parser, const SampleEncoder& encoder, Bytes payload,
                  Sample& sample) {
  if (!fuzzing::succeeds([&] { parser.parse(payload, sample); })) return;
  const Schema& schema = parser.schema();
  for (size_t number = 0; number < schema.fields.size(); ++number) {
    const FieldSpec& field = schema.fields[number];
    if (!field.rows) continue;
    require(sample.fields[number].shape[0] == sample.fields[*field.rows].shape[0],
            "fields of a group have equally many rows");
  }
  static std::vector<std::byte> written;
  written.clear();
  encoder.append(sample.id, sample.fields, written);
  require(std::ranges::equal(written, payload), "what is read is written the same");
}

// The beginning of every record of made_schema: header and descriptors.
const std::vector<std::byte>& made_beginning() {
  static const std::vector<std::byte> beginning = [] {
    const std::string payload = testing::made_payload(0);
    const Bytes bytes = as_bytes(payload);
    return fuzzing::copied(bytes.first(sample_prefix_bytes(bytes)));
  }();
  return beginning;
}

// `data`: the number of words of the table, then the table and the values.
void check_made_record(Bytes data) {
  static const SampleParser parser(testing::made_schema());
  static const SampleEncoder encoder(testing::made_schema());
  static Sample sample;
  static std::vector<std::byte> payload;
  const uint64_t words = std::min<uint64_t>(load_le<uint8_t>(data.data()), (data.size() - 1) / 8);
  const uint64_t values = (data.size() - 1) / 8 - words;
  payload = made_beginning();
  store_le(&payload[12], static_cast<uint32_t>(words * 8));
  store_le(&payload[24], values * 8);
  append_bytes(payload, data.subspan(1, (words + values) * 8));
  payload.shrink_to_fit();  // so that a sanitizer detects reads beyond it
  check_record(parser, encoder, payload, sample);
}

// The fields of the last record, which many inputs share.
struct LastFields {
  std::vector<std::byte> descriptors;
  std::optional<SampleParser> parser;
  std::optional<SampleEncoder> encoder;
};

// Parses the descriptors. Returns: whether they are right.
bool take_fields(Bytes payload, Bytes descriptors, LastFields& last) {
  if (std::ranges::equal(descriptors, last.descriptors)) return last.parser.has_value();
  last = {.descriptors = fuzzing::copied(descriptors), .parser = {}, .encoder = {}};
  Schema schema;
  if (!fuzzing::succeeds([&] { schema = schema_of(descriptors); })) return false;
  require(std::ranges::equal(descriptors_of(schema), descriptors), "descriptors have one form");
  PayloadTally tally;
  tally.add(payload);
  require(tally.kind().samples == schema, "a record alone gives its file its fields");
  last.parser.emplace(schema);
  last.encoder.emplace(schema);
  return true;
}

}  // namespace
}  // namespace fuelrail

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace fuelrail;
  const Bytes payload = fuzzing::as_bytes(data, size);
  if (size > 0 && !announces_sample(payload)) check_made_record(payload);
  const std::optional<Bytes> descriptors = descriptors_in(payload);
  if (!descriptors) return 0;
  static LastFields last;
  static Sample sample;
  if (!take_fields(payload, *descriptors, last)) return 0;
  check_record(*last.parser, *last.encoder, payload, sample);
  return 0;
}
