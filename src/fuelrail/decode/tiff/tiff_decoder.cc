#include "fuelrail/decode/tiff/tiff_decoder.h"

#include <fmt/format.h>
#include <tiffio.h>

#include <algorithm>
#include <array>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <optional>

#include "fuelrail/base/scratch.h"
#include "fuelrail/decode/exif.h"
#include "fuelrail/decode/grey.h"
#include "fuelrail/decode/ink.h"
#include "fuelrail/decode/job.h"
#include "fuelrail/decode/packed_samples.h"

namespace fuelrail {
namespace {

// The limit for a single allocation by libtiff, such as a table of strips or a decoder's memory.
constexpr tmsize_t kMaxOwnBytes = tmsize_t{256} << 20;

// --- libtiff, reading from memory ---

// The state of libtiff's callbacks.
struct Input {
  Bytes encoded;
  uint64_t at = 0;
  std::string failure;  // the first error that libtiff reported
};

Input& input_of(thandle_t handle) { return *static_cast<Input*>(handle); }

tmsize_t read_input(thandle_t handle, void* into, tmsize_t size) {
  Input& input = input_of(handle);
  if (size <= 0 || input.at >= input.encoded.size()) return 0;
  const size_t count = std::min(static_cast<size_t>(size), input.encoded.size() - input.at);
  std::memcpy(into, input.encoded.data() + input.at, count);
  input.at += count;
  return static_cast<tmsize_t>(count);
}
tmsize_t write_nothing(thandle_t, void*, tmsize_t) { return 0; }
toff_t seek_input(thandle_t handle, toff_t offset, int from) {
  Input& input = input_of(handle);
  if (from == SEEK_CUR) offset += input.at;
  if (from == SEEK_END) offset += input.encoded.size();
  return input.at = offset;
}
int close_nothing(thandle_t) { return 0; }
toff_t input_size(thandle_t handle) { return input_of(handle).encoded.size(); }
int map_input(thandle_t handle, void** base, toff_t* size) {
  const Bytes encoded = input_of(handle).encoded;
  *base = const_cast<std::byte*>(encoded.data());  // libtiff only reads what it maps
  *size = encoded.size();
  return 1;
}
void unmap_nothing(thandle_t, void*, toff_t) {}

int keep_failure(TIFF*, void* input, const char*, const char* format, va_list arguments) {
  std::string& failure = static_cast<Input*>(input)->failure;
  if (!failure.empty()) return 1;
  std::array<char, 200> text{};
  std::vsnprintf(text.data(), text.size(), format, arguments);
  failure = text.data();
  return 1;
}
int ignore_warning(TIFF*, void*, const char*, const char*, va_list) { return 1; }

struct Close {
  void operator()(TIFF* tiff) const { TIFFClose(tiff); }
};
struct FreeOptions {
  void operator()(TIFFOpenOptions* options) const { TIFFOpenOptionsFree(options); }
};

// An open file, at its first image.
class TiffFile {
 public:
  explicit TiffFile(Bytes encoded) {
    input_.encoded = encoded;
    const std::unique_ptr<TIFFOpenOptions, FreeOptions> options(TIFFOpenOptionsAlloc());
    if (!options) throw std::bad_alloc();
    TIFFOpenOptionsSetErrorHandlerExtR(options.get(), keep_failure, &input_);
    TIFFOpenOptionsSetWarningHandlerExtR(options.get(), ignore_warning, nullptr);
    TIFFOpenOptionsSetMaxSingleMemAlloc(options.get(), kMaxOwnBytes);
    tiff_.reset(TIFFClientOpenExt("image", "r", &input_, read_input, write_nothing, seek_input,
                                  close_nothing, input_size, map_input, unmap_nothing,
                                  options.get()));
    if (tiff_) return;
    constexpr size_t kSmallest = 8 + 2 + 12 + 4;  // header and a directory of one entry
    if (encoded.size() < kSmallest || first_directory(encoded) + 2 > encoded.size()) {
      throw TruncatedError(
          fmt::format("the TIFF ends before its first directory, after {} bytes", encoded.size()));
    }
    throw_damaged("the TIFF's directory is damaged");
  }
  TiffFile(const TiffFile&) = delete;  // libtiff keeps the address of input_
  TiffFile& operator=(const TiffFile&) = delete;

