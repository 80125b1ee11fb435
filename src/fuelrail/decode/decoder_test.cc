#include "fuelrail/decode/decoder.h"

#include "fuelrail/decode/bmp/bmp_decoder.h"
#include "fuelrail/decode/jpeg/jpeg_decoder.h"
#include "fuelrail/decode/npy/npy_decoder.h"
#include "fuelrail/decode/png/png_decoder.h"
#include "fuelrail/decode/tiff/tiff_decoder.h"
#include "fuelrail/decode/webp/webp_decoder.h"
#include "fuelrail/testing/decoder_conformance.h"
#include "fuelrail/testing/whole_image_decoder.h"

namespace fuelrail::testing {
namespace {

// Of every format that this build decodes.
std::vector<std::string> all_endings() {
  std::vector<std::string> endings{".jpg", ".png", ".webp", ".bmp", ".npy"};
  if (!libtiff_version().empty()) endings.push_back(".tif");
  return endings;
}

std::vector<DecoderCase> cases() {
  std::vector<DecoderCase> cases{
      {"any", make_decoder, all_endings()},
      {"jpeg", make_jpeg_decoder, {".jpg"}},
      {"png", make_png_decoder, {".png"}},
      {"webp", make_webp_decoder, {".webp"}},
      {"bmp", make_bmp_decoder, {".bmp"}},
      {"npy", make_npy_decoder, {".npy"}},
      {"whole_image", [] { return std::make_unique<WholeImageDecoder>(); }, all_endings()},
  };
  if (!libtiff_version().empty()) cases.push_back({"tiff", make_tiff_decoder, {".tif"}});
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Decoders, DecoderConformance, ::testing::ValuesIn(cases()), case_name);

}  // namespace
}  // namespace fuelrail::testing
