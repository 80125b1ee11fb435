#include "fuelrail/decode/jpeg/segment_decoder.h"

#include <algorithm>
#include <cstring>

namespace fuelrail::jpeg {
namespace {

constexpr int64_t kBlocksOfLane = 4096;  // that a stream may decode in a round
constexpr int64_t kBlocksKept = kBlocksOfLane + kSlackBlocks;
constexpr int64_t kSmallBlocks = 1024;  // of a segment for `decode_each`
// A stream that may pass its last block decodes fewer than kLookupsOfRefill blocks behind it.
constexpr int64_t kBlocksPassed = kLookupsOfRefill - 1;
constexpr int64_t kMostSegments = 128;
// Bytes between the streams of a round: 6,000 to 32,000 differ by 3 %.
constexpr int64_t kDistance = 10000;
constexpr int64_t kLeastDistance = 400;  // below, a guess costs more than it saves
// After so many guesses in a row that were thrown away, no more are made: in constant and periodic
// images a stream may stay out of step for ever.
constexpr int kMostMisses = 2;
// libjpeg reads up to 8 bytes ahead, and reports if the file ends there.
constexpr int64_t kReadAhead = 8;

// Whether the wanted MCUs, which end at `bit`, end as they should.
bool is_right_end(const Segment& segment, int64_t bit) {
  if (segment.end_bit) return bit == *segment.end_bit;
  const int64_t left = 8 * segment.bytes - bit;
  if (segment.is_read_to_end) return left >= 0 && left < 8;
  return left >= (segment.ends_at_marker ? 0 : 8 * kReadAhead);
}

}  // namespace

// Decodes the first MCUs of a guessing stream once more, one by one, to tell where each begins.
// Most guesses are in step after a hundred bytes, and nearly all after kBytes.
class SegmentDecoder::Probe {
 public:
  static constexpr int64_t kBytes = 600;

  // `guess`: as it was before it ran.
  Probe(const HuffmanTables& tables, const Segment& segment, const Stream& guess,
        int64_t blocks_of_mcu)
      : tables_(tables),
        segment_(segment),
        stream_(guess),
        end_(guess.at + std::min(kBytes, guess.end - guess.at)),
        blocks_of_mcu_(blocks_of_mcu) {
    stream_.odd = odd_.data();
    stream_.checkpoints = nullptr;
    rewind();
  }
  Probe(const Probe&) = delete;
  Probe& operator=(const Probe&) = delete;

  // The number of the MCU that begins at `bit`. Requires: ascending bits from call to call.
  std::optional<int64_t> find(int64_t bit) {
    while (bit_now() < bit && stream_.at < end_) {
      run_to(tables_, stream_, blocks_of_mcu_, segment_.data + segment_.bytes);
      ++mcus_;
      is_cut_ = stream_.blocks() < blocks_of_mcu_;
      rewind();
    }
    if (bit_now() != bit || is_cut_) return std::nullopt;
    return mcus_;
  }
  // Whether no MCU that it decodes begins at `bit` or behind it.
  bool is_passed(int64_t bit) const { return stream_.at >= end_ && bit_now() < bit; }
  const uint8_t* at() const { return stream_.at; }

 private:
  static constexpr size_t kBlocks = kMaxBlocksOfMcu + kSlackBlocks;

  int64_t bit_now() const { return bit_of(stream_, segment_.data); }
  void rewind() { stream_.place = stream_.first = coefficients_.data(); }

  // Nobody reads them.
  alignas(kBlockBytes) std::array<int16_t, kBlocks * kBlockCoefficients> coefficients_;
  std::array<uint8_t, kBlocks> odd_;

  const HuffmanTables& tables_;
  const Segment& segment_;
  Stream stream_;
  const uint8_t* const end_;
  const int64_t blocks_of_mcu_;
  int64_t mcus_ = 0;
  bool is_cut_ = false;  // the data ended in the last MCU: no other begins where it is
};

namespace {

// MCUs that a stream has decoded.
struct Decoded {
  int64_t first = 0;  // in the image
  int64_t count = 0;
  const Stream& stream;
  int64_t block = 0;  // of the stream, with which they begin
  int64_t bit = 0;    // likewise, of the data

  int16_t* coefficients() const { return stream.first + block * kBlockCoefficients; }
};

// Makes pixels of them.
struct PixelSink {
  static constexpr bool kTracked = false;  // whether streams have checkpoints
  McuRows& rows;

