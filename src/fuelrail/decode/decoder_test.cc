#include "fuelrail/decode/decoder.h"

#include "fuelrail/decode/jpeg/jpeg_decoder.h"
#include "fuelrail/decode/png/png_decoder.h"
#include "fuelrail/testing/decoder_conformance.h"
#include "fuelrail/testing/whole_image_decoder.h"

namespace fuelrail::testing {
namespace {

INSTANTIATE_TEST_SUITE_P(Decoders, DecoderConformance,
                         ::testing::Values(DecoderCase{"any", make_decoder, {".jpg", ".png"}},
                                           DecoderCase{"jpeg", make_jpeg_decoder, {".jpg"}},
                                           DecoderCase{"png", make_png_decoder, {".png"}},
                                           DecoderCase{
                                               "whole_image",
                                               [] { return std::make_unique<WholeImageDecoder>(); },
                                               {".jpg", ".png"}}),
                         case_name);

}  // namespace
}  // namespace fuelrail::testing
