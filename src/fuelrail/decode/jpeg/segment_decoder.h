// Decodes segments: runs of MCUs that begin at a known byte with DC predictors of zero. A scan
// without restart markers is one.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <vector>

#include "fuelrail/decode/jpeg/entropy_stream.h"
#include "fuelrail/decode/jpeg/mcu_rows.h"

namespace fuelrail::jpeg {

struct Segment {
  const uint8_t* data = nullptr;  // unstuffed, followed by kZeroBytes zeros
  int64_t bytes = 0;
  bool ends_at_marker = true;  // else at the end of the file
  int64_t first = 0;           // its first MCU
  int64_t mcus = 0;            // that it has
  int64_t wanted = 0;          // that are decoded: the first ones, 1 or more
  // Whether what follows the wanted MCUs is read, so that it must be the rest of a byte, and a
  // marker.
  bool is_read_to_end = false;

  bool between_entry_points = false;  // then decoded without guesses
  int bit = 0;                        // of the first byte, at which it begins
  Predictors predictors{};
  // The bit and the predictors behind the wanted MCUs, if they are known.
  std::optional<int64_t> end_bit{};
  std::optional<Predictors> end_predictors{};
};

// Decodes three segments at the same time or, of a large one, three parts: the first stream begins
// where the segment does, the others at bytes at which they guess that an MCU begins. Huffman codes
// synchronise themselves (Klein and Wiseman, "Parallel Huffman Decoding with Applications to JPEG
// Files", The Computer Journal 46, 2003): after some hundred bits, such a stream is at the
// beginning of an MCU at the same bit as one that came from the segment's beginning, and from there
// on both decode the same. What a stream has decoded counts only from an MCU at which the stream
// before it has arrived.
//
// Threads: one. Keep it from image to image, for its memory (1.6 MB).
class SegmentDecoder {
 public:
  // What has been done, in total.
  struct Work {
    uint64_t segments = 0;
    uint64_t guesses = 0;
    uint64_t missed = 0;        // guesses that were thrown away
    uint64_t stream_bytes = 0;  // that streams have read
  };

  SegmentDecoder();

  // How many segments of up to `mcus` MCUs one call of `decode` may have: 1, if they are large.
  static int64_t most_segments(int64_t mcus, int64_t blocks_of_mcu);

  // Decodes the wanted MCUs of segments into `rows`. Returns: false if anything in them is odd or
  // does not end as it should, or if `stop` asks to stop.
  [[nodiscard]] bool decode(const HuffmanTables& tables, int64_t blocks_of_mcu,
                            std::span<const Segment> segments, McuRows& rows,
                            const std::stop_token& stop);

  const Work& work() const { return work_; }
  // For tests and benchmarks: the number of streams (1: no guesses) and the bytes between them (0:
  // as many as are fast).
  void set_streams(int lanes, int64_t distance = 0) {
    lanes_ = lanes;
    distance_ = distance;
  }

 private:
  class Marks;
  class Rounds;

  bool decode_small(const HuffmanTables& tables, int64_t blocks_of_mcu,
                    std::span<const Segment> segments, McuRows& rows);
  int16_t* block_at(int64_t block) { return coefficients_.get() + block * kBlockCoefficients; }

  int lanes_ = kLanes;
  int64_t distance_ = 0;
  std::unique_ptr<int16_t[]> coefficients_;  // zero between calls
  std::vector<Stream> streams_;
  std::vector<OddBlocks> odd_;
  Work work_;
};

}  // namespace fuelrail::jpeg
