#include "fuelrail/decode/png/png_decoder.h"

#include <fmt/format.h>
#include <spng.h>

#include <cstring>
#include <new>
#include <vector>

#include "fuelrail/decode/job.h"

namespace fuelrail {
namespace {

// For one chunk and for all ancillary ones together: profiles and texts are small, and a compressed
// one must not unpack to more than this.
constexpr size_t kMaxAncillaryBytes = 16 << 20;

struct FreeContext {
  void operator()(spng_ctx* context) const { spng_ctx_free(context); }
};
using Context = std::unique_ptr<spng_ctx, FreeContext>;

[[noreturn]] void throw_failure(int status) {
  const char* reason = spng_strerror(status);
  if (status == SPNG_EMEM) throw std::bad_alloc();
  if (status == SPNG_IO_EOF || status == SPNG_EIDAT_TOO_SHORT) {
    throw TruncatedError(
        fmt::format("the PNG ends before the rows that are needed (libspng says: {})", reason));
  }
  throw DecodeError(fmt::format("the PNG is damaged (libspng says: {})", reason));
}

void check(int status) {
  if (status != SPNG_OK) throw_failure(status);
}

// Which pixels of a pass's row belong where (PNG, section 8.1). A row of an image that is not
// interlaced is one of pass 6 with every pixel.
struct Columns {
  int64_t first, step;
};

Columns columns_of(int pass, bool interlaced) {
  constexpr Columns kAdam7[] = {{0, 8}, {4, 8}, {0, 4}, {2, 4}, {0, 2}, {1, 2}, {0, 1}};
  return interlaced ? kAdam7[pass] : Columns{0, 1};
}

// Puts the pixels of `row` that lie in the box where they belong.
void take_row(const uint8_t* row, Columns columns, const DecodeJob& job, int64_t y) {
  const Box& box = job.box;
  uint8_t* to = job.output.row(y - box.top);
  if (columns.step == 1) {
    std::memcpy(to, row + box.left * 3, static_cast<size_t>(box.width) * 3);
    return;
  }
  const auto [first, step] = columns;
  const int64_t skipped = box.left > first ? (box.left - first + step - 1) / step : 0;
  const uint8_t* from = row + skipped * 3;
  for (int64_t x = first + skipped * step; x < box.right(); x += step, from += 3) {
    std::memcpy(to + (x - box.left) * 3, from, 3);
  }
}

class PngDecoder final : public Decoder {
 public:
  void decode(std::span<DecodeJob> jobs) override {
    decode_each(jobs, [this](DecodeJob& job) { decode_one(job); });
  }

 private:
  void decode_one(DecodeJob& job) {
    const Context context(spng_ctx_new(0));
    if (!context) throw std::bad_alloc();
    spng_ctx* png = context.get();
    check(spng_set_image_limits(png, static_cast<uint32_t>(job.info.stored.width),
                                static_cast<uint32_t>(job.info.stored.height)));
    check(spng_set_chunk_limits(png, kMaxAncillaryBytes, kMaxAncillaryBytes));
    check(spng_set_crc_action(png, SPNG_CRC_ERROR, SPNG_CRC_ERROR));
    check(spng_set_png_buffer(png, job.encoded.data(), job.encoded.size()));
    spng_ihdr header{};
    check(spng_get_ihdr(png, &header));
    if (Size{header.height, header.width} != job.info.stored) {
      throw InvalidArgumentError("the job's image info is not that of its PNG");
    }
    check(spng_decode_image(png, nullptr, 0, SPNG_FMT_RGB8, SPNG_DECODE_PROGRESSIVE));
    read_rows(png, header.interlace_method != SPNG_INTERLACE_NONE, job);
  }

  void read_rows(spng_ctx* png, bool interlaced, const DecodeJob& job) {
    const size_t row_bytes = static_cast<size_t>(job.info.stored.width) * 3;
    const bool direct = !interlaced && job.box.width == job.info.stored.width;
    if (scratch_.size() < row_bytes) scratch_.resize(row_bytes);
    for (;;) {
      spng_row_info row{};
      check(spng_get_row_info(png, &row));
      const int64_t y = row.row_num;
      const bool wanted = y >= job.box.top && y < job.box.bottom();
      uint8_t* into = direct && wanted ? job.output.row(y - job.box.top) : scratch_.data();
      const int status = spng_decode_scanline(png, into, row_bytes);
      if (status != SPNG_OK && status != SPNG_EOI) throw_failure(status);
      if (wanted && !direct) take_row(into, columns_of(row.pass, interlaced), job, y);
      const bool last_pass = !interlaced || row.pass == 6;
      if (status == SPNG_EOI || (last_pass && y + 1 == job.box.bottom())) return;
    }
  }

  std::vector<uint8_t> scratch_;
};

}  // namespace

std::unique_ptr<Decoder> make_png_decoder() { return std::make_unique<PngDecoder>(); }

}  // namespace fuelrail
