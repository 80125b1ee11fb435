// Decode jobs for tests, with their own memory.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "fuelrail/base/error.h"
#include "fuelrail/decode/decoder.h"

namespace fuelrail::testing {

class AnyJob {
 public:
  AnyJob& operator=(AnyJob&&) = delete;

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

  DecodeJob job;

 protected:
  AnyJob(const EncodedImage& encoded, const ImageInfo& info, Box box) {
    job.encoded = encoded;
    job.info = info;
    job.box = box;
  }
};

// A job and the pixels that it writes. Each row is followed by a margin of bytes that the job must
// not touch.
class CropJob : public AnyJob {
 public:
  static constexpr int64_t kPadding = 7;

  CropJob(const EncodedImage& encoded, const ImageInfo& info, Box box, uint8_t fill = 0x5a,
          int64_t margin = 0, int64_t channels = 3)
      : AnyJob(encoded, info, box), fill_(fill) {
    const int64_t stride = (box.width + 2 * margin) * channels + kPadding;
    pixels_.assign(static_cast<size_t>(box.height * stride), fill);
    job.margin = margin;
    job.output = {pixels_.data() + margin * channels, box.height, box.width, channels, stride};
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

 private:
  uint8_t fill_;
  std::vector<uint8_t> pixels_;
};

// A job and the values that it writes. Each row is followed by elements that the job must not
// touch. Errors: as for value_layout.
class ValueJob : public AnyJob {
 public:
  ValueJob(const EncodedImage& encoded, const ImageInfo& info, Box box,
           ValueEncoding encoding = ValueEncoding::kStored, std::byte fill = std::byte{0x5a})
      : ValueJob(encoded, info, box, encoding, fill, value_layout(info, encoding)) {}

  bool padding_is_untouched() const {
    for (int64_t y = 0; y < job.box.height; ++y) {
      const std::byte* end = job.values.row(y) + job.values.row_bytes();
      const std::byte* next = job.values.row(y) + job.values.row_stride_bytes;
      if (std::any_of(end, next, [&](std::byte byte) { return byte != fill_; })) return false;
    }
    return true;
  }
  // Only the values of the box.
  std::string packed() const { return packed(whole(job.box.size())); }
  // Only the values of a part of the box.
  std::string packed(Box part) const {
    const ConstRawView view = job.values.crop(part);
    std::string all;
    for (int64_t y = 0; y < view.height; ++y) {
      all += as_text({view.row(y), static_cast<size_t>(view.row_bytes())});
    }
    return all;
  }

 private:
  static constexpr int64_t kPaddingElements = 3;

  ValueJob(const EncodedImage& encoded, const ImageInfo& info, Box box, ValueEncoding encoding,
           std::byte fill, ValueLayout layout)
      : AnyJob(encoded, info, box), fill_(fill) {
    const auto element = static_cast<int64_t>(size_in_bytes(layout.dtype));
    const int64_t stride = (box.width * layout.channels + kPaddingElements) * element;
    memory_.assign(static_cast<size_t>(box.height * stride), fill);
    job.encoding = encoding;
    job.values = {memory_.data(), box.height, box.width, layout.channels, layout.dtype, stride};
  }

  std::byte fill_;
  std::vector<std::byte> memory_;
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
