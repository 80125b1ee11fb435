#include "fuelrail/decode/png/png_decoder.h"

#include <exception>
#include <span>
#include <string_view>

#include "fuelrail/decode/environment.h"
#include "fuelrail/decode/job.h"
#include "fuelrail/decode/png/plain_png_decoder.h"
#include "fuelrail/decode/png/spng_decoder.h"

namespace fuelrail {
namespace {

std::string_view png_way() { return way_from_environment("FUELRAIL_PNG", {"libspng"}); }

// libspng inflates no more than the rows down to the box's last, PlainPngDecoder all of them, in a
// third of the time: a box that ends in the first quarter is left to libspng.
bool is_worth_inflating(const DecodeJob& job) {
  return job.box.bottom() >= coded_size(job).height / 4;
}

class PngDecoder final : public Decoder {
 public:
  PngDecoder() : spng_(make_spng_decoder()) {
    if (png_way().empty()) plain_ = std::make_unique<png::PlainPngDecoder>();
  }

  void decode(std::span<DecodeJob> jobs) override {
    decode_each(jobs, [this](DecodeJob& job) { decode_one(job); });
  }

 private:
  void decode_one(DecodeJob& job) {
    DecodeWay way = DecodeWay::kLibspng;
    if (plain_ && is_worth_inflating(job)) {
      if (plain_->decode(job)) return;
      way = job.way;
    }
    spng_->decode({&job, 1});
    job.way = way;
    if (job.error) std::rethrow_exception(job.error);
  }

  std::unique_ptr<png::PlainPngDecoder> plain_;
  std::unique_ptr<Decoder> spng_;
};

}  // namespace

void check_png_environment() { png_way(); }

std::unique_ptr<Decoder> make_png_decoder() { return std::make_unique<PngDecoder>(); }

}  // namespace fuelrail
