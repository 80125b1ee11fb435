#include "fuelrail/decode/decoder.h"

#include <algorithm>
#include <array>

#include "fuelrail/decode/bmp/bmp_decoder.h"
#include "fuelrail/decode/jpeg/jpeg_decoder.h"
#include "fuelrail/decode/png/png_decoder.h"
#include "fuelrail/decode/tiff/tiff_decoder.h"
#include "fuelrail/decode/webp/webp_decoder.h"

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
  Decoder& decoder_of(ImageFormat format) { return *decoders_[static_cast<size_t>(format)]; }

  // In the order of ImageFormat. Each is small until it has work.
  const std::array<std::unique_ptr<Decoder>, 5> decoders_{make_jpeg_decoder(), make_png_decoder(),
                                                          make_webp_decoder(), make_bmp_decoder(),
                                                          make_tiff_decoder()};
};

}  // namespace

std::unique_ptr<Decoder> make_decoder() { return std::make_unique<AnyDecoder>(); }

}  // namespace fuelrail
