#include "fuelrail/pack/image/baseline_recoder.h"

#include <algorithm>

#include "fuelrail/base/error.h"
#include "fuelrail/encode/baseline_jpeg.h"

namespace fuelrail::pack {
namespace {

// Of images that `BaselineRecoder::decode` returned; `b` may be without pixels.
bool are_equal(ConstImageView a, ConstImageView b) {
  if (b.data == nullptr || a.size() != b.size()) return false;
  const int64_t values = a.height * a.width * a.channels;
  return std::equal(a.data, a.data + values, b.data);
}

}  // namespace

Bytes BaselineRecoder::recode(Bytes encoded) {
  try {
    if (!is_progressive_jpeg(encoded)) return {};
    // First, because the decoder limits the work and the memory for an image.
    const ConstImageView before = decode(encoded, before_);
    if (before.data == nullptr || !recode_as_baseline(encoded, recoded_)) return {};
    return are_equal(before, decode(recoded_, after_)) ? Bytes(recoded_) : Bytes();
  } catch (const Error&) {
    return {};
  }
}

ConstImageView BaselineRecoder::decode(Bytes encoded, PixelBuffer& pixels) {
  const ImageInfo info = probe(encoded);
  const ImageView output = pixels.resize(info.stored);
  return decode_whole(*decoder_, encoded, info, output) == 0 ? output : ConstImageView{};
}

}  // namespace fuelrail::pack
