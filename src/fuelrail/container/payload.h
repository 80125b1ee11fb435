// The meaning of a record's payload, in every format whose records are plain bytes: an image record
// (image_record.h), a sample record (sample_record.h), or raw bytes. All records of a file have the
// same meaning; a file of mixed records has that of most of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "fuelrail/base/bytes.h"
#include "fuelrail/container/sample.h"
#include "fuelrail/container/sample_record.h"
#include "fuelrail/container/sidecar/sidecar.h"
#include "fuelrail/container/sidecar/sidecar_writer.h"

namespace fuelrail {

// The number of a payload's first bytes that a PayloadTally needs: header and labels of an image
// record, header and descriptors of a sample record. Requires: the payload has at least
// kPayloadHeadBytes bytes.
inline constexpr size_t kPayloadHeadBytes = 24;
uint64_t payload_prefix_bytes(Bytes payload);

// The id that the payload stores; empty if it stores none. `kind`: the meaning of the file's
// payloads.
std::optional<uint64_t> payload_id(const PayloadKind& kind, Bytes payload);

// Determines, record by record, what the payloads of a file are.
class PayloadTally {
 public:
  // Adds a record. `begin`: the first payload_prefix_bytes of its payload, or more.
  void add(Bytes begin);

  // Whether `add` would change the labels' summary or the fields. If so, the record's checksum
  // should be verified first.
  bool would_change(Bytes begin) const;

  uint64_t records() const { return records_; }

  // The meaning that more than half of the records have, otherwise raw bytes. The other records
  // count as damaged: reading one is an error. The fields are those of most sample records, so that
  // a damaged record does not change them. Errors: UnsupportedError for sample records of unknown
  // fields; CorruptError, with the field and the rule, if more than half begin as sample records
  // and the fields of none follow the rules.
  PayloadKind kind() const;

 private:
  void add_sample(Bytes descriptors);

  LabelTally labels_;
  uint64_t records_ = 0;
  uint64_t image_records_ = 0;
  uint64_t sample_records_ = 0;
  uint64_t broken_records_ = 0;  // that begin as sample records, but whose fields break a rule
  std::vector<std::byte> broken_descriptors_;  // of the first one
  // Of the sample records (majority vote of Boyer and Moore).
  std::vector<std::byte> descriptors_;
  uint64_t lead_ = 0;
};

// Checks that a sidecar without fields is not that of sample records: a version of fuelrail that
// does not know them writes such sidecars. `head`: the first bytes of `source`, so that they are
// not read again. `first`, `last`: where the payloads of the first and the last record begin.
// Errors: CorruptError if both begin as sample records; those of `source`.
void check_fields_known(const Sidecar& sidecar, const Source& source, Bytes head, uint64_t first,
                        uint64_t last);

// Parses the payloads of one file into samples. Immutable, except for `limit_labels`.
class PayloadParser {
 public:
  // The schema is image_schema(*kind.labels), that of the sample records, or {data: bytes}.
  explicit PayloadParser(const PayloadKind& kind);

  const Schema& schema() const { return samples_ ? samples_->schema() : schema_; }

  // As SampleParser::limit_labels. Requires: the payloads are sample records.
  void limit_labels(size_t field, uint64_t classes) { samples_->limit_labels(field, classes); }

  // Parses a payload. The sample's id is the record's id, or `index` if the payload is raw bytes.
  // Lifetime: `out` has views of `payload` and of its own memory. Errors: CorruptError for a
  // payload that is not an image record whose labels fit the schema; those of SampleParser.
  void parse(uint64_t index, Bytes payload, Sample& out) const;

 private:
  bool images_;
  std::optional<SampleParser> samples_;
  Schema schema_;  // unless the payloads are sample records
};

// Finds the image of a payload that has exactly one, as far as the payload itself says: that of an
// image record, or of a sample record with one image field. Threads: one at a time.
class OnlyImage {
 public:
  // Empty if the payload has no image, several, or damage. Lifetime: a view of `payload`.
  Bytes in(Bytes payload);

 private:
  Bytes in_sample(Bytes payload);

  std::vector<std::byte> descriptors_;  // of the last sample record
  std::optional<SampleParser> samples_;
  std::optional<size_t> field_;
  Sample sample_;
};

}  // namespace fuelrail