  bool take(const Decoded& decoded, Predictors& predictors) const {
    return rows.take(decoded.first, decoded.count, decoded.coefficients(), predictors);
  }
};

// Makes entry points of their beginnings.
struct EntryPointSink {
  static constexpr bool kTracked = true;
  const HuffmanTables& tables;
  const BaselineHeader& header;
  const uint8_t* data = nullptr;
  int64_t spacing = 0;
  std::vector<EntryPoint>& points;

  bool take(const Decoded& decoded, Predictors& predictors) const {
    int16_t* coefficients = decoded.coefficients();
    for (int64_t done = 0; done < decoded.count;) {
      const int64_t column = (decoded.first + done) % header.mcus.width;
      if (column % spacing == 0) {
        const int64_t block = decoded.block + done * header.blocks_of_mcu;
        const int64_t bit =
            done == 0 ? decoded.bit : bit_of_block(tables, decoded.stream, data, block);
        points.push_back({bit, predictors});
      }
      const int64_t next = std::min(column - column % spacing + spacing, header.mcus.width);
      const int64_t count = std::min(next - column, decoded.count - done);
      if (!sum_differences(header, count, coefficients, predictors)) return false;
      coefficients += count * header.blocks_of_mcu * kBlockCoefficients;
      done += count;
    }
    return true;
  }
};

}  // namespace

// The decoding of a large segment, round by round. Each round begins at a known bit.
template <class Sink>
class SegmentDecoder::Rounds {
 public:
  Rounds(SegmentDecoder& decoder, const HuffmanTables& tables, const BaselineHeader& header,
         const Segment& segment, const Sink& sink)
      : decoder_(decoder),
        tables_(tables),
        blocks_of_mcu_(header.blocks_of_mcu),
        segment_(segment),
        sink_(sink),
        end_(segment.data + segment.bytes),
        mcus_of_lane_(kBlocksOfLane / blocks_of_mcu_) {}

  bool run(const std::stop_token& stop) {
    while (done_ < segment_.wanted) {
      if (stop.stop_requested() || !round()) return false;
    }
    return is_right_end(segment_, bit_);
  }
  EntryPoint end() const { return {bit_, predictors_}; }

 private:
  // The lanes of the next round and the bytes between their beginnings.
  struct Plan {
    int lanes = 1;
    int64_t distance = 0;
  };
  Plan plan() const {
    const int64_t byte = bit_ >> 3;
    const double bytes_of_mcu =
        done_ > 0 ? static_cast<double>(byte) / static_cast<double>(done_)
                  : static_cast<double>(segment_.bytes) / static_cast<double>(segment_.mcus);
    const auto to_come =
        static_cast<int64_t>(bytes_of_mcu * static_cast<double>(segment_.wanted - done_));
    // A lane's blocks must have room for what lies between two guesses, and some more.
    const auto fits = static_cast<int64_t>(bytes_of_mcu * static_cast<double>(mcus_of_lane_) * 0.8);
    for (int lanes = may_guess() ? decoder_.lanes_ : 1; lanes > 1; --lanes) {
      const int64_t best = std::min({kDistance, fits, to_come / lanes + 64});
      const bool is_set = decoder_.distance_ > 0;
      const int64_t distance = is_set ? decoder_.distance_ : best;
      if ((is_set || best >= kLeastDistance) &&
          byte + (lanes - 1) * distance < segment_.bytes - kBytesBehind) {
        return {lanes, distance};
      }
    }
    return {1, std::min(kLanes * kDistance, to_come + kLeastDistance)};
  }

  // Near the end of a file it matters where exactly the wanted MCUs end, which later streams pass.
  bool may_guess() const { return misses_ < kMostMisses && segment_.ends_at_marker; }

  bool round() {
    const auto [lanes, distance] = plan();
    const int64_t byte = bit_ >> 3;
    for (int i = 0; i < lanes; ++i) {
      const int64_t begin = i == 0 ? bit_ : 8 * (byte + i * distance);
      // The last bytes are decoded one MCU at a time (`join`), to stop behind the last one.
      const int64_t end =
          std::clamp<int64_t>(segment_.bytes - kBytesBehind, 0, byte + (i + 1) * distance);
      const int64_t mcus =
          i == 0 ? std::min(mcus_of_lane_, segment_.wanted - done_) : mcus_of_lane_;
      streams_[lane(i)] =
          decoder_.begin(tables_, segment_, begin, end, i * kBlocksKept, mcus * blocks_of_mcu_);
      if constexpr (Sink::kTracked) {
        streams_[lane(i)].checkpoints = decoder_.checkpoints_.data() + i * kBlocksKept;
      }
    }
    const std::array<Stream, kLanes> begun = streams_;
    run_streams(tables_, {streams_.data(), static_cast<size_t>(lanes)});
    const bool fine = join(lanes, begun);
    for (int i = 0; i < lanes; ++i) {
      decoder_.clear(streams_[lane(i)], segment_.data + byte + i * distance);
    }
    return fine;
  }

