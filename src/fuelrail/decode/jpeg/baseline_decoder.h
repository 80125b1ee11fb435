// Decodes baseline JPEGs without libjpeg-turbo, and never judges: what it does not know, or finds
// odd, libjpeg-turbo decodes, warns of or refuses.
#pragma once

#include <cstdint>
#include <vector>

#include "fuelrail/base/scratch.h"
#include "fuelrail/decode/decoder.h"
#include "fuelrail/decode/jpeg/baseline_header.h"
#include "fuelrail/decode/jpeg/entry_points.h"
#include "fuelrail/decode/jpeg/huffman_tables.h"
#include "fuelrail/decode/jpeg/mcu_rows.h"
#include "fuelrail/decode/jpeg/segment_decoder.h"

namespace fuelrail::jpeg {

// The pixels equal those of libjpeg-turbo's decode with its defaults and its vector code, bit for
// bit. (Its plain code wraps samples that quantisation has moved by more than 255 levels.) Threads:
// one. Keep it from image to image, for its memory.
class BaselineDecoder {
 public:
  // Decodes the box of a job that passes `require_valid`, for pixels, and sets `way`. Returns:
  // false if libjpeg-turbo must decode the image; the output's content is then undefined, and `way`
  // says why. Errors: StateError if the job is cancelled.
  [[nodiscard]] bool decode(DecodeJob& job);

  const HuffmanTables& tables() const { return tables_; }
  SegmentDecoder& segments() { return segments_; }

 private:
  bool decode_indexed(const DecodeJob& job);
  Segment segment_of(const EntryPoints::Piece& piece, int64_t right, uint8_t* to);
  bool decode_scan(const DecodeJob& job);

  BaselineHeader header_;
  Bytes scan_;  // the encoded bytes behind the header
  HuffmanTables tables_;
  SegmentDecoder segments_;
  McuRows rows_;
  Scratch unstuffed_;
  std::vector<Segment> batch_;
};

}  // namespace fuelrail::jpeg
