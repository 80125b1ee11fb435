#include "fuelrail/decode/decoder.h"

#include <algorithm>

#include "fuelrail/decode/jpeg/jpeg_decoder.h"
#include "fuelrail/decode/png/png_decoder.h"

namespace fuelrail {
namespace {

// Hands each run of jobs of one format to that format's decoder, as one group.
class AnyDecoder final : public Decoder {
 public:
  void decode(std::span<DecodeJob> jobs) override {
    while (!jobs.empty()) {
      const ImageFormat format = jobs.front().info.format;
      const auto end = std::find_if(jobs.begin(), jobs.end(), [format](const DecodeJob& job) {
        return job.info.format != format;
      });
      const auto run = static_cast<size_t>(end - jobs.begin());
      decoder_of(format).decode(jobs.first(run));
      jobs = jobs.subspan(run);
    }
  }

 private:
  Decoder& decoder_of(ImageFormat format) { return format == ImageFormat::kJpeg ? *jpeg_ : *png_; }

  std::unique_ptr<Decoder> jpeg_ = make_jpeg_decoder();
  std::unique_ptr<Decoder> png_ = make_png_decoder();
};

}  // namespace

std::unique_ptr<Decoder> make_decoder() { return std::make_unique<AnyDecoder>(); }

}  // namespace fuelrail
