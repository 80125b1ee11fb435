#include "fuelrail/decode/png/plain_png_decoder.h"

#include <libdeflate.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "fuelrail/decode/job.h"
#include "fuelrail/decode/png/png_pixels.h"
#include "fuelrail/decode/png/unfilter.h"

namespace fuelrail::png {
namespace {

// Larger images are left to libspng, which needs two rows and can be interrupted.
constexpr uint64_t kMostInflatedBytes = uint64_t{128} << 20;
constexpr int64_t kScratchRows = 3;  // the row above, and two that are unfiltered together

bool fits_output(const PlainPng& png, const DecodeJob& job) {
  if (png.size != coded_size(job)) return false;
  if (job.values.data == nullptr) return job.output.channels != 4 || png.has_alpha;
  const bool has_values = png.type == ColourType::kGrey || png.type == ColourType::kPalette;
  const ValueLayout layout{png.bits == 16 ? DType::kUint16 : DType::kUint8};
  return has_values && ValueLayout{job.values.dtype, job.values.channels} == layout;
}

}  // namespace

PlainPngDecoder::PlainPngDecoder()
    : inflater_(libdeflate_alloc_decompressor(), libdeflate_free_decompressor) {
  if (!inflater_) throw std::bad_alloc();
}

bool PlainPngDecoder::decode(DecodeJob& job) {
  struct ReleaseAtEnd {
    ~ReleaseAtEnd() {
      decoder->joined_.release_large();
      decoder->inflated_.release_large();
    }
    PlainPngDecoder* decoder;
  } const at_end{this};
  job.way = DecodeWay::kLibspng;
  uint8_t* scratch_rows = nullptr;
  try {
    const PngKind kind = read_plain_png(job.encoded.bytes, png_);
    if (kind == PngKind::kOdd) job.way = DecodeWay::kSuspect;
    if (kind != PngKind::kPlain || !fits_output(png_, job)) return false;
    if (inflated_bytes() > kMostInflatedBytes) return false;
    go_on(job);
    scratch_rows = rows_.take(static_cast<size_t>(kScratchRows * scratch_row_bytes()));
    if (!inflate() || !has_known_filters()) {
      job.way = DecodeWay::kSuspect;
      return false;
    }
  } catch (const std::bad_alloc&) {
    return false;  // libspng needs two rows
  }
  write_rows(job, scratch_rows);
  job.way = DecodeWay::kPng;
  return true;
}

uint64_t PlainPngDecoder::inflated_bytes() const {
  return static_cast<uint64_t>(png_.size.height) * (static_cast<uint64_t>(png_.row_bytes) + 1);
}

bool PlainPngDecoder::has_known_filters() const {
  for (int64_t y = 0; y < png_.size.height; ++y) {
    if (filter_of(y) >= kFilters) return false;
  }
  return true;
}

// Inflates all rows. Returns: false if the data are not exactly these.
bool PlainPngDecoder::inflate() {
  const uint64_t bytes = inflated_bytes();
  // Deflate needs far fewer bytes than the second limit, also for data that it cannot compress.
  const bool is_short = bytes / kMostInflated > png_.data_bytes;
  if (is_short || png_.data_bytes > bytes + bytes / 8 + (1 << 20)) return false;
  Bytes data = png_.data.front();
  if (png_.data.size() > 1) {
    uint8_t* to = joined_.take(png_.data_bytes);
    data = {reinterpret_cast<const std::byte*>(to), png_.data_bytes};
    for (const Bytes part : png_.data) {
      to = std::copy_n(reinterpret_cast<const uint8_t*>(part.data()), part.size(), to);
    }
  }
  uint8_t* const rows = inflated_.take(bytes + kRowSlack);
  std::memset(rows + bytes, 0, kRowSlack);
  filtered_ = rows;
  size_t used = 0;
  size_t written = 0;
  const libdeflate_result result = libdeflate_zlib_decompress_ex(
      inflater_.get(), data.data(), data.size(), rows, bytes, &used, &written);
  return result == LIBDEFLATE_SUCCESS && used == data.size() && written == bytes;
}

int64_t PlainPngDecoder::scratch_row_bytes() const { return png_.row_bytes + kRowSlack; }

// Rows above one whose filter needs no row above are not needed.
int64_t PlainPngDecoder::first_row(int64_t top) const {
  int64_t y = top;
  while (y > 0 && filter_of(y) != kNone && filter_of(y) != kSub) --y;
  return y;
}

// Two rows of Paeth, the filter of most rows of photographs, are unfiltered together.
void PlainPngDecoder::write_rows(const DecodeJob& job, uint8_t* scratch_rows) const {
  const Box& box = job.box;
  const bool is_values = job.values.data != nullptr;
  const WriteRow write = is_values ? value_writer(png_) : pixel_writer(png_, job.output.channels);
  const ImageView output = is_values ? job.values.bytes_image() : job.output;
  const auto write_if_in_box = [&](int64_t y, const uint8_t* row) {
    if (y < box.top) return;
    write(png_, {.row = row, .left = box.left, .count = box.width}, output.row(y - box.top));
  };
  const int pixel = png_.bytes_per_pixel();
  const int64_t bytes = std::min(png_.row_bytes, (box.right() * png_.bits_per_pixel + 7) / 8);
  const auto filtered_row = [&](int64_t y, const uint8_t* above, uint8_t* to) {
    const uint8_t* const filtered = filtered_ + y * (png_.row_bytes + 1) + 1;
    return FilteredRow{.filtered = filtered, .above = above, .to = to, .bytes = bytes};
  };
  uint8_t* above = scratch_rows;
  uint8_t* row = above + scratch_row_bytes();
  uint8_t* next = row + scratch_row_bytes();
  std::memset(above, 0, static_cast<size_t>(scratch_row_bytes()));
  for (int64_t y = first_row(box.top); y < box.bottom(); ++y) {
    go_on(job);
    const FilteredRow first = filtered_row(y, above, row);
    if (filter_of(y) == kPaeth && y + 1 < box.bottom() && filter_of(y + 1) == kPaeth) {
      unfilter_paeth_rows(pixel, first, filtered_row(y + 1, row, next));
      write_if_in_box(y, row);
      write_if_in_box(++y, next);
      std::swap(above, next);
    } else {
      unfilter(filter_of(y), pixel, first);
      write_if_in_box(y, row);
      std::swap(above, row);
    }
  }
}

}  // namespace fuelrail::png