  static size_t lane(int i) { return static_cast<size_t>(i); }
  int64_t mcus_of(const Stream& stream) const { return stream.blocks() / blocks_of_mcu_; }
  int64_t bit_now(const Stream& stream) const { return bit_of(stream, segment_.data); }
  bool is_at_end(const Stream& stream) const { return stream.at >= end_; }

  // Decodes to the beginning of MCU number `mcu` of the stream.
  void go_to(Stream& stream, int64_t mcu) const {
    run_to(tables_, stream, mcu * blocks_of_mcu_, end_);
  }
  bool is_at_mcu(const Stream& stream) const {
    return stream.blocks() % blocks_of_mcu_ == 0 && stream.table == tables_.first_dc();
  }

  // Decodes from MCU to MCU, until the stream arrives at an MCU of the next one, or is behind those
  // that may be, or has `most` MCUs. `guess`: the next stream as it began. Returns: the number of
  // its MCU; empty if the stream did not arrive at any.
  std::optional<int64_t> meet(Stream& stream, int64_t most, const Stream& guess) const {
    Probe probe(tables_, segment_, guess, blocks_of_mcu_);
    std::optional<int64_t> met;
    for (int64_t mcus = mcus_of(stream);; go_to(stream, ++mcus)) {
      const int64_t bit = bit_now(stream);
      met = probe.find(bit);
      if (met || probe.is_passed(bit) || mcus >= std::min(most, mcus_of_lane_) ||
          is_at_end(stream)) {
        break;
      }
    }
    decoder_.work_.stream_bytes += static_cast<uint64_t>(probe.at() - guess.at);
    return met;
  }

  // Takes the MCUs of the lanes, as far as each meets the next one. `begun`: the lanes before they
  // ran.
  bool join(int lanes, const std::array<Stream, kLanes>& begun) {
    int64_t begin = 0;  // the first MCU of the lane that counts
    for (int i = 0; i < lanes; ++i) {
      Stream& stream = streams_[lane(i)];
      const int64_t most = begin + segment_.wanted - done_;
      if (!is_at_mcu(stream) && mcus_of(stream) < most) go_to(stream, mcus_of(stream) + 1);
      std::optional<int64_t> next;
      if (i + 1 < lanes && mcus_of(stream) < most) {
        next = meet(stream, most, begun[lane(i + 1)]);
        ++decoder_.work_.guesses;
        const bool is_missed = !next && mcus_of(stream) < most;
        misses_ = is_missed ? misses_ + 1 : 0;
        if (is_missed) ++decoder_.work_.missed;
      } else if (end_ - stream.at <= kBytesBehind || stream.place >= stream.last_place) {
        while (mcus_of(stream) < std::min(most, mcus_of_lane_) && !is_at_end(stream)) {
          go_to(stream, mcus_of(stream) + 1);
        }
      }
      const int64_t mcus = std::min(mcus_of(stream), most);
      if (is_at_end(stream) && mcus < most) return false;
      if (stream.is_odd(begin * blocks_of_mcu_, mcus * blocks_of_mcu_)) return false;
      const Decoded decoded{.first = segment_.first + done_,
                            .count = mcus - begin,
                            .stream = stream,
                            .block = begin * blocks_of_mcu_,
                            .bit = bit_};
      if (!sink_.take(decoded, predictors_)) return false;
      done_ += mcus - begin;
      bit_ = bit_now(stream);
      // A stream that has passed the last MCU has found more data behind it.
      if (segment_.is_read_to_end && done_ == segment_.wanted &&
          (mcus < mcus_of(stream) || !is_at_mcu(stream))) {
        return false;
      }
      if (!next) break;
      begin = *next;
    }
    return true;
  }