  TIFF* get() const { return tiff_.get(); }
  Bytes encoded() const { return input_.encoded; }

  // The value of a tag; if it is missing, TIFF's default for it, else `otherwise`.
  template <typename T>
  T value(uint32_t tag, T otherwise) const {
    T found{};
    return TIFFGetFieldDefaulted(get(), tag, &found) == 1 ? found : otherwise;
  }

  [[noreturn]] void throw_damaged(const char* what) const {
    throw DecodeError(what, {.found = input_.failure});
  }

 private:
  // The offset of the first directory in a classic TIFF; 0 for a BigTIFF.
  static uint64_t first_directory(Bytes encoded) {
    const bool big_endian = encoded[0] == std::byte{'M'};
    if (encoded[big_endian ? 3 : 2] != std::byte{42}) return 0;
    uint64_t at = 0;
    for (size_t i = 0; i < 4; ++i) {
      at = at << 8 | std::to_integer<uint64_t>(encoded[big_endian ? 4 + i : 7 - i]);
    }
    return at;
  }

  Input input_;
  std::unique_ptr<TIFF, Close> tiff_;
};

// --- An image's layout ---

enum class Colours : uint8_t { kWhiteIsZero, kBlackIsZero, kRgb, kPalette, kCmyk };

struct Layout {
  Size size;
  Colours colours = Colours::kBlackIsZero;
  int bits = 1;             // per sample
  int samples = 1;          // per pixel
  int channels = 1;         // samples without the extra ones, but with alpha
  bool alpha = false;       // an alpha sample follows the colours
  bool associated = false;  // colours were multiplied by this alpha
  bool one_plane = true;    // a pixel's samples are stored together
  bool jpeg_ycbcr = false;  // libjpeg converts it to RGB
  uint16_t compression = COMPRESSION_NONE;
  const uint16_t* map[3]{};  // the palette's colours, 2^bits entries each

