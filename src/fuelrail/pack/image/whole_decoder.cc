#include "fuelrail/pack/image/whole_decoder.h"

#include <exception>

namespace fuelrail::pack {

ValueEncoding value_encoding_of(const FieldSpec& field) {
  return field.has(kRgbMask) ? ValueEncoding::kRgb : ValueEncoding::kStored;
}

DecodeJob WholeDecoder::decode(const FieldSpec& field, const EncodedImage& encoded,
                               const ImageInfo& info) {
  const Size size = info.stored;
  DecodeJob job{.encoded = encoded, .info = info, .box = whole(size)};
  const auto memory = [&](int64_t row_bytes) {
    return memory_.take(static_cast<size_t>(size.height * row_bytes));
  };
  if (field.has_values()) {
    job.encoding = value_encoding_of(field);
    const ValueLayout layout = value_layout(info, job.encoding);
    job.values = {nullptr, size.height, size.width, layout.channels, layout.dtype, 0};
    job.values.row_stride_bytes = job.values.row_bytes();
    job.values.data = reinterpret_cast<std::byte*>(memory(job.values.row_stride_bytes));
  } else {
    job.output = {memory(3 * size.width), size.height, size.width, 3, 3 * size.width};
  }
  decoder_->decode({&job, 1});
  if (job.error) std::rethrow_exception(job.error);
  return job;
}

}  // namespace fuelrail::pack
