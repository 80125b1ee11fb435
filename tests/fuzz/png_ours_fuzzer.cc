// Our own PNG decoder beside libspng: what ours decodes, libspng decodes to the same pixels. The
// mutator changes whole files, chunks, compressed data, or rows, and mends what would hide the rest
// from both: the CRC-32 of chunks, the Adler-32 of data that zlib inflates, and the number of rows.
// The one known difference is no finding: libdeflate inflates some data that zlib, and so libspng,
// refuses (docs/decoding.md).
#include <libdeflate.h>
#include <zlib.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "fuelrail/decode/png/plain_png_decoder.h"
#include "fuelrail/decode/png/spng_decoder.h"
#include "fuelrail/testing/made_png.h"
#include "image_fuzzing.h"
#include "png_fuzzing.h"

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

namespace {

using namespace fuelrail;
using Data = std::vector<std::byte>;

constexpr int64_t kMostPixels = 1 << 12;
constexpr size_t kMostRows = kMostPixels * 9;  // bytes, with the filters

// --- The mutator --------------------------------------------------------------------------------

using testing::PngChunk;

// Mutates bytes, which may grow by some.
void mutate(Data& data) {
  const size_t bytes = data.size();
  data.resize(bytes + 16);
  data.resize(LLVMFuzzerMutate(reinterpret_cast<uint8_t*>(data.data()), bytes, data.size()));
}

// Inflates without the header and the checksum. Returns: false if zlib refuses the data, or if they
// are too long; `used` are the compressed bytes.
bool inflate_by_zlib(Bytes compressed, Data& data, size_t& used) {
  data.resize(kMostRows);
  z_stream stream{};
  if (::inflateInit2(&stream, -15) != Z_OK) return false;
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(compressed.data()));
  stream.avail_in = static_cast<uInt>(compressed.size());
  stream.next_out = reinterpret_cast<Bytef*>(data.data());
  stream.avail_out = static_cast<uInt>(data.size());
  const bool ended = ::inflate(&stream, Z_FINISH) == Z_STREAM_END;
  used = stream.total_in;
  data.resize(stream.total_out);
  ::inflateEnd(&stream);
  return ended;
}

size_t row_bytes_of(const PngChunk& header) {
  if (header.payload.size() != png::kHeaderBytes) return 0;
  const png::Header fields(header.payload);
  const auto samples = static_cast<uint64_t>(png::samples_of(fields.type));
  const uint64_t bits = fields.width * samples * fields.bits;
  const uint64_t bytes = (bits + 7) / 8 + 1;
  return fields.height > 0 && bytes <= kMostRows / fields.height ? static_cast<size_t>(bytes) : 0;
}

// Makes rows of the header's number and length, most of them with a filter of the standard.
void mend_rows(Data& rows, const PngChunk& header, std::minstd_rand& random) {
  const size_t row_bytes = row_bytes_of(header);
  if (row_bytes == 0) return;
  rows.resize(row_bytes * png::Header(header.payload).height);
  if (random() % 50 == 0) return;
  for (size_t at = 0; at < rows.size(); at += row_bytes) {
    rows[at] = static_cast<std::byte>(std::to_integer<unsigned>(rows[at]) % 5);
  }
}

// Changes the compressed data or, if `in_rows`, what they inflate to.
void mutate_data(Data& data, const PngChunk& header, bool in_rows, std::minstd_rand& random) {
  if (data.size() < 6) return;
  if (!in_rows) {
    Data body(data.begin() + 2, data.end());
    mutate(body);
    data.resize(2);
    data.insert(data.end(), body.begin(), body.end());
  }
  Data rows;
  size_t used = 0;
  if (!inflate_by_zlib(Bytes(data).subspan(2), rows, used)) return;
  if (in_rows) {
    mutate(rows);
    mend_rows(rows, header, random);
    data = testing::zlib_stream(rows, static_cast<int>(random() % 3));
    return;
  }
  data.resize(2 + used + 4);
  fuzzing::store_be32(data.data() + 2 + used, libdeflate_adler32(1, rows.data(), rows.size()));
}

