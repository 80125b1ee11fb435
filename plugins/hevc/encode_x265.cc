/* Encodes still pictures with x265. */
#include <x265.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <vector>

#include "plugin.h"

namespace plugin {
namespace {

struct FreeParameters {
  void operator()(x265_param* parameters) const { x265_param_free(parameters); }
};
struct CloseEncoder {
  void operator()(x265_encoder* encoder) const { x265_encoder_close(encoder); }
};

struct State {
  std::unique_ptr<x265_param, FreeParameters> parameters;
  std::unique_ptr<x265_encoder, CloseEncoder> encoder;
  std::vector<std::vector<uint8_t>> units;
  std::vector<fuelrail_nal> views;
};

/* One thread for each picture, and no use of other pictures, so that the same picture gives the
 * same bytes: no reordering, no looking ahead, no open GOP, and `qcomp` 1, with
 * which the rate control has no memory. No banner. Wavefronts remain on: their markers make damage
 * visible. */
constexpr const char* kSettings[][2] = {
    {"info", "0"},         {"bframes", "0"},       {"b-adapt", "0"},     {"ref", "1"},
    {"rc-lookahead", "0"}, {"cutree", "0"},        {"scenecut", "0"},    {"qcomp", "1"},
    {"pools", "1"},        {"frame-threads", "1"}, {"wpp", "1"},         {"repeat-headers", "1"},
    {"fps", "25/1"},       {"range", "full"},      {"videoformat", "5"}, {"colormatrix", "bt470bg"},
    {"sar", "1:1"},        {"log-level", "none"},  {"annexb", "1"},      {"open-gop", "0"},
    {"slices", "1"},       {"sao", "1"},
};

/* x265 gives the first picture of a film the quantizer of its CRF divided by 1.4 (--ipratio), but
 * with `qcomp` 1 that of its CRF. This is the difference on the scale of CRF: 6 log2(1.4). */
constexpr double kFirstPicture = 2.913;

int set(x265_param& parameters, const char* name, const std::string& value) {
  return x265_param_parse(&parameters, name, value.c_str());
}

bool set_all(x265_param& parameters, const fuelrail_encoding& encoding) {
  int failed = x265_param_default_preset(&parameters, encoding.preset, nullptr);
  for (const auto& [name, value] : kSettings) failed |= set(parameters, name, value);
  failed |= set(parameters, "crf", std::to_string(std::max(encoding.crf - kFirstPicture, 0.0)));
  failed |= set(parameters, "input-csp", encoding.chroma == 3 ? "i444" : "i420");
  failed |= set(parameters, "input-res",
                std::to_string(encoding.width) + "x" + std::to_string(encoding.height));
  if (encoding.chroma == 1) failed |= set(parameters, "chromaloc", "1"); /* centre */
  return failed == 0;
}

/* The first call of x265_encoder_open fills in tables that all encoders share. */
std::unique_ptr<x265_encoder, CloseEncoder> open_encoder(x265_param& parameters) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  return std::unique_ptr<x265_encoder, CloseEncoder>(x265_encoder_open(&parameters));
}

/* The unit without its start code: 00 00 01 or 00 00 00 01. */
std::vector<uint8_t> without_start_code(const x265_nal& nal) {
  const uint32_t start = nal.sizeBytes > 3 && nal.payload[2] == 0 ? 4 : 3;
  return {nal.payload + start, nal.payload + nal.sizeBytes};
}

/* Sets slice_loop_filter_across_slices_enabled_flag in the header of an IDR slice (ITU-T H.265,
 * section 7.3.6.1), as the settings above make it. x265 derives it from the number of the picture,
 * and it has no meaning in a picture of one slice. */
void set_filter_flag(std::vector<uint8_t>& slice) {
  constexpr size_t kHeaderBits = 16;
  size_t at = kHeaderBits;
  const auto bit = [&] { return slice[at / 8] >> (7 - at % 8) & 1; };
  const auto skip_golomb = [&] {
    size_t zeros = 0;
    for (; bit() == 0; ++at) ++zeros;
    at += 1 + zeros;
  };
  at += 2;       /* first_slice_segment_in_pic_flag, no_output_of_prior_pics_flag */
  skip_golomb(); /* slice_pic_parameter_set_id */
  skip_golomb(); /* slice_type */
  at += 2;       /* slice_sao_luma_flag, slice_sao_chroma_flag */
  skip_golomb(); /* slice_qp_delta */
  slice[at / 8] |= static_cast<uint8_t>(0x80 >> at % 8);
}

bool is_slice(const std::vector<uint8_t>& unit) { return (unit[0] >> 1 & 63) < 32; }

}  // namespace

std::string encoder_description() { return std::string("x265 ") + x265_version_str; }

fuelrail_status make_encoder(const fuelrail_encoding* encoding, void** encoder,
                             fuelrail_failure* failure) try {
  auto state = std::make_unique<State>();
  state->parameters.reset(x265_param_alloc());
  if (!state->parameters) throw std::bad_alloc();
  if (set_all(*state->parameters, *encoding)) state->encoder = open_encoder(*state->parameters);
  if (!state->encoder) {
    return fail(failure, FUELRAIL_UNSUPPORTED, "x265 does not accept the settings");
  }
  *encoder = state.release();
  return FUELRAIL_OK;
} catch (const std::bad_alloc&) {
  return fail(failure, FUELRAIL_NO_MEMORY, "no memory");
}

fuelrail_status encode(void* handle, const fuelrail_planes* picture, const fuelrail_nal** units,
                       size_t* count, fuelrail_failure* failure) try {
  State& state = *static_cast<State*>(handle);
  state.units.clear();
  x265_picture input;
  x265_picture_init(state.parameters.get(), &input);
  for (int i = 0; i < 3; ++i) {
    input.planes[i] = const_cast<void*>(picture->planes[i]);
    input.stride[i] = static_cast<int>(picture->strides[i]);
  }
  input.bitDepth = 8;
  input.sliceType = X265_TYPE_IDR;
  x265_nal* nals = nullptr;
  uint32_t found = 0;
  x265_encoder* const encoder = state.encoder.get();
  if (x265_encoder_encode(encoder, &nals, &found, &input, nullptr) < 0 || found == 0) {
    return fail(failure, FUELRAIL_UNSUPPORTED, "x265 cannot encode the picture");
  }
  for (uint32_t i = 0; i < found; ++i) {
    std::vector<uint8_t>& unit = state.units.emplace_back(without_start_code(nals[i]));
    if (is_slice(unit)) set_filter_flag(unit);
  }
  state.views.clear();
  for (const auto& unit : state.units) state.views.push_back({unit.data(), unit.size()});
  *units = state.views.data();
  *count = state.views.size();
  return FUELRAIL_OK;
} catch (const std::bad_alloc&) {
  return fail(failure, FUELRAIL_NO_MEMORY, "no memory");
}

void free_encoder(void* encoder) { delete static_cast<State*>(encoder); }

}  // namespace plugin
