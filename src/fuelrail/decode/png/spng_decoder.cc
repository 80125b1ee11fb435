#include "fuelrail/decode/png/spng_decoder.h"

#include <fmt/format.h>
#include <spng.h>

#include <cstring>
#include <new>
#include <optional>

#include "fuelrail/base/scratch.h"
#include "fuelrail/decode/grey.h"
#include "fuelrail/decode/job.h"
#include "fuelrail/decode/packed_samples.h"
#include "fuelrail/decode/png/png_chunks.h"
#include "fuelrail/decode/png/png_grey.h"

namespace fuelrail {
namespace {

// The limit for one chunk and for all ancillary chunks together. Profiles and texts are small, and
// a compressed one must not expand to more than this.
constexpr size_t kMaxAncillaryBytes = 16 << 20;

struct FreeContext {
  void operator()(spng_ctx* context) const { spng_ctx_free(context); }
};
using Context = std::unique_ptr<spng_ctx, FreeContext>;

[[noreturn]] void throw_failure(int status) {
  const char* reason = spng_strerror(status);
  if (status == SPNG_EMEM) throw std::bad_alloc();
  if (status == SPNG_IO_EOF || status == SPNG_EIDAT_TOO_SHORT) {
    throw TruncatedError(fmt::format(
        "the PNG ends before the end of the requested rows (libspng reports: {})", reason));
  }
  if (status == SPNG_ECHUNK_LIMITS) {
    throw DecodeError("the PNG has too many or too large texts, profiles, EXIF or palettes",
                      {.expected = "the limits of docs/limits.md"});
  }
  throw DecodeError(fmt::format("the PNG is damaged (libspng reports: {})", reason));
}

void check(int status) {
  if (status != SPNG_OK) throw_failure(status);
}

uint64_t samples_of(const spng_ihdr& header) {
  return static_cast<uint64_t>(png::samples_of(static_cast<png::ColourType>(header.color_type)));
}

// Errors: TruncatedError if the PNG has too few bytes for the rows above `bottom`, whatever their
// pixels. In an interlaced image all even rows come before the odd rows.
void require_rows(const spng_ihdr& header, Bytes encoded, int64_t bottom) {
  const uint64_t row_bytes =
      (uint64_t{header.width} * header.bit_depth * samples_of(header) + 7) / 8;
  const auto wanted = static_cast<uint64_t>(bottom);
  const bool interlaced = header.interlace_method != SPNG_INTERLACE_NONE;
  const uint64_t rows = interlaced ? (uint64_t{header.height} + 1) / 2 + wanted / 2 : wanted;
  const uint64_t least = rows * row_bytes / png::kMostInflated;
  if (encoded.size() >= least) return;
  throw TruncatedError(
      fmt::format("the PNG ends after {} bytes, before the end of the requested rows",
                  encoded.size()),
      {.expected =
           fmt::format("at least {} bytes, because a byte of a PNG expands to at most {} bytes",
                       least, png::kMostInflated)});
}

// The columns of the image that a row of a pass holds (PNG, section 8.1). A row of an image without
// interlacing is treated as a row of pass 6 that holds every pixel.
struct Columns {
  int64_t first, step;
};

Columns columns_of(int pass, bool interlaced) {
  constexpr Columns kAdam7[] = {{0, 8}, {4, 8}, {0, 4}, {2, 4}, {0, 2}, {1, 2}, {0, 1}};
  return interlaced ? kAdam7[pass] : Columns{0, 1};
}

// The pixel format that libspng returns, and its conversion to the output.
enum class Taken : uint8_t {
  kAsIs,         // RGB or RGBA, unchanged
  kFirst,        // RGB of a grey image: the first channel is the grey
  kWeighed,      // RGB to grey
  kWeighedWide,  // 16-bit RGBA to grey, of which the upper 8 bits are kept
};
int64_t bytes_of(Taken taken, int64_t channels) {
  return taken == Taken::kAsIs ? channels : taken == Taken::kWeighedWide ? 8 : 3;
}

// Converts one pixel to grey.
template <Taken kTaken>
uint8_t grey_pixel(const uint8_t* from) {
  if constexpr (kTaken == Taken::kFirst) {
    return from[0];
  } else if constexpr (kTaken == Taken::kWeighed) {
    return static_cast<uint8_t>(png::weighed(from[0], from[1], from[2], 0));
  } else {
    uint16_t rgb[3];
    std::memcpy(rgb, from,
                sizeof rgb);  // libspng has converted them to this processor's byte order
    return static_cast<uint8_t>(png::weighed(rgb[0], rgb[1], rgb[2], 1 << 14) >> 8);
  }
}

// The source and the destination of a row's pixels.
struct RowCopy {
  const uint8_t* from;
  int64_t from_step, count;
  uint8_t* to;
  int64_t to_step;  // both steps are in bytes
};

template <Taken kTaken>
void copy_grey(RowCopy row) {
  for (int64_t i = 0; i < row.count; ++i, row.from += row.from_step, row.to += row.to_step) {
    *row.to = grey_pixel<kTaken>(row.from);
  }
}

void copy_colours(RowCopy row, int64_t channels) {
  if (row.to_step == channels) {
    std::memcpy(row.to, row.from, static_cast<size_t>(row.count * channels));
    return;
  }
  for (int64_t i = 0; i < row.count; ++i, row.from += row.from_step, row.to += row.to_step) {
    std::memcpy(row.to, row.from, static_cast<size_t>(channels));
  }
}

// The part of a row of a pass that is inside the box.
struct RowPart {
  int64_t from;   // position in the row of its first pixel
  int64_t count;  // of pixels; 0 if none is inside
  int64_t to;     // column in the box of its first pixel
  int64_t step;   // columns from one pixel to the next
};

RowPart part_of(Columns columns, const Box& box) {
  const auto [first, step] = columns;
  const int64_t skipped = box.left > first ? (box.left - first + step - 1) / step : 0;
  const int64_t x = first + skipped * step;
  if (x >= box.right()) return {0, 0, 0, step};
  return {skipped, (box.right() - x + step - 1) / step, x - box.left, step};
}

// Writes the pixels of `row` that are inside the box to the output.
void take_row(const uint8_t* row, Taken taken, Columns columns, const DecodeJob& job, int64_t y) {
  const RowPart part = part_of(columns, job.box);
  if (part.count == 0) return;
  const int64_t channels = job.output.channels;
  const int64_t bytes = bytes_of(taken, channels);
  const RowCopy copy{row + part.from * bytes, bytes, part.count,
                     job.output.row(y - job.box.top) + part.to * channels, part.step * channels};
  switch (taken) {
    case Taken::kAsIs:
      return copy_colours(copy, channels);
    case Taken::kFirst:
      return copy_grey<Taken::kFirst>(copy);
    case Taken::kWeighed:
      return copy_grey<Taken::kWeighed>(copy);
    case Taken::kWeighedWide:
      return copy_grey<Taken::kWeighedWide>(copy);
  }
}

// --- Values ---

std::optional<ValueLayout> values_of(const spng_ihdr& header) {
  switch (header.color_type) {
    case SPNG_COLOR_TYPE_GRAYSCALE:
      return ValueLayout{header.bit_depth == 16 ? DType::kUint16 : DType::kUint8};
    case SPNG_COLOR_TYPE_INDEXED:
      return ValueLayout{};
    default:
      return {};
  }
}

// Writes the values of `row` that are inside the box. Values of whole bytes are in this processor's
// byte order.
void take_values(const uint8_t* row, const spng_ihdr& header, Columns columns, const DecodeJob& job,
                 int64_t y) {
  const RowPart part = part_of(columns, job.box);
  const int64_t bytes = job.values.pixel_bytes();
  uint8_t* to = job.values.bytes_image().row(y - job.box.top) + part.to * bytes;
  if (header.bit_depth >= 8) {
    return copy_colours({row + part.from * bytes, bytes, part.count, to, part.step * bytes}, bytes);
  }
  const int factor =
      header.color_type == SPNG_COLOR_TYPE_INDEXED ? 1 : grey_value_factor(header.bit_depth);
  for (int64_t i = 0; i < part.count; ++i, to += part.step) {
    *to = static_cast<uint8_t>(factor * packed_sample(row, part.from + i, header.bit_depth));
  }
}

bool has_color(const spng_ihdr& header) {
  return header.color_type != SPNG_COLOR_TYPE_GRAYSCALE &&
         header.color_type != SPNG_COLOR_TYPE_GRAYSCALE_ALPHA;
}

Taken taken_of(const spng_ihdr& header, int64_t channels) {
  if (channels != 1) return Taken::kAsIs;
  if (!has_color(header)) return Taken::kFirst;
  return header.bit_depth == 16 ? Taken::kWeighedWide : Taken::kWeighed;
}

class SpngDecoder final : public Decoder {
 public:
  void decode(std::span<DecodeJob> jobs) override {
    decode_each(jobs, [this](DecodeJob& job) { decode_one(job); });
  }

