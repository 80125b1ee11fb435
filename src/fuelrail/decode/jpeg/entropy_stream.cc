#include "fuelrail/decode/jpeg/entropy_stream.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

namespace fuelrail::jpeg {
namespace {

#define FUELRAIL_HOT [[gnu::always_inline]] inline

// Loads the bits behind `bits` used ones. Reads 8 bytes, up to kBytesBehind + 8 behind the data,
// where there are kZeroBytes.
FUELRAIL_HOT void advance(Stream& stream, int bits) {
  stream.at += bits >> 3;
  uint64_t word = 0;
  std::memcpy(&word, stream.at, sizeof word);
  if constexpr (std::endian::native == std::endian::little) word = __builtin_bswap64(word);
  stream.bits = (word | 1) << (bits & 7);
}

FUELRAIL_HOT int used_bits(const Stream& stream) { return std::countr_zero(stream.bits); }
FUELRAIL_HOT void refill(Stream& stream) { advance(stream, used_bits(stream)); }

FUELRAIL_HOT void note(const Stream& stream) {
  stream.checkpoints[stream.blocks()] = {stream.bits, stream.at, stream.table, stream.place};
}

// The last coefficient of the block.
FUELRAIL_HOT int16_t* block_end_of(int16_t* place) {
  constexpr uintptr_t kLast = kBlockBytes - sizeof *place;
  static_assert(std::has_single_bit(kBlockBytes));
  return reinterpret_cast<int16_t*>(reinterpret_cast<uintptr_t>(place) | kLast);
}

// Decodes one symbol alone, where the entry that was looked up cannot be used: its last coefficient
// would lie at the end of the block or beyond.
[[gnu::noinline]] void decode_alone(const HuffmanTables& tables, Stream& stream,
                                    const Entry& entry) {
  int16_t* const block_end = block_end_of(stream.place);
  const int64_t block = stream.blocks();
  // Clear what was written beyond the block.
  for (int16_t* const written :
       {stream.place + entry.first_step, stream.place + entry.second_step}) {
    if (written > block_end) *written = 0;
  }
  // Go back to the beginning of the code, before the ones that an entry of their own has decoded.
  const auto [code, is_dc, ones] = tables.code_at(stream.table);
  advance(stream, used_bits(stream) - length_of(entry) - ones);
  if (ones > 0) --stream.place;
  const auto symbol = code->find(static_cast<uint32_t>(stream.bits >> 48));
  const int value = symbol ? symbol->value : 0;
  stream.bits <<= symbol ? symbol->length : 16;
  const int size = value & 15;
  bool is_odd = !symbol || size > (is_dc ? kMaxDcSize : kMaxAcSize);
  bool ends = false;
  if (!is_dc) {
    const int run = value >> 4;
    ends = size == 0 && run < 15;
    if (!ends) stream.place += run + 1;
    // A run of zeros alone never reaches the last coefficient.
    if (stream.place > block_end || (!ends && size == 0 && stream.place == block_end)) {
      is_odd = true;
      stream.place = block_end;  // where libjpeg-turbo puts it
    }
  }
  if (is_odd) stream.odd[block] = 1;
  if (size > 0) {
    *stream.place =
        static_cast<int16_t>(extended(static_cast<int>(stream.bits >> (64 - size)), size));
    stream.bits <<= size;
  }
  refill(stream);
  if (ends || stream.place >= block_end) {
    stream.table = stream.step->next_dc;
    stream.place = block_end + 1;
    stream.step = stream.step->next;
  } else {
    stream.table = stream.step->ac;
  }
}

// Moves to the entry's last coefficient or, if it ends the block, to the next block. Blocks end at
// random, so a branch would be mispredicted. GCC 12 makes one of the plain form, whatever it is
// told.
FUELRAIL_HOT void go_on(Stream& stream, const Entry& entry, uint8_t length, int16_t* last,
                        int16_t* block_end) {
  const BlockStep* step = stream.step;
  const Entry* table = step->ac + size_t{entry.next_table} * kLookups;
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
  static_assert(kEndFlag == 128);  // the sign
  asm("testb %b3, %b3\n\t"
      "cmovs %4, %0\n\t"
      "cmovs %5, %1\n\t"
      "cmovs %6, %2"
      : "+r"(last), "+r"(table), "+r"(step)
      : "r"(length), "r"(block_end + 1), "rm"(step->next_dc), "rm"(step->next)
      : "cc");
#else
  const bool ends = (length & kEndFlag) != 0;
  last = ends ? block_end + 1 : last;
  table = ends ? step->next_dc : table;
  step = ends ? step->next : step;
#endif
  stream.place = last;
  stream.table = table;
  stream.step = step;
}

// The look-up of one entry. Requires: at least kLookupBits bits are loaded.
FUELRAIL_HOT void look_up(const HuffmanTables& tables, Stream& stream) {
  const Entry& entry = stream.table[stream.bits >> (64 - kLookupBits)];
  const uint8_t length = entry.length;
  stream.bits <<= length & 63;
  int16_t* const block_end = block_end_of(stream.place);
  int16_t* const second = stream.place + entry.second_step;
  *second = entry.second;
  stream.place[entry.first_step] = entry.first;
  if (second >= block_end) [[unlikely]] {
    Stream alone = stream;  // so that the stream itself may stay in registers
    decode_alone(tables, alone, entry);
    stream = alone;
    return;
  }
  go_on(stream, entry, length, second, block_end);
}

// Streams that wait for a lane.
struct Waiting {
  Stream* next;
  Stream* end;
};

template <size_t kCount>
using Lanes = std::array<Stream*, kCount>;

template <bool kTracked, size_t kCount>
void run(const HuffmanTables& tables, Lanes<kCount> lanes, Waiting waiting);

template <bool kTracked, size_t kCount>
[[gnu::noinline]] void run_without(const HuffmanTables& tables, const Lanes<kCount>& lanes,
                                   size_t over, Waiting waiting) {
  if constexpr (kCount > 1) {
    Lanes<kCount - 1> others;
    for (size_t i = 0; i < others.size(); ++i) others[i] = lanes[i < over ? i : i + 1];
    run<kTracked, kCount - 1>(tables, others, waiting);
  }
}

// Works on three local copies, which the compiler keeps in registers. `kTracked`: the streams have
// checkpoints.
template <bool kTracked, size_t kCount>
void run(const HuffmanTables& tables, Lanes<kCount> lanes, Waiting waiting) {
  Stream a = *lanes[0];
  Stream b = *lanes[kCount > 1 ? 1 : 0];
  Stream c = *lanes[kCount > 2 ? 2 : 0];
  for (;;) {
    size_t over = kCount;
    if (a.is_over()) [[unlikely]]
      over = 0;
    if (kCount > 1 && b.is_over()) [[unlikely]]
      over = 1;
    if (kCount > 2 && c.is_over()) [[unlikely]]
      over = 2;
    if (over < kCount) [[unlikely]] {
      *lanes[0] = a;
      if constexpr (kCount > 1) *lanes[1] = b;
      if constexpr (kCount > 2) *lanes[2] = c;
      if (waiting.next == waiting.end)
        return run_without<kTracked, kCount>(tables, lanes, over, waiting);
      lanes[over] = waiting.next++;
      a = *lanes[0];
      if constexpr (kCount > 1) b = *lanes[1];
      if constexpr (kCount > 2) c = *lanes[2];
      continue;
    }
    refill(a);
    if constexpr (kCount > 1) refill(b);
    if constexpr (kCount > 2) refill(c);
    if constexpr (kTracked) note(a);
    if constexpr (kTracked && kCount > 1) note(b);
    if constexpr (kTracked && kCount > 2) note(c);
    for (int i = 0; i < kLookupsOfRefill; ++i) {
      look_up(tables, a);
      if constexpr (kCount > 1) look_up(tables, b);
      if constexpr (kCount > 2) look_up(tables, c);
    }
  }
}

template <bool kTracked, size_t kCount>
void run_first(const HuffmanTables& tables, std::span<Stream> streams) {
  Lanes<kCount> lanes;
  for (size_t i = 0; i < kCount; ++i) lanes[i] = &streams[i];
  run<kTracked, kCount>(tables, lanes, {streams.data() + kCount, streams.data() + streams.size()});
}

template <bool kTracked>
void run_all(const HuffmanTables& tables, std::span<Stream> streams) {
  static_assert(kLanes == 3);
  switch (streams.size()) {
    case 0:
      return;
    case 1:
      return run_first<kTracked, 1>(tables, streams);
    case 2:
      return run_first<kTracked, 2>(tables, streams);
    default:
      return run_first<kTracked, 3>(tables, streams);
  }
}

}  // namespace

Stream begin_stream(const HuffmanTables& tables, const uint8_t* data, int64_t bit, int64_t bytes,
                    int16_t* blocks, int64_t count, uint8_t* odd) {
  // Before a refill that would pass its last block.
  const int64_t most = std::max<int64_t>(0, count - kLookupsOfRefill + 1);
  Stream stream{.at = data + (bit >> 3),
                .table = tables.first_dc(),
                .place = blocks,
                .step = tables.step_of(0),
                .last_place = blocks + most * kBlockCoefficients,
                .end = data + bytes,
                .first = blocks,
                .odd = odd};
  advance(stream, static_cast<int>(bit & 7));
  return stream;
}

void run_streams(const HuffmanTables& tables, std::span<Stream> streams) {
  if (!streams.empty() && streams.front().checkpoints != nullptr) {
    run_all<true>(tables, streams);
  } else {
    run_all<false>(tables, streams);
  }
}

int64_t bit_of(const Stream& stream, const uint8_t* data) {
  return (stream.at - data) * 8 + used_bits(stream);
}

void run_to(const HuffmanTables& tables, Stream& stream, int64_t blocks, const uint8_t* end) {
  const int16_t* const last_place = stream.first + blocks * kBlockCoefficients;
  while (stream.place < last_place && stream.at < end) {
    refill(stream);
    if (stream.checkpoints != nullptr) note(stream);
    look_up(tables, stream);
  }
}

// Decodes again from the last checkpoint before the block, which is at most a refill away.
int64_t bit_of_block(const HuffmanTables& tables, const Stream& stream, const uint8_t* data,
                     int64_t block) {
  int64_t from = block - 1;
  while (stream.checkpoints[from].at == nullptr) --from;
  const Checkpoint& checkpoint = stream.checkpoints[from];
  constexpr size_t kBlocks = kLookupsOfRefill + kSlackBlocks;
  alignas(kBlockBytes) std::array<int16_t, kBlocks * kBlockCoefficients>
      coefficients;  // that nobody reads
  std::array<uint8_t, kBlocks> odd;
  Stream again = stream;
  again.bits = checkpoint.bits;
  again.at = checkpoint.at;
  again.table = checkpoint.table;
  again.step = tables.step_of(from);
  again.first = coefficients.data();
  again.place = again.first + (checkpoint.place - stream.first) % kBlockCoefficients;
  again.odd = odd.data();
  again.checkpoints = nullptr;
  while (again.blocks() < block - from) {
    refill(again);
    look_up(tables, again);
  }
  return bit_of(again, data);
}

}  // namespace fuelrail::jpeg
