// The meaning of a record's payload, in every format whose records are plain bytes: an image record
// (MXNet's header and labels, then the image), or raw bytes.
//
// The header (MXNet's IRHeader) is 24 bytes, little-endian: flag u32, label f32, id u64, id2 u64.
// If flag is n > 0, n float32 labels follow the header. Frozen: it is MXNet's format
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

// The longest image record, including header and labels, that fits into a file of any format.
inline constexpr uint64_t kMaxImageRecordBytes = (uint64_t{1} << 29) - 1;

// The length of header and labels, computed from the payload's first four bytes. Requires: the
// payload has at least four bytes.
uint64_t image_prefix_bytes(Bytes payload);

// Whether the payload holds a complete header with all the labels that it announces.
bool has_image_prefix(Bytes payload);

// Parses an image record. Errors: CorruptError if the payload is shorter than its header says.
ImageRecord parse_image_record(Bytes payload);

// Appends header, labels and image to `out`. A single label is stored in the header (flag 0). Any
// other number of labels is stored after the header, and the label in the header is 0, as in
// MXNet's Python `pack`. If there are no labels, flag and label are 0, which is read back as one
// label of value 0.
void append_image_record(uint64_t id, std::span<const float> labels, Bytes image,
                         std::vector<std::byte>& out);

// Determines, record by record, whether the records of a file are images, and what their labels
// are.
class ImageRecordTally {
 public:
  // Adds a record. `begin`: the beginning of its payload, which must include all labels if it is an
  // image record.
  void add(Bytes begin);

  // Whether `add` would change the label summary. If so, the record's checksum should be verified
  // first.
  bool would_change_labels(Bytes begin) const;

  uint64_t records() const { return records_; }

  // The label summary if more than half of the records are image records, otherwise empty. The
  // remaining records of a file with images count as damaged: reading one is an error.
  std::optional<LabelSummary> labels() const;

 private:
  LabelTally labels_;
  uint64_t records_ = 0;
  uint64_t image_records_ = 0;
};

// {image: image; label: tensor}. The label is an int64 scalar if every record has one label and all
// labels are whole numbers; a float32 scalar if every record has one label and some are not whole;
// otherwise float32 [width], where the width is -1 if it differs between records.
Schema image_schema(const LabelSummary& labels);

// Fills a sample of `image_schema`. `labels`: float32, little-endian, unaligned. Lifetime: `out`
// has views of `image`, of `labels` and of its own memory. Errors: CorruptError for labels that
// contradict the schema.
void fill_image_sample(const Schema& schema, uint64_t id, Bytes image, Bytes labels, Sample& out);

// Parses the payloads of one file into samples. Immutable.
class PayloadParser {
 public:
  // The schema is image_schema(*labels) if `labels` is set, otherwise {data: bytes}.
  explicit PayloadParser(const std::optional<LabelSummary>& labels);

  const Schema& schema() const { return schema_; }

  // Parses a payload. The sample's id is the image record's id, or `index` if the payload is raw
  // bytes. Lifetime: `out` has views of `payload` and of its own memory. Errors, for a file with
  // images: CorruptError for a payload that is not an image record or whose labels contradict the
  // schema.
  void parse(uint64_t index, Bytes payload, Sample& out) const;

 private:
  bool images_;
  Schema schema_;
};

}  // namespace fuelrail
