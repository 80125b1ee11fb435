// One decode job for tests, with its own memory.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "fuelrail/base/error.h"
#include "fuelrail/decode/decoder.h"

namespace fuelrail::testing {

// A job and the pixels that it writes. Each row is followed by a margin of bytes that the job must
// not touch.
class CropJob {
 public:
  static constexpr int64_t kPadding = 7;

  CropJob(const EncodedImage& encoded, const ImageInfo& info, Box box, uint8_t fill = 0x5a,
          int64_t margin = 0, int64_t channels = 3)
      : fill_(fill) {
    const int64_t stride = (box.width + 2 * margin) * channels + kPadding;
    pixels_.assign(static_cast<size_t>(box.height * stride), fill);
    job.encoded = encoded;
    job.info = info;
    job.box = box;
    job.margin = margin;
    job.output = {pixels_.data() + margin * channels, box.height, box.width, channels, stride};
  }
  CropJob& operator=(CropJob&&) = delete;

  void decode_with(Decoder& decoder) { decoder.decode({&job, 1}); }

  // The error's text; empty after success.
  std::string error() const {
    try {
      if (job.error) std::rethrow_exception(job.error);
    } catch (const std::exception& caught) {
      return caught.what();
    }
    return {};
  }
  template <typename Expected>
  bool failed_with() const {
    try {
      if (job.error) std::rethrow_exception(job.error);
    } catch (const Expected&) {
      return true;
    } catch (...) {
    }
    return false;
  }
  bool padding_is_untouched() const {
    for (int64_t y = 0; y < job.box.height; ++y) {
      const uint8_t* end = job.output.row(y) + (job.box.width + job.margin) * job.output.channels;
      if (std::any_of(end, end + kPadding, [&](uint8_t byte) { return byte != fill_; }))
        return false;
    }
    return true;
  }
  // The largest difference, in levels, from the same box in the pixels of a whole image with as
  // many channels.
  int distance_to(std::string_view whole_pixels) const {
    const int64_t channels = job.output.channels;
    int largest = 0;
    for (int64_t y = 0; y < job.box.height; ++y) {
      const size_t at = static_cast<size_t>(
          ((job.box.top + y) * job.info.stored.width + job.box.left) * channels);
      for (size_t i = 0; i < static_cast<size_t>(job.box.width * channels); ++i) {
        const int expected = static_cast<uint8_t>(whole_pixels[at + i]);
        largest = std::max(largest, std::abs(job.output.row(y)[i] - expected));
      }
    }
    return largest;
  }
  // Only the pixels of the box.
  std::string packed() const {
    std::string all;
    const int64_t row_bytes = job.box.width * job.output.channels;
    for (int64_t y = 0; y < job.box.height; ++y) {
      all.append(reinterpret_cast<const char*>(job.output.row(y)), static_cast<size_t>(row_bytes));
    }
    return all;
  }
  const std::vector<uint8_t>& pixels() const { return pixels_; }

  DecodeJob job;

 private:
  uint8_t fill_;
  std::vector<uint8_t> pixels_;
};

// Decodes a box of an image. The job reads a copy of exactly the image's length, so that a
// sanitizer detects reads past its end.
class DecodeAttempt {
 public:
  DecodeAttempt(const std::string& encoded, const ImageInfo& info, Box box, Decoder& decoder)
      : bytes_(encoded.begin(), encoded.end()),
        crop_(as_bytes({bytes_.data(), bytes_.size()}), info, box) {
    crop_.decode_with(decoder);
  }
  CropJob* operator->() { return &crop_; }

 private:
  std::vector<char> bytes_;
  CropJob crop_;
};

}  // namespace fuelrail::testing