  SegmentDecoder& decoder_;
  std::array<Stream, kLanes> streams_;
  const HuffmanTables& tables_;
  const int64_t blocks_of_mcu_;
  const Segment segment_;
  const Sink sink_;
  const uint8_t* const end_;
  const int64_t mcus_of_lane_;

  int64_t done_ = 0;  // MCUs of the segment
  int64_t bit_ = 0;   // behind them; further, if a later stream has passed the wanted ones
  int misses_ = 0;
  Predictors predictors_{};
};

SegmentDecoder::SegmentDecoder()
    : coefficients_(std::make_unique<Block[]>(static_cast<size_t>(kLanes * kBlocksKept))),
      odd_(std::make_unique<uint8_t[]>(static_cast<size_t>(kLanes * kBlocksKept))) {}

size_t SegmentDecoder::most_segments(const BaselineHeader& header, int64_t mcus) {
  const int64_t blocks = mcus * header.blocks_of_mcu;
  if (blocks > kSmallBlocks) return 0;
  return static_cast<size_t>(
      std::min(kMostSegments, kLanes * kBlocksKept / (blocks + kBlocksPassed + kSlackBlocks)));
}

Stream SegmentDecoder::begin(const HuffmanTables& tables, const Segment& segment, int64_t bit,
                             int64_t bytes, int64_t block, int64_t count) {
  return begin_stream(tables, segment.data, bit, bytes,
                      coefficients_[static_cast<size_t>(block)].coefficients, count,
                      odd_.get() + block);
}

void SegmentDecoder::clear(const Stream& stream, const uint8_t* begin) {
  work_.stream_bytes += static_cast<uint64_t>(stream.at - begin);
  const auto blocks = static_cast<size_t>(stream.blocks() + 1);
  std::memset(stream.first, 0, blocks * kBlockCoefficients * sizeof *stream.first);
  std::memset(stream.odd, 0, blocks);
  if (stream.checkpoints != nullptr) std::fill_n(stream.checkpoints, blocks, Checkpoint{});
}

bool SegmentDecoder::decode_by_guesses(const HuffmanTables& tables, const BaselineHeader& header,
                                       const Segment& segment, McuRows& rows,
                                       const std::stop_token& stop) {
  return Rounds(*this, tables, header, segment, PixelSink{rows}).run(stop);
}

bool SegmentDecoder::decode_each(const HuffmanTables& tables, const BaselineHeader& header,
                                 std::span<const Segment> segments, McuRows& rows) {
  streams_.clear();
  int64_t block = 0;
  for (const Segment& segment : segments) {
    // Where more MCUs and a marker follow, it does not matter where exactly the wanted ones end.
    const int64_t more = (segment.mcus - segment.wanted) * header.blocks_of_mcu;
    const bool may_pass = segment.ends_at_marker && more >= kBlocksPassed;
    const int64_t count = segment.wanted * header.blocks_of_mcu + (may_pass ? kBlocksPassed : 0);
    streams_.push_back(begin(tables, segment, segment.bit, segment.bytes, block, count));
    block += count + kSlackBlocks;
  }
  run_streams(tables, streams_);
  bool fine = true;
  for (size_t i = 0; i < segments.size(); ++i) {
    Stream& stream = streams_[i];
    const Segment& segment = segments[i];
    const int64_t count = segment.wanted * header.blocks_of_mcu;
    run_to(tables, stream, count, segment.data + segment.bytes);
    Predictors predictors = segment.predictors;
    fine = fine && stream.blocks() >= count && !stream.is_odd(0, count) &&
           is_right_end(segment, bit_of(stream, segment.data)) &&
           rows.take(segment.first, segment.wanted, stream.first, predictors) &&
           (!segment.end_predictors || predictors == *segment.end_predictors);
    clear(stream, segment.data);
  }
  return fine;
}

bool SegmentDecoder::find_entry_points(const HuffmanTables& tables, const BaselineHeader& header,
                                       const Segment& segment, int64_t spacing,
                                       std::vector<EntryPoint>& points) {
  checkpoints_.resize(static_cast<size_t>(kLanes * kBlocksKept));
  points.clear();
  // So that nothing is thrown while the streams' memory is not zero.
  points.reserve(
      static_cast<size_t>(header.mcus.height * ceil_div(header.mcus.width, spacing) + 1));
  Rounds rounds(*this, tables, header, segment,
                EntryPointSink{tables, header, segment.data, spacing, points});
  if (!rounds.run({})) return false;
  points.push_back(rounds.end());
  return true;
}

}  // namespace fuelrail::jpeg
