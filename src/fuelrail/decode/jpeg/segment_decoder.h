// Decodes segments: runs of MCUs that begin at a known bit with known DC predictors. A scan without
// restart markers is one.
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

// Where an MCU begins: from there on it can be decoded without those before it.
struct EntryPoint {
  int64_t bit = 0;
  Predictors predictors{};
};

struct Segment {
  const uint8_t* data = nullptr;  // unstuffed, followed by kZeroBytes zeros
  int64_t bytes = 0;
  bool ends_at_marker = true;  // else the file may end there
  int64_t first = 0;           // its first MCU
  int64_t mcus = 0;            // that it has
  int64_t wanted = 0;          // that are decoded: the first ones, 1 or more
  // Whether what follows the wanted MCUs is read, so that it must be the rest of a byte, and a
  // marker.
  bool is_read_to_end = false;

  // Of a segment that begins at an entry point:
  int bit = 0;  // of the first byte, at which it begins
  Predictors predictors{};
  // The bit and the predictors behind the wanted MCUs, if they are known.
  std::optional<int64_t> end_bit{};
  std::optional<Predictors> end_predictors{};
};

// Huffman codes synchronise themselves (Klein and Wiseman, "Parallel Huffman Decoding with
// Applications to JPEG Files", The Computer Journal 46, 2003): a stream that begins at any byte is,
// after some hundred bits, at the beginning of an MCU at the same bit as one that came from the
// segment's beginning, and from there on both decode the same.
//
// Threads: one. Keep it from image to image, for its memory (1.6 MB; with `find_entry_points`, 2).
class SegmentDecoder {
 public:
  // What has been done, in total.
  struct Work {
    uint64_t guesses = 0;
    uint64_t missed = 0;        // guesses that were thrown away
    uint64_t stream_bytes = 0;  // that streams have read
  };

  SegmentDecoder();

  // Both decode the wanted MCUs into `rows`, by three streams at a time. Return: false if anything
  // in them is odd or does not end as it should, or if `stop` asks to stop.
  //
  // The first stream begins where the segment does, the others at bytes at which they guess that an
  // MCU begins. What a stream has decoded counts only from an MCU at which the stream before it has
  // arrived. Requires: a segment that begins at a byte with predictors of zero.
  [[nodiscard]] bool decode_by_guesses(const HuffmanTables& tables, const BaselineHeader& header,
                                       const Segment& segment, McuRows& rows,
                                       const std::stop_token& stop);
  // A stream for each segment. Requires: at most most_segments(mcus) of at most as many MCUs.
  [[nodiscard]] bool decode_each(const HuffmanTables& tables, const BaselineHeader& header,
                                 std::span<const Segment> segments, McuRows& rows);
  // 0: segments of so many MCUs are too large for `decode_each`.
  static size_t most_segments(const BaselineHeader& header, int64_t mcus);

  // Finds, as `decode_by_guesses`, where MCUs of a whole scan begin. Sets `points` to the
  // beginnings of the MCUs 0, `spacing`, 2 * spacing and so on of each row, and to the place behind
  // the last MCU; bits are those of the segment's data. Requires: a segment that begins with MCU 0,
  // of which all MCUs are wanted, read to its end. Returns: as above.
  [[nodiscard]] bool find_entry_points(const HuffmanTables& tables, const BaselineHeader& header,
                                       const Segment& segment, int64_t spacing,
                                       std::vector<EntryPoint>& points);

  const Work& work() const { return work_; }
  // For tests and benchmarks: the number of streams (1: no guesses) and the bytes between them (0:
  // as many as are fast).
  void set_streams(int lanes, int64_t distance = 0) {
    lanes_ = lanes;
    distance_ = distance;
  }

 private:
  struct alignas(kBlockBytes) Block {
    int16_t coefficients[kBlockCoefficients] = {};
  };
  class Probe;
  template <class Sink>
  class Rounds;

  // A stream whose blocks are kept from number `block` on.
  Stream begin(const HuffmanTables& tables, const Segment& segment, int64_t bit, int64_t bytes,
               int64_t block, int64_t count);
  // Counts what the stream has read since `begin`, and makes the memory of its blocks zero again.
  void clear(const Stream& stream, const uint8_t* begin);

  int lanes_ = kLanes;
  int64_t distance_ = 0;
  std::unique_ptr<Block[]> coefficients_;  // zero between calls
  std::unique_ptr<uint8_t[]> odd_;         // Stream::odd, zero likewise
  std::vector<Checkpoint> checkpoints_;    // Stream::checkpoints, empty likewise
  std::vector<Stream> streams_;
  Work work_;
};

}  // namespace fuelrail::jpeg
