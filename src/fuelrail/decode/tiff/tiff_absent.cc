// A build without libtiff.
#include "fuelrail/decode/job.h"
#include "fuelrail/decode/tiff/tiff_decoder.h"

namespace fuelrail {
namespace {

[[noreturn]] void refuse() {
  throw UnsupportedError("this build of fuelrail has no TIFF",
                         {.remedy = "Build it from source with the CMake option FUELRAIL_TIFF=ON, "
                                    "or convert the image to PNG"});
}

class AbsentDecoder final : public Decoder {
 public:
  void decode(std::span<DecodeJob> jobs) override {
    decode_each(jobs, [](DecodeJob&) { refuse(); });
  }
};

}  // namespace

ImageInfo probe_tiff(Bytes) { refuse(); }
std::unique_ptr<Decoder> make_tiff_decoder() { return std::make_unique<AbsentDecoder>(); }
std::string libtiff_version() { return {}; }

}  // namespace fuelrail
