#include "plugin.h"

extern "C" __attribute__((visibility("default"))) const fuelrail_hevc_table* fuelrail_hevc() {
  static const std::string description =
      plugin::decoder_description() + ", " + plugin::encoder_description();
  static const fuelrail_hevc_table table{.interface = FUELRAIL_HEVC_INTERFACE,
                                         .description = description.c_str(),
                                         .decodes_h264 = plugin::kDecodesH264 ? 1 : 0,
                                         .make_decoder = plugin::make_decoder,
                                         .decode = plugin::decode,
                                         .free_decoder = plugin::free_decoder,
                                         .make_encoder = plugin::make_encoder,
                                         .encode = plugin::encode,
                                         .free_encoder = plugin::free_encoder};
  return &table;
}
