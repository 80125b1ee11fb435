// The 24 bytes in front of an image in a RecordIO payload (MXNet's IRHeader), little-endian:
// flag u32, label f32, id u64, id2 u64; with flag = n > 0, n float32 labels follow. Frozen: it is
// MXNet's format.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "fuelrail/base/bytes.h"

namespace fuelrail::recordio {

struct ImageRecord {
  uint64_t id = 0;
  uint64_t id2 = 0;
  float label = 0;  // the only label when `labels` is empty
  Bytes labels;     // n float32, little-endian; a view; empty when the header's flag is 0
  Bytes image;      // a view
  uint32_t label_count() const {
    return labels.empty() ? 1 : static_cast<uint32_t>(labels.size() / 4);
  }
};

inline constexpr size_t kImageHeaderBytes = 24;

// Errors: CorruptError when the payload is shorter than its header says.
ImageRecord parse_image_record(Bytes payload);

// Appends header, labels and image to `out`. One label is written into the header (flag 0), any
// other number after it with a header label of 0, as MXNet's Python `pack` does.
void append_image_record(uint64_t id, std::span<const float> labels, Bytes image,
                         std::vector<std::byte>& out);

}  // namespace fuelrail::recordio
