// Image records: payloads that are MXNet's header and labels, then an image.
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

// {image: image; label: tensor}. The label is an int64 scalar if every record has one label and all
// labels are whole numbers; a float32 scalar if every record has one label and some are not whole;
// otherwise float32 [width], where the width is -1 if it differs between records.
Schema image_schema(const LabelSummary& labels);

// Fills a sample of `image_schema`. `labels`: float32, little-endian, unaligned. Lifetime: `out`
// has views of `image`, of `labels` and of its own memory. Errors: CorruptError for labels that
// contradict the schema.
void fill_image_sample(const Schema& schema, uint64_t id, Bytes image, Bytes labels, Sample& out);

}  // namespace fuelrail
