#include "fuelrail/loader/upright_decoder.h"

#include <exception>

#include "fuelrail/decode/orientation.h"

namespace fuelrail {

ConstImageView UprightDecoder::decode(const UprightJob& job, uint32_t& tolerated) {
  const ImageInfo& info = job.info;
  const Box box = to_stored(job.box, info.stored, info.orientation);
  const int64_t margin = box.width < info.stored.width ? kDecodeMargin : 0;
  DecodeJob stored{.encoded = job.encoded,
                   .info = info,
                   .box = box,
                   .output = stored_.resize(box.size(), margin, job.channels),
                   .eighths = job.eighths,
                   .margin = margin,
                   .stop = job.stop};
  decoder_->decode({&stored, 1});  // one image at a time, so that its pixels stay in the cache
  tolerated += stored.tolerated;
  if (stored.error) std::rethrow_exception(stored.error);
  if (info.orientation == 1) return stored.output;
  const ImageView upright = upright_.resize(job.box.size(), 0, job.channels);
  turn_upright(stored.output, info.orientation, upright);
  return upright;
}

}  // namespace fuelrail
