// The 24 bytes in front of an image in a RecordIO payload (MXNet's IRHeader), little-endian:
// flag u32, label f32, id u64, id2 u64; with flag = n > 0, n float32 labels follow. Frozen: it is
// MXNet's format (docs/formats/recordio.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "fuelrail/base/bytes.h"

namespace fuelrail::recordio {

struct ImageRecord {
  uint64_t id = 0;
  uint64_t id2 = 0;
  Bytes labels;  // label_count() float32, little-endian, at any alignment; a view into the payload
  Bytes image;   // a view

  size_t label_count() const { return labels.size() / sizeof(float); }
  float label(size_t i) const;  // Requires: i < label_count()
};

inline constexpr size_t kImageHeaderBytes = 24;

// Bytes of header and labels, from the payload's first four bytes. Requires: four readable bytes.
uint64_t image_prefix_bytes(Bytes payload);

// Errors: CorruptError when the payload is shorter than its header says.
ImageRecord parse_image_record(Bytes payload);

// Appends header, labels and image to `out`. One label is written into the header (flag 0), any
// other number after it with a header label of 0, as MXNet's Python `pack` does with a number and
// an array. No label is flag 0 and label 0, which reads back as one label of 0.
void append_image_record(uint64_t id, std::span<const float> labels, Bytes image,
                         std::vector<std::byte>& out);

}  // namespace fuelrail::recordio
