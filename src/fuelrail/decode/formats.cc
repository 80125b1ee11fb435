#include "fuelrail/decode/formats.h"

#include <algorithm>
#include <array>
#include <atomic>

#include "fuelrail/base/error.h"
#include "fuelrail/decode/bmp/bmp_decoder.h"
#include "fuelrail/decode/hevc/hevc_decoder.h"
#include "fuelrail/decode/jpeg/jpeg_decoder.h"
#include "fuelrail/decode/mp4/mp4_decoder.h"
#include "fuelrail/decode/npy/npy_decoder.h"
#include "fuelrail/decode/png/png_decoder.h"
#include "fuelrail/decode/tiff/tiff_decoder.h"
#include "fuelrail/decode/webp/webp_decoder.h"
#include "fuelrail/mp4/nested_image.h"

namespace fuelrail {
namespace {

constexpr std::array kDecodings{
    Decoding{&kJpegFormat, probe_jpeg, make_jpeg_decoder, kMaxJpegSide},
    Decoding{&kPngFormat, probe_png, make_png_decoder},
    Decoding{&kWebpFormat, probe_webp, make_webp_decoder},
    Decoding{&kBmpFormat, probe_bmp, make_bmp_decoder},
    Decoding{&kTiffFormat, probe_tiff, make_tiff_decoder},
    Decoding{.format = &kNpyFormat,
             .probe = probe_npy,
             .make_decoder = make_npy_decoder,
             .pixels_in_file = pixels_in_npy},
    Decoding{&kMp4Format, nullptr, make_mp4_decoder, kMaxSide, true, mp4::read_nested_image},
    Decoding{&kHevcFormat, nullptr, make_hevc_decoder, kMaxSide, true},
    Decoding{&kH264Format, nullptr, make_h264_decoder, kMaxSide, true},
};

// Folder scans find images by kImageFormats, so it must list every format that has a signature.
static_assert(std::ranges::all_of(kDecodings, [](const Decoding& row) {
  return row.format->signatures.front().empty() ||
         std::ranges::find(kImageFormats, row.format) != kImageFormats.end();
}));

std::atomic<const Decoding*> lent = nullptr;

// The first row for which `accepts` returns true, or null.
template <typename Accepts>
const Decoding* find_row(Accepts accepts) {
  const auto row = std::find_if(kDecodings.begin(), kDecodings.end(), accepts);
  if (row != kDecodings.end()) return &*row;
  const Decoding* const one_more = lent.load(std::memory_order_acquire);
  return one_more != nullptr && accepts(*one_more) ? one_more : nullptr;
}

}  // namespace

const Decoding* decoding_of(const ImageFormat* format) {
  return find_row([format](const Decoding& row) { return row.format == format; });
}

const Decoding* announced_decoding(Bytes encoded) {
  return find_row([encoded](const Decoding& row) { return announces(*row.format, encoded); });
}

bool is_cut_signature(Bytes encoded) {
  return find_row([text = as_text(encoded)](const Decoding& row) {
           return std::any_of(row.format->signatures.begin(), row.format->signatures.end(),
                              [text](std::string_view signature) {
                                return text.size() < signature.size() && agrees(text, signature);
                              });
         }) != nullptr;
}

void require_described_format(const EncodedImage& image) {
  if (image.codec == nullptr) return;
  const ImageFormat& format = *image.codec->format;
  if (format.signatures.front().empty() || announces(format, image.bytes)) return;
  const Decoding* const found = announced_decoding(image.bytes);
  throw DecodeError(
      "the image does not have the format that the dataset declares",
      {.expected = std::string(format.title),
       .found = std::string(found != nullptr ? found->format->title : "an unknown format")});
}

std::string decoded_formats() {
  std::string titles;
  find_row([&titles](const Decoding& row) {
    if (row.format->signatures.front().empty()) return false;  // it is not a file of its own
    if (!titles.empty()) titles += ", ";
    titles += row.format->title;
    return false;
  });
  return titles.replace(titles.rfind(", "), 2, " or ");
}

LentDecoding::LentDecoding(const Decoding& row) { lent.store(&row, std::memory_order_release); }
LentDecoding::~LentDecoding() { lent.store(nullptr, std::memory_order_release); }

}  // namespace fuelrail
