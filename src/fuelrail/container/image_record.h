// The meaning of a record's payload, in every format whose records are plain bytes: an image record
// (MXNet's header and labels, then the image), or raw bytes.
//
// The header (MXNet's IRHeader) is 24 bytes, little-endian: flag u32, label f32, id u64, id2 u64.
// With flag = n > 0, n float32 labels follow. Frozen: it is MXNet's format
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
  Bytes labels;  // label_count() float32, little-endian, unaligned; a view into the payload
  Bytes image;   // a view

  size_t label_count() const { return labels.size() / sizeof(float); }
  float label(size_t i) const;  // Requires: i < label_count()
};

inline constexpr size_t kImageHeaderBytes = 24;

// Including header and labels. An image record of this size fits into a file of any format.
inline constexpr uint64_t kMaxImageRecordBytes = (uint64_t{1} << 29) - 1;

// The bytes of header and labels, from the payload's first four bytes. Requires: four readable
// bytes.
uint64_t image_prefix_bytes(Bytes payload);

// Whether the payload holds a complete header with all the labels that it announces.
bool has_image_prefix(Bytes payload);

// Errors: CorruptError when the payload is shorter than its header says.
ImageRecord parse_image_record(Bytes payload);

// Appends header, labels and image to `out`. A single label is stored in the header (flag 0). Any
// other number of labels is stored after the header, whose own label is 0, as MXNet's Python `pack`
// does. Without labels, flag and label are 0, which reads back as one label of 0.
void append_image_record(uint64_t id, std::span<const float> labels, Bytes image,
                         std::vector<std::byte>& out);

// Determines, record by record, whether the records of a file are images, and what their labels
// are.
class ImageRecordTally {
 public:
  // `begin`: the payload at least up to the end of its labels; may be shorter if it is not an image
  // record.
  void add(Bytes begin);

  // Whether `add` would change the label summary, so that the record's checksum should be verified
  // first.
  bool would_change_labels(Bytes begin) const;

  uint64_t records() const { return records_; }

  // Empty unless more than half of the records are image records. The other records are then
  // damaged, and are errors when they are read.
  std::optional<LabelSummary> labels() const;

 private:
  LabelTally labels_;
  uint64_t records_ = 0;
  uint64_t image_records_ = 0;
};

// {image: image; label: tensor}. The label is an int64 scalar if every record has one label and all
// are whole numbers, a float32 scalar if every record has one, else float32 [width], with width -1
// if it differs between records.
Schema image_schema(const LabelSummary& labels);

// Fills a sample of `image_schema`. `labels`: float32, little-endian, unaligned. Lifetime: `out`
// views `image`, `labels` and itself. Errors: CorruptError for labels that contradict the schema.
void fill_image_sample(const Schema& schema, uint64_t id, Bytes image, Bytes labels, Sample& out);

// Parses the payloads of one file into samples. Immutable.
class PayloadParser {
 public:
  // The schema is image_schema with `labels`, {data: bytes} without.
  explicit PayloadParser(const std::optional<LabelSummary>& labels);

  const Schema& schema() const { return schema_; }

  // The sample's id is that of the image record, or `index` for raw bytes. Lifetime: `out` views
  // `payload` and itself. Errors: CorruptError for a payload that is not an image record or whose
  // labels contradict the schema.
  void parse(uint64_t index, Bytes payload, Sample& out) const;

 private:
  bool images_;
  Schema schema_;
};

}  // namespace fuelrail