void mutate_header(PngChunk& header, std::minstd_rand& random) {
  constexpr uint8_t kTypes[] = {0, 2, 3, 4, 6};
  constexpr uint8_t kBits[] = {1, 2, 4, 8, 16};
  if (header.payload.size() != png::kHeaderBytes) return;
  header.payload[8] = std::byte{kBits[random() % 5]};
  header.payload[9] = std::byte{kTypes[random() % 5]};
  if (random() % 2 == 0) fuzzing::store_be32(header.payload.data(), 1 + random() % 70);
  if (random() % 2 == 0) fuzzing::store_be32(header.payload.data() + 4, 1 + random() % 10);
}

// Replaces all IDAT chunks, which are at `first` and behind it, by chunks of these data.
void replace_data(std::vector<PngChunk>& pieces, size_t first, const Data& data,
                  std::minstd_rand& random) {
  std::erase_if(pieces, [](const PngChunk& piece) { return piece.type == "IDAT"; });
  const size_t step = random() % 4 == 0 ? 1 + random() % 200 : std::max<size_t>(data.size(), 1);
  std::vector<PngChunk> parts;
  for (size_t at = 0; at < data.size(); at += step) {
    const Bytes part = Bytes(data).subspan(at, std::min(step, data.size() - at));
    parts.push_back({"IDAT", fuzzing::copied(part)});
  }
  pieces.insert(pieces.begin() + static_cast<std::ptrdiff_t>(std::min(first, pieces.size())),
                parts.begin(), parts.end());
}

// The data of all IDAT chunks.
Data joined(const std::vector<PngChunk>& pieces) {
  Data data;
  for (const PngChunk& piece : pieces) {
    if (piece.type == "IDAT") data.insert(data.end(), piece.payload.begin(), piece.payload.end());
  }
  return data;
}

void mutate_chunks(std::vector<PngChunk>& pieces, std::minstd_rand& random) {
  constexpr const char* kTypes[] = {"PLTE", "tRNS", "bKGD", "hIST", "eXIf", "iCCP", "sPLT", "tEXt",
                                    "zTXt", "iTXt", "gAMA", "cHRM", "sRGB", "sBIT", "pHYs", "tIME",
                                    "oFFs", "acTL", "fcTL", "fdAT", "abCd", "ABCD", "IDAT", "IHDR"};
  const size_t at = random() % pieces.size();
  const auto place = pieces.begin() + static_cast<std::ptrdiff_t>(at);
  switch (random() % 6) {
    case 0:
      std::swap(pieces[at], pieces[random() % pieces.size()]);
      return;
    case 1: {
      const PngChunk copy = *place;
      pieces.insert(place, copy);
      return;
    }
    case 2:
      pieces.erase(place);
      return;
    case 3:
      pieces.insert(place, {kTypes[random() % std::size(kTypes)], Data(random() % 12)});
      return;
    case 4:
      place->payload.resize(random() % 30);
      return;
    default:
      mutate(place->payload);
  }
}

Data mutated(Bytes png, std::minstd_rand& random) {
  std::vector<PngChunk> pieces = testing::chunks_of(png);
  const auto is_data = [](const PngChunk& piece) { return piece.type == "IDAT"; };
  const auto first = std::ranges::find_if(pieces, is_data);
  if (pieces.empty() || first == pieces.end()) return fuzzing::copied(png);
  const unsigned kind = random() % 8;
  if (kind == 0) {
    mutate_chunks(pieces, random);
    return testing::png_of(pieces);
  }
  const auto place = static_cast<size_t>(first - pieces.begin());
  Data data = joined(pieces);
  if (kind == 1) mutate_header(pieces.front(), random);
  mutate_data(data, pieces.front(), kind == 1 || kind > 4, random);
  replace_data(pieces, place, data, random);
  return testing::png_of(pieces);
}

