#include "fuelrail/decode/jpeg/jpeg_decoder.h"

#include "fuelrail/decode/environment.h"
#include "fuelrail/decode/job.h"
#include "fuelrail/decode/jpeg/baseline_decoder.h"
#include "fuelrail/decode/jpeg/libjpeg_decoder.h"

namespace fuelrail {
namespace {

std::string_view jpeg_way() { return way_from_environment("FUELRAIL_JPEG", {"libjpeg", "stream"}); }

class JpegDecoder final : public Decoder {
 public:
  JpegDecoder() : libjpeg_(make_libjpeg_decoder()) {
    const std::string_view way = jpeg_way();
    if (way != "libjpeg") baseline_ = std::make_unique<jpeg::BaselineDecoder>();
    if (way == "stream") baseline_->segments().set_streams(1);
  }

  void decode(std::span<DecodeJob> jobs) override {
    decode_each(jobs, [this](DecodeJob& job) {
      job.values.data == nullptr ? decode_pixels(job) : decode_values(job);
    });
  }

 private:
  // The values of a grey JPEG are its levels.
  void decode_values(DecodeJob& job) {
    require_stored_values(job, ValueLayout{});
    DecodeJob levels = job;
    levels.margin = 0;
    levels.output = job.values.bytes_image();
    decode_pixels(levels);
    take_outcome(levels, job);
  }

  void decode_pixels(DecodeJob& job) {
    if (baseline_ && baseline_->decode(job)) return;
    const DecodeWay way = baseline_ ? job.way : DecodeWay::kLibjpeg;
    libjpeg_->decode({&job, 1});
    job.way = way;
    if (job.error) std::rethrow_exception(job.error);
  }

  std::unique_ptr<jpeg::BaselineDecoder> baseline_;
  std::unique_ptr<Decoder> libjpeg_;
};

}  // namespace

void check_jpeg_environment() { jpeg_way(); }

std::unique_ptr<Decoder> make_jpeg_decoder() { return std::make_unique<JpegDecoder>(); }

}  // namespace fuelrail