  int colour_samples() const {
    return colours == Colours::kRgb ? 3 : colours == Colours::kCmyk ? 4 : 1;
  }
};

[[noreturn]] void refuse(const char* what, uint32_t found) {
  throw UnsupportedError(fmt::format("the TIFF's {} is not supported", what),
                         {.found = fmt::format("{}", found), .remedy = "Convert the image to PNG"});
}

Colours colours_of(const TiffFile& file, Layout& layout) {
  const auto photometric = file.value<uint16_t>(TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISWHITE);
  switch (photometric) {
    case PHOTOMETRIC_MINISWHITE:
      return Colours::kWhiteIsZero;
    case PHOTOMETRIC_MINISBLACK:
      return Colours::kBlackIsZero;
    case PHOTOMETRIC_RGB:
      return Colours::kRgb;
    case PHOTOMETRIC_PALETTE:
      return Colours::kPalette;
    case PHOTOMETRIC_SEPARATED:
      if (const auto inks = file.value<uint16_t>(TIFFTAG_INKSET, INKSET_CMYK); inks != INKSET_CMYK)
        refuse("ink set", inks);
      return Colours::kCmyk;
    case PHOTOMETRIC_YCBCR:
      layout.jpeg_ycbcr = true;
      return Colours::kRgb;
    default:
      refuse("colour space", photometric);
  }
}

void check_bits(const Layout& layout) {
  const bool packed = layout.bits == 1 || layout.bits == 2 || layout.bits == 4;
  const bool grey_or_palette = layout.colour_samples() == 1;
  const bool wide = layout.bits == 16 && layout.colours != Colours::kPalette &&
                    layout.colours != Colours::kWhiteIsZero;
  if (layout.bits == 8 || wide || (packed && grey_or_palette && layout.samples == 1)) return;
  refuse("number of bits per sample", static_cast<uint32_t>(layout.bits));
}

void read_extra_samples(const TiffFile& file, Layout& layout) {
  uint16_t count = 0;
  const uint16_t* kinds = nullptr;
  TIFFGetFieldDefaulted(file.get(), TIFFTAG_EXTRASAMPLES, &count, &kinds);
  const uint16_t kind = count > 0 && kinds != nullptr ? kinds[0] : EXTRASAMPLE_UNSPECIFIED;
  const bool alpha = layout.samples > layout.colour_samples() && kind != EXTRASAMPLE_UNSPECIFIED;
  layout.alpha = alpha;
  layout.associated = alpha && kind == EXTRASAMPLE_ASSOCALPHA;
  layout.channels = layout.colours == Colours::kPalette ? 3 : layout.colour_samples();
  if (alpha && layout.channels < 4) ++layout.channels;
  if (layout.associated && layout.colours != Colours::kRgb) refuse("kind of alpha", kind);
}

Layout layout_of(const TiffFile& file) {
  Layout layout;
  const auto height = file.value<uint32_t>(TIFFTAG_IMAGELENGTH, 0);
  const auto width = file.value<uint32_t>(TIFFTAG_IMAGEWIDTH, 0);
  if (height == 0 || width == 0 || height > 0x7fffffff || width > 0x7fffffff) {
    throw DecodeError("the TIFF does not declare a valid size",
                      {.found = fmt::format("{} x {} (height x width)", height, width)});
  }
  layout.size = {height, width};
  layout.colours = colours_of(file, layout);
  layout.bits = file.value<uint16_t>(TIFFTAG_BITSPERSAMPLE, 1);
  layout.samples = file.value<uint16_t>(TIFFTAG_SAMPLESPERPIXEL, 1);
  layout.one_plane =
      file.value<uint16_t>(TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG) == PLANARCONFIG_CONTIG ||
      layout.samples == 1;
  const auto format = file.value<uint16_t>(TIFFTAG_SAMPLEFORMAT, SAMPLEFORMAT_UINT);
  if (format != SAMPLEFORMAT_UINT) refuse("sample format", format);
  constexpr int kMaxSamples = 8;
  if (layout.samples < layout.colour_samples() || layout.samples > kMaxSamples) {
    refuse("number of samples per pixel", static_cast<uint32_t>(layout.samples));
  }
  check_bits(layout);
  layout.compression = file.value<uint16_t>(TIFFTAG_COMPRESSION, COMPRESSION_NONE);
  const uint16_t compression = layout.compression;
  if (!TIFFIsCODECConfigured(compression) || compression == COMPRESSION_OJPEG) {
    refuse("compression", compression);
  }
  if (layout.jpeg_ycbcr && (compression != COMPRESSION_JPEG || !layout.one_plane)) {
    refuse("colour space (YCbCr without JPEG compression, or in separate planes)",
           PHOTOMETRIC_YCBCR);
  }
  read_extra_samples(file, layout);
  if (layout.colours == Colours::kPalette) {
    uint16_t *red = nullptr, *green = nullptr, *blue = nullptr;
    if (TIFFGetField(file.get(), TIFFTAG_COLORMAP, &red, &green, &blue) != 1) {
      throw DecodeError("the TIFF has palette colours, but no palette");
    }
    layout.map[0] = red, layout.map[1] = green, layout.map[2] = blue;
  }
  return layout;
}

int orientation_of(const TiffFile& file) {
  uint16_t orientation = 0;
  if (TIFFGetField(file.get(), TIFFTAG_ORIENTATION, &orientation) == 1) {
    return orientation >= 1 && orientation <= 8 ? orientation : 1;
  }
  uint32_t size = 0;
  const void* packet = nullptr;
  if (TIFFGetField(file.get(), TIFFTAG_XMLPACKET, &size, &packet) != 1) return 1;
  return orientation_from({}, {static_cast<const std::byte*>(packet), size});
}

// --- Pixels ---

// An image's division into strips or tiles, all of one size.
struct Blocks {
  bool tiled = false;
  Size size;  // of one block; the last ones extend beyond the image's edge
  int64_t down = 0, across = 0;
  uint64_t bytes = 0, row_bytes = 0;
};

Blocks blocks_of(const TiffFile& file, const Layout& layout) {
  Blocks blocks;
  TIFF* tiff = file.get();
  blocks.tiled = TIFFIsTiled(tiff) != 0;
  if (blocks.tiled) {
    blocks.size = {file.value<uint32_t>(TIFFTAG_TILELENGTH, 0),
                   file.value<uint32_t>(TIFFTAG_TILEWIDTH, 0)};
    blocks.bytes = TIFFTileSize64(tiff);
    blocks.row_bytes = TIFFTileRowSize64(tiff);
  } else {
    const int64_t rows = file.value<uint32_t>(TIFFTAG_ROWSPERSTRIP, 0xffffffff);
    blocks.size = {std::min(rows, layout.size.height), layout.size.width};
    blocks.bytes = TIFFStripSize64(tiff);
    blocks.row_bytes = TIFFScanlineSize64(tiff);
  }
  const auto [height, width] = blocks.size;
  const int64_t together = layout.one_plane ? layout.samples : 1;
  const int64_t limit = (int64_t{64} << 20) + 16 * layout.size.height * layout.size.width;
  // The first condition keeps the second from overflowing.
  if (height <= 0 || width <= 0 || height > limit || width > limit ||
      static_cast<int64_t>(std::min<uint64_t>(blocks.bytes, 1ull << 62)) > limit ||
      blocks.row_bytes < static_cast<uint64_t>((width * together * layout.bits + 7) / 8) ||
      blocks.bytes / blocks.row_bytes < static_cast<uint64_t>(height)) {
    file.throw_damaged("the TIFF's strips or tiles do not match its size");
  }
  blocks.down = (layout.size.height + height - 1) / height;
  blocks.across = (layout.size.width + width - 1) / width;
  return blocks;
}

// Sample `i` of a row of samples of 16 bits.
uint16_t wide_sample_at(const uint8_t* row, int64_t i) {
  uint16_t value;
  std::memcpy(&value, row + 2 * i, 2);  // libtiff has converted it to this processor's byte order
  return value;
}

// The upper eight bits of sample `i` of a row, or all bits if there are fewer.
uint8_t sample_at(const uint8_t* row, int64_t i, int bits) {
  if (bits == 16) return static_cast<uint8_t>(wide_sample_at(row, i) >> 8);
  return bits == 8 ? row[i] : packed_sample(row, i, bits);
}

uint8_t divided_by_alpha(int colour, int alpha) {
  if (alpha == 0) return 0;
  return static_cast<uint8_t>(std::min(255, colour * 255 / alpha));
}

// Converts a pixel's colours to RGB.
std::array<uint8_t, 3> rgb_of(const Layout& layout, const uint8_t* samples) {
  std::array<uint8_t, 3> rgb;
  switch (layout.colours) {
    case Colours::kWhiteIsZero:
    case Colours::kBlackIsZero: {
      const int most = layout.bits >= 8 ? 255 : (1 << layout.bits) - 1;
      int level = samples[0] * (255 / most);
      if (layout.colours == Colours::kWhiteIsZero) level = 255 - level;
      rgb.fill(static_cast<uint8_t>(level));
      break;
    }
    case Colours::kPalette:
      for (size_t c = 0; c < 3; ++c) rgb[c] = static_cast<uint8_t>(layout.map[c][samples[0]] >> 8);
      break;
    case Colours::kRgb:
      for (size_t c = 0; c < 3; ++c) {
        rgb[c] = layout.associated ? divided_by_alpha(samples[c], samples[3]) : samples[c];
      }
      break;
    case Colours::kCmyk:
      for (size_t c = 0; c < 3; ++c) rgb[c] = light_under_ink(255 - samples[3], samples[c]);
      break;
  }
  return rgb;
}

std::optional<ValueLayout> values_of(const Layout& layout) {
  if (layout.colour_samples() != 1 || layout.alpha) return {};
  return ValueLayout{layout.bits == 16 ? DType::kUint16 : DType::kUint8};
}

// Sample `i` of a row of palette indices or grey, at most 8 bits each, as a value.
uint8_t value_at(const Layout& layout, const uint8_t* row, int64_t i) {
  const int sample = sample_at(row, i, layout.bits);
  if (layout.colours == Colours::kPalette) return static_cast<uint8_t>(sample);
  const int most = (1 << layout.bits) - 1;
  const int level = layout.colours == Colours::kWhiteIsZero ? most - sample : sample;
  return static_cast<uint8_t>(level * grey_value_factor(layout.bits));
}

class TiffDecoder final : public Decoder {
 public:
  void decode(std::span<DecodeJob> jobs) override {
    decode_each(jobs, [this](DecodeJob& job) { decode_one(job); });
  }

