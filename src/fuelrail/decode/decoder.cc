#include "fuelrail/decode/decoder.h"

#include <algorithm>
#include <array>

#include "fuelrail/base/error.h"
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

void decode_whole(Decoder& decoder, Bytes encoded, const ImageInfo& info, ImageView output) {
  DecodeJob job{.encoded = encoded, .info = info, .box = whole(info.stored), .output = output};
  decoder.decode({&job, 1});
  if (job.error) std::rethrow_exception(job.error);
}

ImageView decode_as_stored(Decoder& decoder, Bytes encoded, const ImageInfo& info,
                           const std::function<ImageView(int64_t channels)>& memory) {
  const auto decoded = [&](int64_t channels) {
    const ImageView output = memory(channels);
    decode_whole(decoder, encoded, info, output);
    return output;
  };
  if (info.channels == 1 || info.grey_palette) return decoded(1);
  if (info.format == ImageFormat::kJpeg) return decoded(3);
  try {
    return decoded(4);
  } catch (const UnsupportedError&) {  // the header alone does not say that there is no alpha
    return decoded(3);
  }
}

}  // namespace fuelrail