// --- The comparison -----------------------------------------------------------------------------

// Whether zlib decodes the compressed data of an image.
bool is_inflated_by_zlib(Bytes png) {
  Data rows;
  size_t used = 0;
  const Data data = joined(testing::chunks_of(png));
  return data.size() > 2 && inflate_by_zlib(Bytes(data).subspan(2), rows, used);
}

// Printed at the end: most inputs are damaged, and tell nothing.
struct Counts {
  uint64_t compared = 0;
  uint64_t refused_by_zlib = 0;
  ~Counts() {
    std::fprintf(stderr, "compared %" PRIu64 " boxes; zlib refuses the data of %" PRIu64 "\n",
                 compared, refused_by_zlib);
  }
};
Counts counts;

// Decodes by ours and by libspng into memory that is 0x5a before.
void compare(DecodeJob job, Data& own, Data& reference,
             const std::function<void(DecodeJob& job, Data& memory)>& aim) {
  static png::PlainPngDecoder ours;
  static const std::unique_ptr<Decoder> spng = make_spng_decoder();
  std::ranges::fill(own, std::byte{0x5a});
  aim(job, own);
  if (!ours.decode(job)) return;
  std::ranges::fill(reference, std::byte{0x5a});
  aim(job, reference);
  spng->decode({&job, 1});
  if (job.error && !is_inflated_by_zlib(job.encoded.bytes)) {
    ++counts.refused_by_zlib;
    return;
  }
  fuzzing::require(!job.error, "libspng decodes what ours decodes");
  fuzzing::require(own == reference, "the pixels are those of libspng");
  ++counts.compared;
}

constexpr int64_t kPadding = 3;  // elements behind each row, which stay as they are

void compare_pixels(Bytes encoded, const ImageInfo& info, const Box& box, int64_t channels) {
  static Data own, reference;
  const int64_t stride = box.width * channels + kPadding;
  own.resize(static_cast<size_t>(box.height * stride));
  reference.resize(own.size());
  compare({.encoded = encoded, .info = info, .box = box}, own, reference,
          [&](DecodeJob& job, Data& memory) {
            job.output = {reinterpret_cast<uint8_t*>(memory.data()), box.height, box.width,
                          channels, stride};
          });
}

void compare_values(Bytes encoded, const ImageInfo& info, const Box& box) {
  static Data own, reference;
  ValueLayout layout;
  if (!fuzzing::succeeds([&] { layout = value_layout(info, ValueEncoding::kStored); })) return;
  const auto element = static_cast<int64_t>(size_in_bytes(layout.dtype));
  const int64_t stride = (box.width + kPadding) * element;
  own.resize(static_cast<size_t>(box.height * stride));
  reference.resize(own.size());
  compare({.encoded = encoded, .info = info, .box = box}, own, reference,
          [&](DecodeJob& job, Data& memory) {
            job.values = {memory.data(), box.height, box.width, 1, layout.dtype, stride};
          });
}

}  // namespace

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                          unsigned int seed) {
  std::minstd_rand random(seed);
  if (random() % 8 == 0 || size < png::kSignatureBytes) {
    return LLVMFuzzerMutate(data, size, max_size);
  }
  const Data changed = mutated(fuzzing::as_bytes(data, size), random);
  if (changed.size() > max_size) return LLVMFuzzerMutate(data, size, max_size);
  std::memcpy(data, changed.data(), changed.size());
  return changed.size();
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const Bytes encoded = fuzzing::as_bytes(data, size);
  ImageInfo info;
  if (!fuzzing::succeeds([&] { info = probe(encoded, kMostPixels); })) return 0;
  if (info.format != &kPngFormat) return 0;
  const Box box = fuzzing::some_box(encoded, info.stored);
  compare_pixels(encoded, info, whole(info.stored), 3);
  compare_pixels(encoded, info, box, 1);
  if (info.alpha) compare_pixels(encoded, info, box, 4);
  compare_values(encoded, info, box);
  return 0;
}