 private:
  void decode_one(const DecodeJob& job) {
    if (job.encoded.bytes.size() < 4) throw TruncatedError("the TIFF ends inside its signature");
    const TiffFile file(job.encoded.bytes);
    const Layout layout = layout_of(file);
    require_size(job, layout.size);
    if (job.values.data != nullptr) {
      require_stored_values(job, values_of(layout));
    } else if (job.output.channels == 4 && (!layout.alpha || layout.colours == Colours::kCmyk)) {
      refuse_alpha();
    }
    if (layout.jpeg_ycbcr) TIFFSetField(file.get(), TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);
    const Blocks blocks = blocks_of(file, layout);
    const auto [height, width] = blocks.size;
    for (int64_t i = job.box.top / height; i * height < job.box.bottom(); ++i) {
      for (int64_t j = job.box.left / width; j * width < job.box.right(); ++j) {
        go_on(job);
        read_block(file, layout, blocks, i, j, job);
      }
    }
  }

  // Reads the block in row i and column j of blocks, and copies its pixels inside the box.
  void read_block(const TiffFile& file, const Layout& layout, const Blocks& blocks, int64_t i,
                  int64_t j, const DecodeJob& job) {
    const int planes = layout.one_plane ? 1 : needed_samples(layout, job);
    const int64_t top = i * blocks.size.height, left = j * blocks.size.width;
    const int64_t rows = std::min(blocks.size.height, layout.size.height - top);
    uint8_t* const memory = memory_.take(blocks.bytes * static_cast<size_t>(planes));
    for (int plane = 0; plane < planes; ++plane) {
      const int64_t block = (plane * blocks.down + i) * blocks.across + j;
      read_plane(file, blocks, block, rows, memory + blocks.bytes * plane_index(plane));
    }
    const int64_t end_y = std::min(job.box.bottom(), top + rows);
    const int64_t begin_x = std::max(job.box.left, left);
    const int64_t end_x = std::min(job.box.right(), left + blocks.size.width);
    for (int64_t y = std::max(job.box.top, top); y < end_y; ++y) {
      const uint8_t* row = memory + static_cast<uint64_t>(y - top) * blocks.row_bytes;
      const Part part{begin_x - left, end_x - begin_x, begin_x - job.box.left};
      if (job.values.data != nullptr) {
        take_values(layout, row, part, job, y);
      } else {
        take_pixels(layout, row, blocks.bytes, part, job, y);
      }
    }
  }

