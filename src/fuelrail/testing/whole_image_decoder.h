// A decoder without shortcuts, which decodes the whole image and copies the box: a reference for
// decoders that decode less.
#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <vector>

#include "fuelrail/base/error.h"
#include "fuelrail/decode/decoder.h"

namespace fuelrail::testing {

class WholeImageDecoder final : public Decoder {
 public:
  void decode(std::span<DecodeJob> jobs) override {
    for (DecodeJob& job : jobs) decode_one(job);
  }

 private:
  void decode_one(DecodeJob& job) {
    const Size size = job.info.stored;
    if (job.box.height <= 0 || job.box.width <= 0 || !job.box.inside(size) ||
        (job.values.data == nullptr ? job.output.size() : job.values.size()) != job.box.size()) {
      job.error = std::make_exception_ptr(InvalidArgumentError("the job's box is wrong"));
      return;
    }
    if (job.values.data != nullptr) return decode_values(job);
    const int64_t channels = job.output.channels;
    std::vector<uint8_t> pixels(static_cast<size_t>(size.height * size.width * channels));
    const ImageView image{pixels.data(), size.height, size.width, channels, size.width * channels};
    DecodeJob all = job;
    all.box = whole(size);
    all.output = image;
    decoder_->decode({&all, 1});
    job.error = all.error;
    job.tolerated = all.tolerated;
    if (job.error) return;
    const ImageView box = image.crop(job.box);
    for (int64_t y = 0; y < box.height; ++y) {
      std::copy_n(box.row(y), box.width * channels, job.output.row(y));
    }
  }

  void decode_values(DecodeJob& job) {
    const Size size = job.info.stored;
    const int64_t stride = size.width * job.values.pixel_bytes();
    std::vector<std::byte> memory(static_cast<size_t>(size.height * stride));
    DecodeJob all = job;
    all.box = whole(size);
    all.values = {memory.data(),       size.height,      size.width,
                  job.values.channels, job.values.dtype, stride};
    decoder_->decode({&all, 1});
    job.error = all.error;
    job.tolerated = all.tolerated;
    if (job.error) return;
    copy_rows(all.values.crop(job.box).bytes_image(), job.values.bytes_image());
  }

  std::unique_ptr<Decoder> decoder_ = make_decoder();
};

}  // namespace fuelrail::testing
