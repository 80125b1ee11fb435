// Direct calls of libjpeg-turbo, for the limits that fuelrail is compared with. They use libjpeg's
// own error handling (an error ends the program) and make no checks.
#pragma once

// clang-format off
#include <stdio.h>  // jpeglib.h needs FILE
#include <jpeglib.h>
// clang-format on
#include <sys/resource.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "fuelrail/base/box.h"
#include "fuelrail/base/bytes.h"
#include "fuelrail/base/image_view.h"

namespace fuelrail::bench {

// libjpeg-turbo's region decode with its own error handling: an error ends the program.
class BareDecoder {
 public:
  BareDecoder() {
    info_.err = jpeg_std_error(&errors_);
    jpeg_create_decompress(&info_);
  }
  ~BareDecoder() { jpeg_destroy_decompress(&info_); }
  BareDecoder(const BareDecoder&) = delete;
  BareDecoder& operator=(const BareDecoder&) = delete;

  // The pixels of `box`; the view lives until the next call.
  ImageView decode(Bytes encoded, Box box) {
    jpeg_mem_src(&info_, reinterpret_cast<const unsigned char*>(encoded.data()), encoded.size());
    jpeg_read_header(&info_, TRUE);
    info_.out_color_space = info_.jpeg_color_space == JCS_YCCK || info_.jpeg_color_space == JCS_CMYK
                                ? JCS_CMYK
                                : JCS_RGB;
    jpeg_start_decompress(&info_);
    const auto left = static_cast<JDIMENSION>(box.left),
               right = static_cast<JDIMENSION>(box.right());
    const JDIMENSION margin =
        horizontally_subsampled() ? static_cast<JDIMENSION>(info_.max_h_samp_factor * DCTSIZE) : 0;
    JDIMENSION begin = left < margin ? 0 : left - margin;
    JDIMENSION width = std::min(info_.output_width, right + margin) - begin;
    if (width < info_.output_width) jpeg_crop_scanline(&info_, &begin, &width);
    if (box.top > 0) jpeg_skip_scanlines(&info_, static_cast<JDIMENSION>(box.top));
    const int64_t stride = int64_t{width} * info_.output_components;
    pixels_.resize(static_cast<size_t>(stride * box.height));
    for (int64_t y = 0; y < box.height;) {
      JSAMPROW rows[4];
      for (int64_t i = 0; i < 4; ++i)
        rows[i] = pixels_.data() + std::min(y + i, box.height - 1) * stride;
      y += jpeg_read_scanlines(&info_, rows,
                               static_cast<JDIMENSION>(std::min<int64_t>(4, box.height - y)));
    }
    jpeg_abort_decompress(&info_);
    return {pixels_.data() + int64_t{left - begin} * 3, box.height, box.width, 3, stride};
  }

 private:
  bool horizontally_subsampled() const {
    for (int c = 0; c < info_.num_components; ++c) {
      if (info_.comp_info[c].h_samp_factor < info_.max_h_samp_factor) return true;
    }
    return false;
  }

  jpeg_decompress_struct info_{};
  jpeg_error_mgr errors_{};
  std::vector<uint8_t> pixels_;
};

// Encodes RGB pixels as a baseline JPEG, 4:2:0, into memory that is reused.
class BareEncoder {
 public:
  BareEncoder() {
    info_.err = jpeg_std_error(&errors_);
    jpeg_create_compress(&info_);
  }
  ~BareEncoder() {
    jpeg_destroy_compress(&info_);
    free(bytes_);
  }
  BareEncoder(const BareEncoder&) = delete;
  BareEncoder& operator=(const BareEncoder&) = delete;

  // Returns: the number of bytes.
  size_t encode(ConstImageView image, int quality) {
    unsigned long size = capacity_;
    unsigned char* bytes = bytes_;
    jpeg_mem_dest(&info_, &bytes, &size);
    info_.image_width = static_cast<JDIMENSION>(image.width);
    info_.image_height = static_cast<JDIMENSION>(image.height);
    info_.input_components = 3;
    info_.in_color_space = JCS_RGB;
    jpeg_set_defaults(&info_);
    jpeg_set_quality(&info_, quality, TRUE);
    jpeg_start_compress(&info_, TRUE);
    while (info_.next_scanline < info_.image_height) {
      auto* row = const_cast<JSAMPROW>(image.row(info_.next_scanline));
      jpeg_write_scanlines(&info_, &row, 1);
    }
    jpeg_finish_compress(&info_);
    if (bytes != bytes_) {  // the buffer was too small, and libjpeg allocated a larger one
      free(bytes_);
      bytes_ = bytes;
      capacity_ = size;
    }
    return size;
  }

 private:
  jpeg_compress_struct info_{};
  jpeg_error_mgr errors_{};
  unsigned char* bytes_ = nullptr;
  unsigned long capacity_ = 0;
};

// User and system time of this process.
inline double cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

}  // namespace fuelrail::bench