 private:
  void decode_one(DecodeJob& job) {
    const Context context(spng_ctx_new(0));
    if (!context) throw std::bad_alloc();
    spng_ctx* png = context.get();
    const Size size = coded_size(job);
    check(spng_set_image_limits(png, static_cast<uint32_t>(size.width),
                                static_cast<uint32_t>(size.height)));
    check(spng_set_chunk_limits(png, kMaxAncillaryBytes, kMaxAncillaryBytes));
    check(spng_set_crc_action(png, SPNG_CRC_ERROR, SPNG_CRC_ERROR));
    check(spng_set_png_buffer(png, job.encoded.bytes.data(), job.encoded.bytes.size()));
    spng_ihdr header{};
    check(spng_get_ihdr(png, &header));
    require_size(job, {header.height, header.width});
    require_rows(header, job.encoded.bytes, job.box.bottom());
    job.values.data == nullptr ? decode_pixels(png, header, job) : decode_values(png, header, job);
  }

  void decode_pixels(spng_ctx* png, const spng_ihdr& header, const DecodeJob& job) {
    const int64_t channels = job.output.channels;
    const Taken taken = taken_of(header, channels);
    int flags = SPNG_DECODE_PROGRESSIVE;
    if (channels == 4) {
      if (!has_alpha(png, header)) refuse_alpha();
      flags |= SPNG_DECODE_TRNS;
    }
    const spng_format format = taken == Taken::kWeighedWide ? SPNG_FMT_RGBA16
                               : channels == 4              ? SPNG_FMT_RGBA8
                                                            : SPNG_FMT_RGB8;
    check(spng_decode_image(png, nullptr, 0, format, flags));
    const auto row_bytes = static_cast<size_t>(coded_size(job).width * bytes_of(taken, channels));
    const ImageView direct = taken == Taken::kAsIs ? job.output : ImageView{};
    read_rows(png, header, row_bytes, direct, job,
              [&](const uint8_t* row, Columns columns, int64_t y) {
                take_row(row, taken, columns, job, y);
              });
  }

