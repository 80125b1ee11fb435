// What the payload of a record means, in every format whose records are bytes: an image record,
// with MXNet's header and labels in front of the image, or anything else, which is raw bytes.
//
// The header (MXNet's IRHeader) is 24 bytes, little-endian: flag u32, label f32, id u64, id2 u64;
// with flag = n > 0, n float32 labels follow. Frozen: it is MXNet's format
// (docs/formats/recordio.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "fuelrail/base/bytes.h"
#include "fuelrail/container/sample.h"
#include "fuelrail/container/sidecar/sidecar.h"
#include "fuelrail/container/sidecar/sidecar_writer.h"

namespace fuelrail {

struct ImageRecord {
  uint64_t id = 0;
  uint64_t id2 = 0;
  Bytes labels;  // label_count() float32, little-endian, at any alignment; a view into the payload
  Bytes image;   // a view

  size_t label_count() const { return labels.size() / sizeof(float); }
  float label(size_t i) const;  // Requires: i < label_count()
};

inline constexpr size_t kImageHeaderBytes = 24;

// With header and labels; so that an image record fits into a file of any format.
inline constexpr uint64_t kMaxImageRecordBytes = (uint64_t{1} << 29) - 1;

// Bytes of header and labels, from the payload's first four bytes. Requires: four readable bytes.
uint64_t image_prefix_bytes(Bytes payload);

// Whether there is a header, and all the labels that it announces.
bool has_image_prefix(Bytes payload);

// Errors: CorruptError when the payload is shorter than its header says.
ImageRecord parse_image_record(Bytes payload);

// Appends header, labels and image to `out`. One label is written into the header (flag 0), any
// other number after it with a header label of 0, as MXNet's Python `pack` does with a number and
// an array. No label is flag 0 and label 0, which reads back as one label of 0.
void append_image_record(uint64_t id, std::span<const float> labels, Bytes image,
                         std::vector<std::byte>& out);

// Finds out what the records of a file are, record by record.
class ImageRecordTally {
 public:
  // `begin`: the payload up to the end of its labels, or more; less where it is no image record.
  void add(Bytes begin);

  // Whether `add` would make the labels of another kind than those before: a record to be sure of.
  bool would_change_labels(Bytes begin) const;

  uint64_t records() const { return records_; }

  // Empty unless more than half of the records are image records: the others are damaged then, and
  // say so when they are read.
  std::optional<LabelSummary> labels() const;

 private:
  LabelTally labels_;
  uint64_t records_ = 0;
  uint64_t image_records_ = 0;
};

// {image: image; label: tensor}. The label is an int64 scalar when every record has one and all are
// whole numbers, a float32 scalar when one is not, else float32 [width], the width being -1 when it
// differs.
Schema image_schema(const LabelSummary& labels);

// A sample of `image_schema`. `labels`: float32, little-endian, at any alignment. Lifetime: `out`
// views both, and itself. Errors: CorruptError for labels unlike the summary that the schema is of.
void fill_image_sample(const Schema& schema, uint64_t id, Bytes image, Bytes labels, Sample& out);

// Makes samples of the payloads of one file. Immutable.
class PayloadParser {
 public:
  // image_schema with `labels`, {data: bytes} without.
  explicit PayloadParser(const std::optional<LabelSummary>& labels);

  const Schema& schema() const { return schema_; }

  // An image record has its own id, any other `index`. Lifetime: `out` views `payload` and itself.
  // Errors: CorruptError for a payload that is no image record, or has labels unlike the others'.
  void parse(uint64_t index, Bytes payload, Sample& out) const;

 private:
  bool images_;
  Schema schema_;
};

}  // namespace fuelrail