  // The columns of a block's row that are inside the box, from its column `from` on; they belong
  // to the box's column `to` and the following ones.
  struct Part {
    int64_t from, count, to;
  };

  static void take_pixels(const Layout& layout, const uint8_t* row, uint64_t plane_bytes, Part part,
                          const DecodeJob& job, int64_t y) {
    const int64_t channels = job.output.channels;
    uint8_t* to = job.output.row(y - job.box.top) + part.to * channels;
    for (int64_t x = part.from; x < part.from + part.count; ++x, to += channels) {
      take_pixel(layout, row, plane_bytes, x, job, to);
    }
  }

  static void take_values(const Layout& layout, const uint8_t* row, Part part, const DecodeJob& job,
                          int64_t y) {
    const int64_t step = layout.one_plane ? layout.samples : 1;
    const int64_t first = part.from * step;
    if (layout.bits == 16) {
      auto* to = job.values.row_of<uint16_t>(y - job.box.top) + part.to;
      for (int64_t i = 0; i < part.count; ++i) to[i] = wide_sample_at(row, first + i * step);
    } else {
      auto* to = job.values.row_of<uint8_t>(y - job.box.top) + part.to;
      for (int64_t i = 0; i < part.count; ++i) to[i] = value_at(layout, row, first + i * step);
    }
  }