  void decode_values(spng_ctx* png, const spng_ihdr& header, const DecodeJob& job) {
    require_stored_values(job, values_of(header));
    check(spng_decode_image(png, nullptr, 0, SPNG_FMT_PNG, SPNG_DECODE_PROGRESSIVE));
    const auto row_bytes = static_cast<size_t>((coded_size(job).width * header.bit_depth + 7) / 8);
    const ImageView direct = header.bit_depth >= 8 ? job.values.bytes_image() : ImageView{};
    read_rows(png, header, row_bytes, direct, job,
              [&](const uint8_t* row, Columns columns, int64_t y) {
                take_values(row, header, columns, job, y);
              });
  }

  // Whether pixels have alpha, or the palette or the image has transparent colours. As in OpenCV, a
  // transparent grey does not count.
  static bool has_alpha(spng_ctx* png, const spng_ihdr& header) {
    if (header.color_type == SPNG_COLOR_TYPE_GRAYSCALE_ALPHA) return true;
    if (header.color_type == SPNG_COLOR_TYPE_TRUECOLOR_ALPHA) return true;
    if (header.color_type == SPNG_COLOR_TYPE_GRAYSCALE) return false;
    spng_trns transparent{};
    const int status = spng_get_trns(png, &transparent);
    if (status != SPNG_ECHUNKAVAIL) check(status);
    return status == SPNG_OK;
  }

  // Calls take(row, columns, y) for each row of each pass that has pixels of the box. Whole rows of
  // an image without interlacing are decoded into `direct` instead, if its data are set.
  template <typename Take>
  void read_rows(spng_ctx* png, const spng_ihdr& header, size_t row_bytes, ImageView direct,
                 const DecodeJob& job, Take take) {
    const bool interlaced = header.interlace_method != SPNG_INTERLACE_NONE;
    const bool in_place =
        direct.data != nullptr && !interlaced && job.box.width == coded_size(job).width;
    uint8_t* const scratch = scratch_.take(row_bytes);
    for (;;) {
      go_on(job);
      spng_row_info row{};
      check(spng_get_row_info(png, &row));
      const int64_t y = row.row_num;
      const bool wanted = y >= job.box.top && y < job.box.bottom();
      uint8_t* into = in_place && wanted ? direct.row(y - job.box.top) : scratch;
      const int status = spng_decode_scanline(png, into, row_bytes);
      if (status != SPNG_OK && status != SPNG_EOI) throw_failure(status);
      if (wanted && !in_place) take(into, columns_of(row.pass, interlaced), y);
      const bool last_pass = !interlaced || row.pass == 6;
      if (status == SPNG_EOI || (last_pass && y + 1 == job.box.bottom())) return;
    }
  }

  Scratch scratch_;  // one row
};

}  // namespace

std::unique_ptr<Decoder> make_spng_decoder() { return std::make_unique<SpngDecoder>(); }

}  // namespace fuelrail
