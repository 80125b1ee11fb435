#include "fuelrail/pack/image/still_maker.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "fuelrail/base/error.h"
#include "fuelrail/base/philox.h"
#include "fuelrail/container/container.h"
#include "fuelrail/container/sidecar/sidecar_writer.h"
#include "fuelrail/mp4/nested_file.h"
#include "fuelrail/mp4/nested_image.h"

namespace fuelrail::pack {
namespace {

// Errors: UnsupportedError.
std::optional<int64_t> label_of(const SourceImage& image) {
  if (image.labels.empty()) return std::nullopt;
  if (image.labels.size() == 1 && is_integral_label(image.labels[0])) {
    const auto label = static_cast<int64_t>(image.labels[0]);
    return label == mp4::kNoLabel ? std::nullopt : std::optional(label);
  }
  throw UnsupportedError(
      "the image's label cannot be stored beside an H.265 still",
      {.expected = "one whole number",
       .found = image.labels.size() == 1 ? fmt::format("{}", image.labels[0])
                                         : fmt::format("{} numbers", image.labels.size()),
       .remedy = fmt::format("Pack the images into a {} file",
                             extensions_with(RecordContent::kImageRecord))});
}

std::optional<mp4::NewStill> kept(Bytes file, const std::optional<mp4::Still>& still) {
  if (!still) return std::nullopt;
  return mp4::NewStill{
      .bitstream = file.subspan(still->offset, still->bytes),
      .parameters = file.subspan(still->entry.parameters, still->entry.parameters_bytes),
      .coded = still->entry.coded,
      .visible = still->visible,
      .type = still->entry.type};
}

bool is_hevc(const mp4::Still& still) {
  return still.entry.type == mp4::BoxType("hvc1") || still.entry.type == mp4::BoxType("hev1");
}

// Sets the stills of `record` to those of an MP4 file. Returns: whether it has stills that a
// `.bzna` file can store.
bool keep_stills(Bytes file, const mp4::NestedFile& nested, mp4::NewRecord& record) {
  if (!nested.input || !is_hevc(*nested.input)) return false;
  if (nested.thumb && !is_hevc(*nested.thumb)) return false;
  record.input = *kept(file, nested.input);
  record.thumb = kept(file, nested.thumb);
  return true;
}

}  // namespace

Size frame_for(Size image) {
  const auto rounded = [](int64_t side) {
    return (side + kFrameSide - 1) / kFrameSide * kFrameSide;
  };
  return {.height = rounded(image.height), .width = rounded(image.width)};
}

Size thumbnail_of(Size image) {
  const int64_t longer = std::max(image.height, image.width);
  if (longer <= kFrameSide) return image;
  const auto reduced = [longer](int64_t side) {
    return std::max<int64_t>(side * kFrameSide / longer, 1);
  };
  return {.height = reduced(image.height), .width = reduced(image.width)};
}

MadeRecord StillMaker::make(const SourceImage& image, uint64_t place,
                            std::vector<std::byte>& payload) {
  mp4::NewRecord record{.label = label_of(image), .name = image.name};
  const Bytes file = image.encoded.bytes;
  const bool is_nested = steps_.keep == ImageSteps::Keep::kAll && image.encoded.codec == nullptr &&
                         announces(kMp4Format, file);
  const mp4::NestedFile nested = is_nested ? mp4::read_nested_file(file, "", 0) : mp4::NestedFile{};
  if (record.name.empty()) record.name = nested.name;
  MadeRecord result;
  ConstImageView pixels{};
  const bool keeps_stills = keep_stills(file, nested, record);
  if (keeps_stills) {
    pipeline_.prepare(image.encoded, place);  // only checks it, as for any image
  } else {
    pixels = pipeline_.pixels(image.encoded, place);
    record.input = encode_still(pixels, input_);
    if (steps_.measure) {
      result.measured = measured(pixels, record.input);
      result.measured->source_bytes = file.size();
    }
  }
  if (!steps_.stills.thumb) record.thumb.reset();
  if (steps_.stills.thumb && !record.thumb) {
    record.thumb = thumbnail(record.input, [&] {
      return pixels.data == nullptr ? pipeline_.pixels(image.encoded, place) : pixels;
    });
  }
  const bool keeps_all =
      keeps_stills && mp4::can_be_record(file) &&
      nested.label.value_or(mp4::kNoLabel) == record.label.value_or(mp4::kNoLabel) &&
      nested.name == record.name && nested.thumb.has_value() == record.thumb.has_value();
  if (keeps_all) {
    payload.assign(file.begin(), file.end());
  } else {
    mp4::write_nested_file(record, payload);
  }
  return result;
}

mp4::NewStill StillMaker::thumbnail(const mp4::NewStill& image,
                                    const std::function<ConstImageView()>& pixels) {
  const Size whole = image.visible == Size{} ? image.coded : image.visible;
  const Size size = thumbnail_of(whole);
  if (size == whole) return image;
  const Transforms shrink{Resize{.size = size}};
  return encode_still(shrinker_.run(shrink, pixels(), Philox(0, 0, 0)), thumb_);
}

mp4::NewStill StillMaker::encode_still(ConstImageView image, HevcStill& still) {
  if (encoder_ == nullptr) encoder_ = std::make_unique<HevcEncoder>(steps_.stills.hevc);
  const Size frame = frame_for(image.size());
  encoder_->encode(image, frame, still);
  return {.bitstream = still.bitstream,
          .parameters = still.parameters,
          .coded = frame,
          .visible = image.size()};
}

MeasuredStill StillMaker::measured(ConstImageView image, const mp4::NewStill& still) {
  if (decoder_ == nullptr) decoder_ = make_decoder();
  const ImageCodec codec = mp4::codec_of(mp4::BoxType("hvc1"), still.coded, still.parameters);
  const EncodedImage encoded = mp4::image_of(still.bitstream, codec, still.visible);
  const ImageView decoded = decoded_.resize(image.size(), 0, image.channels);
  decode_whole(*decoder_, encoded, probe(encoded), decoded);
  return {.size = image.size(),
          .bytes = still.bitstream.size(),
          .quality = meter_.compare(image, decoded)};
}

}  // namespace fuelrail::pack
