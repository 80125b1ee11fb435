// Replaces tiff_decoder.cc in a build without libtiff.
#include "fuelrail/base/error.h"
#include "fuelrail/decode/tiff/tiff_decoder.h"

namespace fuelrail {
namespace {

[[noreturn]] void refuse() {
  throw UnsupportedError("this build of fuelrail does not support TIFF",
                         {.remedy = "Build fuelrail from source with the CMake option "
                                    "FUELRAIL_TIFF=ON, or convert the image to PNG"});
}

}  // namespace

ImageInfo probe_tiff(Bytes) { refuse(); }
std::unique_ptr<Decoder> make_tiff_decoder() { refuse(); }
std::string libtiff_version() { return {}; }

}  // namespace fuelrail
