#include "fuelrail/pack/image_preparer.h"

#include <algorithm>

#include "fuelrail/decode/orientation.h"
#include "fuelrail/pack/jpeg_encoder.h"
#include "fuelrail/transform/plan.h"

namespace fuelrail {
namespace {

// A view of `memory` as an RGB image, made as large as it takes. Working memory follows the images:
// after a giant it is given back.
ImageView image_in(std::vector<uint8_t>& memory, Size size) {
  const auto bytes = static_cast<size_t>(size.height * size.width * 3);
  constexpr size_t kKeptBytes = size_t{32} << 20;
  if (memory.capacity() > kKeptBytes && bytes <= kKeptBytes) memory = {};
  memory.resize(bytes);
  return {memory.data(), size.height, size.width, 3, size.width * 3};
}

int64_t shorter_side(Size size) { return std::min(size.height, size.width); }

}  // namespace

ImagePreparer::ImagePreparer(const PrepareOptions& options)
    : options_(options), decoder_(make_decoder()) {}

Bytes ImagePreparer::prepare(Bytes encoded) {
  if (options_.resize == 0 && !options_.quality) {
    if (options_.verify_images) probe(encoded);
    return encoded;
  }
  const ImageInfo info = probe(encoded);
  const ConstImageView stored = decode(encoded, info);
  if (keeps_bytes(info)) return encoded;
  encode_jpeg(resized(upright(stored, info)), options_.quality.value_or(kDefaultJpegQuality),
              jpeg_);
  return jpeg_;
}

bool ImagePreparer::keeps_bytes(const ImageInfo& info) const {
  return !options_.quality && info.format == ImageFormat::kJpeg &&
         shorter_side(info.stored) <= options_.resize;
}

ConstImageView ImagePreparer::decode(Bytes encoded, const ImageInfo& info) {
  DecodeJob job{.encoded = encoded,
                .info = info,
                .box = whole(info.stored),
                .output = image_in(stored_, info.stored)};
  decoder_->decode({&job, 1});
  if (job.error) std::rethrow_exception(job.error);
  return job.output;
}

ConstImageView ImagePreparer::upright(ConstImageView stored, const ImageInfo& info) {
  if (info.orientation == 1) return stored;
  const ImageView turned = image_in(upright_, info.oriented());
  turn_upright(stored, info.orientation, turned);
  return turned;
}

ConstImageView ImagePreparer::resized(ConstImageView image) {
  if (options_.resize == 0 || shorter_side(image.size()) <= options_.resize) return image;
  const Plan plan =
      resolve({Resize{.shorter_side = options_.resize}}, image.size(), Philox(0, 0, 0));
  const ImageView smaller = image_in(resized_, plan.output);
  resampler_.resample(image, whole(image.size()), plan.steps.front(), smaller);
  return smaller;
}

}  // namespace fuelrail
