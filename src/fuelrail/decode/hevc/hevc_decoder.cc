#include "fuelrail/decode/hevc/hevc_decoder.h"

#include <fmt/format.h>

#include "fuelrail/base/error.h"
#include "fuelrail/base/image_format.h"

namespace fuelrail {
namespace {

[[noreturn]] void refuse(const ImageFormat& format) {
  throw StateError(fmt::format("this version of fuelrail cannot decode {} images", format.title),
                   {.remedy = "Read only the other fields, such as `label`, or the images as they "
                              "are stored"});
}

}  // namespace

std::unique_ptr<Decoder> make_hevc_decoder() { refuse(kHevcFormat); }
std::unique_ptr<Decoder> make_h264_decoder() { refuse(kH264Format); }

}  // namespace fuelrail
