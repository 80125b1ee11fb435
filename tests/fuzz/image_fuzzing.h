// The contract of every decoder, for arbitrary bytes.
#pragma once

#include <algorithm>
#include <vector>

#include "fuelrail/base/crc32.h"
#include "fuelrail/decode/decoder.h"
#include "fuelrail/decode/probe.h"
#include "fuzzing.h"

namespace fuelrail::fuzzing {

// Small enough to decode thousands of images per second.
inline constexpr int64_t kMaxPixels = 1 << 16;

// Decodes a box of an image; false if the decoder reports an error. `fill` is the initial value of
// the pixels, and must remain after each row and its margin.
inline bool decode_box(Decoder& decoder, Bytes encoded, const ImageInfo& info, Box box,
                       int64_t channels, int64_t margin, uint8_t fill,
                       std::vector<uint8_t>& pixels) {
  constexpr int64_t kPadding = 5;
  const int64_t stride = (box.width + 2 * margin) * channels + kPadding;
  pixels.assign(static_cast<size_t>(box.height * stride), fill);
  DecodeJob job;
  job.encoded = encoded;
  job.info = info;
  job.box = box;
  job.margin = margin;
  job.output = {pixels.data() + margin * channels, box.height, box.width, channels, stride};
  decoder.decode({&job, 1});
  for (int64_t y = 0; y < box.height; ++y) {
    const uint8_t* end = job.output.row(y) + (box.width + margin) * channels;
    require(std::all_of(end, end + kPadding, [&](uint8_t byte) { return byte == fill; }),
            "nothing is written behind a row");
    std::copy_n(job.output.row(y), box.width * channels, pixels.data() + y * box.width * channels);
  }
  pixels.resize(static_cast<size_t>(box.height * box.width * channels));
  if (!job.error) return true;
  return succeeds([&] { std::rethrow_exception(job.error); });
}

// A box whose position is taken from the bytes themselves.
inline Box some_box(Bytes encoded, Size size) {
  const uint32_t random = crc32(encoded);
  const auto part = [&](int shift, int64_t limit) {
    return static_cast<int64_t>(random >> shift & 0xff) * limit / 256;
  };
  Box box{part(0, size.height), part(8, size.width), 0, 0};
  box.height = 1 + part(16, size.height - box.top);
  box.width = 1 + part(24, size.width - box.left);
  return box;
}

// Decodes the whole image and a box, with this number of channels: the box has the pixels of the
// whole image.
inline void check_channels(Decoder& decoder, Bytes encoded, const ImageInfo& info,
                           int64_t channels) {
  static std::vector<uint8_t> all, part;
  const Box box = some_box(encoded, info.stored);
  const bool decoded_all =
      decode_box(decoder, encoded, info, whole(info.stored), channels, 0, 0x5a, all);
  const bool decoded_part =
      decode_box(decoder, encoded, info, box, channels, kDecodeMargin, 0xa5, part);
  if (!decoded_all) return;
  require(decoded_part, "a box of an image that decodes does, too");
  for (int64_t y = 0; y < box.height; ++y) {
    const uint8_t* row = all.data() + ((box.top + y) * info.stored.width + box.left) * channels;
    require(std::equal(row, row + box.width * channels, part.data() + y * box.width * channels),
            "a box's pixels are those of the whole");
  }
}

// Decodes the values of a box; false if the decoder reports an error. `fill` is the initial value
// of the memory, and must remain after each row.
inline bool decode_values(Decoder& decoder, Bytes encoded, const ImageInfo& info, Box box,
                          ValueEncoding encoding, uint8_t fill, std::vector<uint8_t>& memory) {
  const ValueLayout layout = value_layout(info, encoding);
  const auto element = static_cast<int64_t>(size_in_bytes(layout.dtype));
  const int64_t row_bytes = box.width * layout.channels * element;
  const int64_t stride = row_bytes + element;
  memory.assign(static_cast<size_t>(box.height * stride), fill);
  DecodeJob job;
  job.encoded = encoded;
  job.info = info;
  job.box = box;
  job.values = {reinterpret_cast<std::byte*>(memory.data()),
                box.height,
                box.width,
                layout.channels,
                layout.dtype,
                stride};
  job.encoding = encoding;
  decoder.decode({&job, 1});
  for (int64_t y = 0; y < box.height; ++y) {
    const uint8_t* row = memory.data() + y * stride;
    require(std::all_of(row + row_bytes, row + stride, [&](uint8_t byte) { return byte == fill; }),
            "nothing is written behind a row of values");
    std::copy_n(row, row_bytes, memory.data() + y * row_bytes);
  }
  memory.resize(static_cast<size_t>(box.height * row_bytes));
  if (!job.error) return true;
  return succeeds([&] { std::rethrow_exception(job.error); });
}

// Decodes all values and those of a box, if the header promises values in this encoding: the box
// has the values of the whole image.
inline void check_values(Decoder& decoder, Bytes encoded, const ImageInfo& info,
                         ValueEncoding encoding) {
  static std::vector<uint8_t> all, part;
  ValueLayout layout;
  if (!succeeds([&] { layout = value_layout(info, encoding); })) return;
  const Box box = some_box(encoded, info.stored);
  const bool decoded_all =
      decode_values(decoder, encoded, info, whole(info.stored), encoding, 0x5a, all);
  const bool decoded_part = decode_values(decoder, encoded, info, box, encoding, 0xa5, part);
  if (!decoded_all) return;
  require(decoded_part, "a box of an image whose values decode does, too");
  const int64_t value_bytes = layout.channels * static_cast<int64_t>(size_in_bytes(layout.dtype));
  for (int64_t y = 0; y < box.height; ++y) {
    const uint8_t* row = all.data() + ((box.top + y) * info.stored.width + box.left) * value_bytes;
    require(
        std::equal(row, row + box.width * value_bytes, part.data() + y * box.width * value_bytes),
        "a box's values are those of the whole");
  }
}

// Probes `encoded` and, if it has this format, decodes it to every number of channels and to
// values: the result is an error or all pixels.
inline void check_image(Bytes encoded, const ImageFormat* format) {
  static const std::unique_ptr<Decoder> kDecoder = make_decoder();
  ImageInfo info;
  if (!succeeds([&] { info = probe(encoded, kMaxPixels); }) || info.format != format) return;
  const auto [height, width] = info.stored;
  require(height > 0 && width > 0 && height * width <= kMaxPixels, "sizes are within the limit");
  require(info.orientation >= 1 && info.orientation <= 8, "an orientation is one of the eight");
  require(info.channels >= 1 && info.channels <= 4, "there are one to four channels");
  for (const int64_t channels : {3, 1, 4}) check_channels(*kDecoder, encoded, info, channels);
  check_values(*kDecoder, encoded, info, ValueEncoding::kStored);
  check_values(*kDecoder, encoded, info, ValueEncoding::kRgb);
}

}  // namespace fuelrail::fuzzing
