#include "fuelrail/decode/bmp/bmp_decoder.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "fuelrail/base/endian.h"
#include "fuelrail/decode/grey.h"
#include "fuelrail/decode/job.h"
#include "fuelrail/decode/packed_samples.h"

namespace fuelrail {
namespace {

[[noreturn]] void throw_truncated(Bytes encoded, const ErrorDetail& detail = {}) {
  throw TruncatedError(
      fmt::format("the BMP ends after {} bytes, before the end of the requested rows",
                  encoded.size()),
      detail);
}

// --- Colours ---

struct Colour {
  uint8_t red = 0, green = 0, blue = 0;
};

class Palette {
 public:
  Palette(Bytes encoded, const BmpHeader& header) {
    entries_ = std::min<size_t>(header.palette_entries, colours_.size());
    const uint64_t bytes = uint64_t{entries_} * header.palette_entry_bytes;
    if (header.palette_at > encoded.size() || bytes > encoded.size() - header.palette_at) {
      throw TruncatedError("the BMP ends inside its palette");
    }
    const std::byte* at = encoded.data() + header.palette_at;
    for (size_t i = 0; i < entries_; ++i, at += header.palette_entry_bytes) {
      colours_[i] = {std::to_integer<uint8_t>(at[2]), std::to_integer<uint8_t>(at[1]),
                     std::to_integer<uint8_t>(at[0])};
    }
  }
  Colour operator[](uint8_t index) const {
    if (index >= entries_) {
      throw DecodeError(
          "the palette index of a pixel in the BMP is out of range",
          {.expected = fmt::format("below {}", entries_), .found = fmt::format("{}", index)});
    }
    return colours_[index];
  }

 private:
  std::array<Colour, 256> colours_;
  size_t entries_ = 0;
};

void put(Colour colour, int64_t channels, uint8_t* to) {
  put_pixel(colour.red, colour.green, colour.blue, 255, channels, to);
}

// --- Uncompressed rows ---

uint32_t pixel_at(const std::byte* at, int bytes) {
  if (bytes == 2) return load_le<uint16_t>(at);
  if (bytes == 4) return load_le<uint32_t>(at);
  return load_le<uint16_t>(at) | std::to_integer<uint32_t>(at[2]) << 16;
}

// A channel's level, scaled to 255 and rounded down, as in Pillow.
uint8_t level_of(uint32_t pixel, BmpChannel channel) {
  const uint64_t value = pixel >> channel.shift & channel.most;
  return static_cast<uint8_t>(value * 255 / channel.most);
}

bool is_plain_bgr(const BmpHeader& header) {
  return header.bits >= 24 && header.channels[0].shift == 16 && header.channels[1].shift == 8 &&
         header.channels[2].shift == 0 && header.channels[0].most == 255 &&
         header.channels[1].most == 255 && header.channels[2].most == 255;
}

void take_colours(const std::byte* row, const BmpHeader& header, const Box& box, int64_t channels,
                  uint8_t* to) {
  const int bytes = header.bits / 8;
  const std::byte* at = row + box.left * bytes;
  if (is_plain_bgr(header) && channels != 4) {
    for (int64_t x = 0; x < box.width; ++x, at += bytes, to += channels) {
      put({std::to_integer<uint8_t>(at[2]), std::to_integer<uint8_t>(at[1]),
           std::to_integer<uint8_t>(at[0])},
          channels, to);
    }
    return;
  }
  const auto& [red, green, blue, alpha] = header.channels;
  for (int64_t x = 0; x < box.width; ++x, at += bytes, to += channels) {
    const uint32_t pixel = pixel_at(at, bytes);
    put_pixel(level_of(pixel, red), level_of(pixel, green), level_of(pixel, blue),
              channels == 4 ? level_of(pixel, alpha) : 255, channels, to);
  }
}

// The byte position in the image of row y, counted from the top.
uint64_t place_of_row(const BmpHeader& header, int64_t y) {
  const int64_t stored = header.top_down ? y : header.size.height - 1 - y;
  return header.pixels_at + static_cast<uint64_t>(stored) * header.padded_row_bytes();
}

// Errors: TruncatedError if a row of the box is missing.
void require_rows(const BmpHeader& header, const DecodeJob& job) {
  const uint64_t last =
      std::max(place_of_row(header, job.box.top), place_of_row(header, job.box.bottom() - 1));
  const uint64_t size = job.encoded.bytes.size();
  if (last <= size && header.row_bytes() <= size - last) return;
  throw_truncated(job.encoded.bytes,
                  {.expected = fmt::format("at least {} bytes", last + header.row_bytes())});
}

// The bytes of row y of the box, from the image's first column on.
const std::byte* row_of(const BmpHeader& header, const DecodeJob& job, int64_t y) {
  return job.encoded.bytes.data() + place_of_row(header, job.box.top + y);
}

void read_rows(const BmpHeader& header, const DecodeJob& job) {
  const Palette palette(job.encoded.bytes, header);
  require_rows(header, job);
  for (int64_t y = 0; y < job.box.height; ++y) {
    go_on(job);
    const std::byte* row = row_of(header, job, y);
    uint8_t* to = job.output.row(y);
    if (header.bits > 8) {
      take_colours(row, header, job.box, job.output.channels, to);
      continue;
    }
    const auto* indices = reinterpret_cast<const uint8_t*>(row);
    for (int64_t x = job.box.left; x < job.box.right(); ++x, to += job.output.channels) {
      put(palette[packed_sample(indices, x, header.bits)], job.output.channels, to);
    }
  }
}

void read_values(const BmpHeader& header, const DecodeJob& job) {
  require_rows(header, job);
  for (int64_t y = 0; y < job.box.height; ++y) {
    go_on(job);
    const auto* indices = reinterpret_cast<const uint8_t*>(row_of(header, job, y));
    auto* to = job.values.row_of<uint8_t>(y);
    for (int64_t x = job.box.left; x < job.box.right(); ++x) {
      *to++ = packed_sample(indices, x, header.bits);
    }
  }
}

// --- Run-length encoded rows ---

// Unpacks to one index per pixel, in storage order.
class RunLengths {
 public:
  RunLengths(Bytes encoded, const BmpHeader& header, std::vector<uint8_t>& indices)
      : encoded_(encoded), header_(header), indices_(indices), at_(header.pixels_at) {
    indices_.assign(static_cast<size_t>(header.size.height * header.size.width), 0);
  }

