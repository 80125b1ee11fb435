#include "fuelrail/decode/npy/npy_decoder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "fuelrail/base/endian.h"
#include "fuelrail/base/half.h"
#include "fuelrail/decode/grey.h"
#include "fuelrail/decode/job.h"
#include "fuelrail/decode/npy/npy_header.h"

namespace fuelrail {
namespace {

bool has_floats(const NpyHeader& header) {
  return header.dtype == DType::kFloat16 || header.dtype == DType::kFloat32;
}

std::optional<ValueLayout> values_of(const NpyHeader& header) {
  if (has_floats(header)) return ValueLayout{DType::kFloat32, header.channels};
  if (header.channels != 1) return {};
  return ValueLayout{header.dtype};
}

// The elements of the box, in the file. Errors: TruncatedError if the file lacks rows above the
// box's end.
ConstRawView stored_box(const NpyHeader& header, Bytes encoded, Box box) {
  const Bytes data = encoded.subspan(header.data_at);
  const int64_t row_bytes = header.size.width * header.pixel_bytes();
  if (data.size() / static_cast<uint64_t>(row_bytes) < static_cast<uint64_t>(box.bottom())) {
    throw TruncatedError(
        fmt::format("the .npy file ends after {} bytes, before the end of the requested rows",
                    encoded.size()),
        {.expected = fmt::format("at least {} bytes of elements", box.bottom() * row_bytes)});
  }
  const ConstRawView all{data.data(),     header.size.height, header.size.width,
                         header.channels, header.dtype,       row_bytes};
  return all.crop(box);
}

// Converts a row of uint8 pixels.
void take_row(const uint8_t* from, int64_t from_channels, int64_t width, int64_t channels,
              uint8_t* to) {
  for (int64_t x = 0; x < width; ++x, from += from_channels, to += channels) {
    if (from_channels == 1) {
      std::fill_n(to, channels, from[0]);
    } else {
      put_pixel(from[0], from[1], from[2], 255, channels, to);
    }
  }
}

void take_pixels(const NpyHeader& header, const DecodeJob& job) {
  if (header.dtype != DType::kUint8) {
    throw UnsupportedError("the elements of the .npy file are not pixels",
                           {.expected = "uint8",
                            .found = name_of(header.dtype),
                            .remedy = "Declare the field as a mask or a map, or convert the array "
                                      "to uint8"});
  }
  const int64_t channels = job.output.channels;
  if (channels == 4 && header.channels != 4) refuse_alpha();
  const ConstImageView from = stored_box(header, job.encoded.bytes, job.box).bytes_image();
  for (int64_t y = 0; y < job.box.height; ++y) {
    go_on(job);
    if (channels == header.channels) {
      std::memcpy(job.output.row(y), from.row(y), static_cast<size_t>(from.width * channels));
    } else {
      take_row(from.row(y), header.channels, from.width, channels, job.output.row(y));
    }
  }
}

// `from`: float16, at any address.
void widen(const std::byte* from, int64_t count, float* to) {
  for (int64_t i = 0; i < count; ++i) to[i] = from_half(load_le<uint16_t>(from + 2 * i));
}

void take_values(const NpyHeader& header, const DecodeJob& job) {
  require_stored_values(job, values_of(header));
  const ConstRawView from = stored_box(header, job.encoded.bytes, job.box);
  const auto row_bytes = static_cast<size_t>(from.row_bytes());
  for (int64_t y = 0; y < from.height; ++y) {
    go_on(job);
    if (from.dtype == DType::kFloat16) {
      widen(from.row(y), from.width * from.channels, job.values.row_of<float>(y));
    } else {
      std::memcpy(job.values.row(y), from.row(y), row_bytes);
    }
  }
}

class NpyDecoder final : public Decoder {
 public:
  void decode(std::span<DecodeJob> jobs) override {
    decode_each(jobs, [](const DecodeJob& job) {
      const NpyHeader header = parse_npy_header(job.encoded.bytes);
      require_size(job, header.size);
      job.values.data == nullptr ? take_pixels(header, job) : take_values(header, job);
    });
  }
};

}  // namespace

ImageInfo probe_npy(Bytes encoded) {
  const NpyHeader header = parse_npy_header(encoded);
  ImageInfo info;
  info.format = &kNpyFormat;
  info.stored = header.size;
  info.channels = static_cast<int>(header.channels);
  info.alpha = header.channels == 4;
  info.bits = static_cast<int>(8 * size_in_bytes(header.dtype));
  if (const auto values = values_of(header)) info.values = values->dtype;
  return info;
}

std::optional<ConstImageView> pixels_in_npy(Bytes encoded, Box box, int64_t channels) {
  const NpyHeader header = parse_npy_header(encoded);
  if (header.dtype != DType::kUint8 || header.channels != channels) return {};
  return stored_box(header, encoded, box).bytes_image();
}

std::unique_ptr<Decoder> make_npy_decoder() { return std::make_unique<NpyDecoder>(); }

}  // namespace fuelrail
