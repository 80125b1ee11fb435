#include "fuelrail/decode/mp4/mp4_decoder.h"

#include <cstdint>

#include "fuelrail/decode/job.h"
#include "fuelrail/mp4/nested_image.h"

namespace fuelrail {
namespace {

class Mp4Decoder final : public Decoder {
 public:
  void decode(std::span<DecodeJob> jobs) override {
    decode_each(jobs, [this](DecodeJob& job) {
      ImageCodec codec;
      DecodeJob inner = job;
      inner.encoded = mp4::read_nested_image(job.encoded.bytes, codec);
      inner.info = probe(inner.encoded, INT64_MAX);  // the job's `info` is within the limit
      require_size(job, inner.info.stored);
      decoder_->decode({&inner, 1});
      if (inner.error) std::rethrow_exception(inner.error);
    });
  }

 private:
  const std::unique_ptr<Decoder> decoder_ = make_decoder();
};

}  // namespace

std::unique_ptr<Decoder> make_mp4_decoder() { return std::make_unique<Mp4Decoder>(); }

}  // namespace fuelrail