  static size_t plane_index(int plane) { return static_cast<size_t>(plane); }

  // The colours, and alpha if colours are divided by it or the output has four channels.
  static int needed_samples(const Layout& layout, const DecodeJob& job) {
    const bool wants_alpha = layout.alpha && job.output.channels == 4;
    return layout.colour_samples() + (layout.associated || wants_alpha ? 1 : 0);
  }

  static void take_pixel(const Layout& layout, const uint8_t* row, uint64_t plane_bytes, int64_t x,
                         const DecodeJob& job, uint8_t* to) {
    std::array<uint8_t, 5> samples{};
    for (int s = 0; s < needed_samples(layout, job); ++s) {
      samples[plane_index(s)] = layout.one_plane
                                    ? sample_at(row, x * layout.samples + s, layout.bits)
                                    : sample_at(row + plane_bytes * plane_index(s), x, layout.bits);
    }
    const auto [red, green, blue] = rgb_of(layout, samples.data());
    put_pixel(red, green, blue, samples[plane_index(layout.colour_samples())], job.output.channels,
              to);
  }

  static void read_plane(const TiffFile& file, const Blocks& blocks, int64_t block, int64_t rows,
                         uint8_t* into) {
    TIFF* tiff = file.get();
    const auto number = static_cast<uint32_t>(block);
    const uint64_t needed = blocks.row_bytes * static_cast<uint64_t>(rows);
    const auto size = static_cast<tmsize_t>(blocks.tiled ? blocks.bytes : needed);
    const tmsize_t got = blocks.tiled ? TIFFReadEncodedTile(tiff, number, into, size)
                                      : TIFFReadEncodedStrip(tiff, number, into, size);
    if (got >= size) return;
    const uint64_t offset = TIFFGetStrileOffset(tiff, number);
    const uint64_t bytes = TIFFGetStrileByteCount(tiff, number);
    const uint64_t end = file.encoded().size();
    if (offset > end || bytes > end - offset) {
      throw TruncatedError(
          fmt::format("the TIFF ends after {} bytes, before the end of the requested rows", end));
    }
    file.throw_damaged("the TIFF is damaged");
  }

  Scratch memory_;  // one block of each plane
};

}  // namespace

ImageInfo probe_tiff(Bytes encoded) {
  const TiffFile file(encoded);
  const Layout layout = layout_of(file);
  ImageInfo info;
  info.format = &kTiffFormat;
  info.stored = layout.size;
  info.channels = layout.channels;
  info.alpha = layout.alpha;
  info.bits = layout.bits;
  info.orientation = orientation_of(file);
  info.palette = layout.colours == Colours::kPalette;
  info.lossy = layout.compression == COMPRESSION_JPEG;
  if (const auto values = values_of(layout)) info.values = values->dtype;
  return info;
}

std::unique_ptr<Decoder> make_tiff_decoder() { return std::make_unique<TiffDecoder>(); }

// "LIBTIFF, Version 4.5.0", a line break, copyrights.
std::string libtiff_version() {
  const std::string text = TIFFGetVersion();
  const size_t begin = text.find_first_of("0123456789");
  return text.substr(begin, text.find_first_not_of("0123456789.", begin) - begin);
}

}  // namespace fuelrail
