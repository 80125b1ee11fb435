#include "fuelrail/loader/upright_decoder.h"

#include <cstddef>
#include <exception>
#include <optional>

#include "fuelrail/decode/formats.h"
#include "fuelrail/decode/orientation.h"
#include "fuelrail/loader/image_counts.h"

namespace fuelrail {
namespace {

// The memory of `pixels`, whose channels are the bytes of a value, as values.
RawView as_values(ImageView pixels, ValueLayout layout) {
  return {reinterpret_cast<std::byte*>(pixels.data),
          pixels.height,
          pixels.width,
          layout.channels,
          layout.dtype,
          pixels.row_stride_bytes};
}

// The pixels that job.box has in the file, if nothing needs to be done to them and enough readable
// bytes follow. Errors: as for decoding.
std::optional<ConstImageView> in_file(const UprightJob& job) {
  const Decoding* const decoding = decoding_of(job.info.format);
  if (decoding == nullptr || decoding->pixels_in_file == nullptr || job.info.orientation != 1) {
    return {};
  }
  const Bytes file = job.encoded.bytes;
  const auto pixels = decoding->pixels_in_file(file, job.box, job.channels);
  if (!pixels) return {};
  const auto* const end = reinterpret_cast<const std::byte*>(pixels->row(pixels->height - 1) +
                                                             pixels->width * pixels->channels);
  const auto behind = static_cast<size_t>(file.data() + file.size() - end);
  return behind >= PixelBuffer::kReadableBehind ? pixels : std::nullopt;
}

}  // namespace

// Decodes one image at a time, so that its pixels stay in the cache.
void UprightDecoder::decode_stored(DecodeJob& stored, WorkerCounts& counts) {
  decoder_->decode({&stored, 1});
  count_image(stored, counts);
  if (stored.error) std::rethrow_exception(stored.error);
}

ConstImageView UprightDecoder::decode(const UprightJob& job, WorkerCounts& counts) {
  if (const std::optional<ConstImageView> pixels = in_file(job)) return *pixels;
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
  decode_stored(stored, counts);
  if (info.orientation == 1) return stored.output;
  const ImageView upright = upright_.resize(job.box.size(), 0, job.channels);
  turn_upright(stored.output, info.orientation, upright);
  return upright;
}

ConstRawView UprightDecoder::decode_values(const UprightJob& job, ValueEncoding encoding,
                                           WorkerCounts& counts) {
  const ImageInfo& info = job.info;
  const ValueLayout layout = value_layout(info, encoding);
  const int64_t value_bytes = layout.channels * static_cast<int64_t>(size_in_bytes(layout.dtype));
  const Box box = to_stored(job.box, info.stored, info.orientation);
  const ImageView pixels = stored_.resize(box.size(), 0, value_bytes);
  DecodeJob stored{.encoded = job.encoded,
                   .info = info,
                   .box = box,
                   .eighths = job.eighths,
                   .stop = job.stop,
                   .values = as_values(pixels, layout),
                   .encoding = encoding};
  decode_stored(stored, counts);
  if (info.orientation == 1) return stored.values;
  const ImageView upright = upright_.resize(job.box.size(), 0, value_bytes);
  turn_upright(pixels, info.orientation, upright);
  return as_values(upright, layout);
}

}  // namespace fuelrail
