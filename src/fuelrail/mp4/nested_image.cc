#include "fuelrail/mp4/nested_image.h"

#include <fmt/format.h>

#include "fuelrail/base/error.h"

namespace fuelrail::mp4 {
namespace {

constexpr size_t kMaxParameters = 64 * 1024;  // far above those of any encoder

const ImageFormat* format_of(BoxType entry) {
  if (entry == BoxType("hvc1") || entry == BoxType("hev1")) return &kHevcFormat;
  if (entry == BoxType("avc1")) return &kH264Format;
  return nullptr;
}

// Reads chroma_format_idc and bit_depth_luma_minus8.
void read_hevc_properties(Bytes parameters, ImageCodec& codec) {
  constexpr size_t kChromaAt = 16;
  constexpr size_t kDepthAt = 17;
  if (parameters.size() <= kDepthAt) return;
  codec.channels = (static_cast<int>(parameters[kChromaAt]) & 3) == 0 ? 1 : 3;
  codec.bits = 8 + (static_cast<int>(parameters[kDepthAt]) & 7);
}

}  // namespace

ImageCodec codec_of(BoxType entry, Size coded, Bytes parameters) {
  const ImageFormat* const format = format_of(entry);
  if (format == nullptr) {
    throw UnsupportedError("the image's format is not supported",
                           {.expected = "H.265 (hvc1, hev1) or H.264 (avc1)",
                            .found = fmt::format("a sample entry '{}'", entry.text())});
  }
  if (parameters.size() > kMaxParameters) {
    throw DecodeError("the parameters of the image's decoder are too long",
                      {.expected = fmt::format("at most {} bytes", kMaxParameters),
                       .found = fmt::to_string(parameters.size())});
  }
  if (parameters.empty()) {
    throw DecodeError("the record does not have the parameters of the image's decoder",
                      {.expected = "a box hvcC or avcC"});
  }
  ImageCodec codec{.format = format, .coded = coded, .parameters = parameters};
  if (format == &kHevcFormat) read_hevc_properties(parameters, codec);
  return codec;
}

EncodedImage image_of(Bytes bitstream, const ImageCodec& codec, Size visible) {
  if (bitstream.empty()) throw DecodeError("the record's image has no bytes");
  if (visible.height > codec.coded.height || visible.width > codec.coded.width) {
    throw DecodeError("the visible part of the image is larger than the coded picture",
                      {.expected = fmt::format("at most {} x {} (height x width)",
                                               codec.coded.height, codec.coded.width),
                       .found = fmt::format("{} x {}", visible.height, visible.width)});
  }
  EncodedImage image(bitstream);
  image.codec = &codec;
  image.visible = visible;
  return image;
}

EncodedImage read_nested_image(Bytes file, ImageCodec& codec) {
  const NestedFile nested = read_nested_file(file, "", 0);
  const std::optional<Still>& still = nested.input ? nested.input : nested.thumb;
  if (!still) {
    throw UnsupportedError("the MP4 file is not an image",
                           {.expected = fmt::format("a track '{}' with one picture", kInputTrack),
                            .found = "other tracks, for example those of a film"});
  }
  codec = codec_of(still->entry.type, still->entry.coded,
                   file.subspan(still->entry.parameters, still->entry.parameters_bytes));
  return image_of(file.subspan(still->offset, still->bytes), codec, still->visible);
}

}  // namespace fuelrail::mp4