  void unpack() {
    while (y_ < header_.size.height) {
      const uint8_t count = next();
      const uint8_t value = next();
      if (count > 0) {
        run(count, value);
      } else if (value == 0) {
        x_ = 0;
        ++y_;
      } else if (value == 1) {
        return;  // the end; omitted pixels keep index 0
      } else if (value == 2) {
        x_ += next();
        y_ += next();
        if (x_ > header_.size.width)
          throw DecodeError("the BMP's run-length encoding extends beyond the image");
      } else {
        literal(value);
      }
    }
  }

 private:
  uint8_t next() {
    if (at_ >= encoded_.size()) throw_truncated(encoded_);
    return std::to_integer<uint8_t>(encoded_[at_++]);
  }

  // A run that is longer than its row is cut, as in other decoders.
  void run(uint8_t count, uint8_t value) {
    for (int i = 0; i < count && x_ < header_.size.width; ++i) put(half_of(value, i));
  }

  void literal(uint8_t count) {
    if (count > header_.size.width - x_)
      throw DecodeError("the BMP's run-length encoding extends beyond the image");
    const uint64_t begin = at_;
    uint8_t value = 0;
    for (int i = 0; i < count; ++i) {
      if (header_.compression == BmpCompression::kRle8 || i % 2 == 0) value = next();
      put(half_of(value, i));
    }
    if ((at_ - begin) % 2 != 0) next();  // to a multiple of two bytes
  }

  uint8_t half_of(uint8_t value, int i) const {
    if (header_.compression == BmpCompression::kRle8) return value;
    return i % 2 == 0 ? value >> 4 : value & 15;
  }

  void put(uint8_t index) { indices_[static_cast<size_t>(y_ * header_.size.width + x_++)] = index; }

  Bytes encoded_;
  const BmpHeader& header_;
  std::vector<uint8_t>& indices_;
  uint64_t at_;
  int64_t x_ = 0, y_ = 0;  // y in storage order
};

class BmpDecoder final : public Decoder {
 public:
  void decode(std::span<DecodeJob> jobs) override {
    decode_each(jobs, [this](DecodeJob& job) { decode_one(job); });
  }

 private:
  void decode_one(const DecodeJob& job) {
    const BmpHeader header = parse_bmp_header(job.encoded.bytes);
    require_size(job, header.size);
    if (job.values.data != nullptr) return decode_values(header, job);
    if (job.output.channels == 4 && header.channels[3].most == 0) refuse_alpha();
    if (header.compression == BmpCompression::kNone) {
      read_rows(header, job);
    } else {
      read_runs(header, job);
    }
  }

  // The values are palette indices, whether or not the palette has colours for them.
  void decode_values(const BmpHeader& header, const DecodeJob& job) {
    require_stored_values(job, header.bits <= 8 ? std::optional(ValueLayout{}) : std::nullopt);
    if (header.compression == BmpCompression::kNone) return read_values(header, job);
    go_on(job);
    RunLengths(job.encoded.bytes, header, indices_).unpack();
    for (int64_t y = 0; y < job.box.height; ++y) {
      std::copy_n(unpacked_row(header, job, y), job.box.width, job.values.row_of<uint8_t>(y));
    }
  }

  // The unpacked indices of row y of the box.
  const uint8_t* unpacked_row(const BmpHeader& header, const DecodeJob& job, int64_t y) const {
    const int64_t shown = job.box.top + y;
    const int64_t stored = header.top_down ? shown : header.size.height - 1 - shown;
    return indices_.data() + static_cast<size_t>(stored * header.size.width + job.box.left);
  }

  void read_runs(const BmpHeader& header, const DecodeJob& job) {
    go_on(job);
    const Palette palette(job.encoded.bytes, header);
    RunLengths(job.encoded.bytes, header, indices_).unpack();
    for (int64_t y = 0; y < job.box.height; ++y) {
      const uint8_t* from = unpacked_row(header, job, y);
      uint8_t* to = job.output.row(y);
      for (int64_t x = 0; x < job.box.width; ++x, to += job.output.channels) {
        put(palette[from[x]], job.output.channels, to);
      }
    }
  }

  std::vector<uint8_t> indices_;
};

}  // namespace

std::unique_ptr<Decoder> make_bmp_decoder() { return std::make_unique<BmpDecoder>(); }

}  // namespace fuelrail
