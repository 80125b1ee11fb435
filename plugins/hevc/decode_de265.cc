/* Decodes H.265 with libde265. */
#include <libde265/de265.h>

#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <utility>

#include "plugin.h"

namespace plugin {
namespace {

fuelrail_status status_of(de265_error error) {
  switch (error) {
    case DE265_ERROR_OUT_OF_MEMORY:
      return FUELRAIL_NO_MEMORY;
    case DE265_ERROR_NOT_IMPLEMENTED_YET:
      return FUELRAIL_UNSUPPORTED;
    default:
      return FUELRAIL_DAMAGED;
  }
}

fuelrail_status damaged(fuelrail_failure* failure, de265_error error) {
  return fail(
      failure, status_of(error),
      std::string("the H.265 image is damaged (libde265: ") + de265_get_error_text(error) + ")");
}

/* A picture's planes are cleared: libde265 leaves the parts that are missing as they are. The
 * number of bytes of a value is not known here, so there is room for two. Strides are in values. */
void* cleared(int stride, int height) {
  constexpr size_t kAlignment = 64, kPadding = 64;
  const size_t bytes = 2 * static_cast<size_t>(stride) * static_cast<size_t>(height) + kPadding;
  const size_t rounded = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  void* const memory = std::aligned_alloc(kAlignment, rounded);
  if (memory != nullptr) std::memset(memory, 0, rounded);
  return memory;
}

void release_planes(de265_decoder_context*, de265_image* image, void*) {
  for (int i = 0; i < 3; ++i) std::free(de265_get_image_plane_user_data(image, i));
}

int get_planes(de265_decoder_context* context, de265_image_spec* spec, de265_image* image, void*) {
  const bool is_grey = spec->format == de265_image_format_mono8;
  const bool halves_width =
      spec->format == de265_image_format_YUV420P8 || spec->format == de265_image_format_YUV422P8;
  const bool halves_height = spec->format == de265_image_format_YUV420P8;
  for (int i = 0; i < 3; ++i) de265_set_image_plane(image, i, nullptr, 0, nullptr);
  for (int i = 0; i < (is_grey ? 1 : 3); ++i) {
    const int width = i > 0 && halves_width ? (spec->width + 1) / 2 : spec->width;
    const int height = i > 0 && halves_height ? (spec->height + 1) / 2 : spec->height;
    const int stride = (width + spec->alignment - 1) / spec->alignment * spec->alignment;
    void* const memory = cleared(stride, height);
    if (memory == nullptr) {
      release_planes(context, image, nullptr);
      return 0;
    }
    de265_set_image_plane(image, i, memory, stride, memory);
  }
  return 1;
}

/* Replaces the functions with which every context begins. Those of one context are not enough:
 * libde265 allocates a picture that it filters afterwards (SAO) with the default ones. */
void clear_all_planes() {
  static const bool is_done = [] {
    *const_cast<de265_image_allocation*>(de265_get_default_image_allocation_functions()) = {
        get_planes, release_planes};
    return true;
  }();
  static_cast<void>(is_done);
}

/* A new context for each picture: de265_reset keeps slice headers, parameter sets and warnings. */
struct State {
  State() = default;
  State(const State&) = delete;
  ~State() { free(); }

  void renew() {
    free();
    context = de265_new_decoder();
    if (context == nullptr) throw std::bad_alloc();
  }
  void free() {
    if (context != nullptr) de265_free_decoder(std::exchange(context, nullptr));
  }

  de265_decoder_context* context = nullptr;
};

/* libde265 passes over damage with a warning. */
de265_error first_warning(de265_decoder_context* decoder) {
  for (;;) {
    const de265_error warning = de265_get_warning(decoder);
    if (warning != DE265_WARNING_NO_WPP_CANNOT_USE_MULTITHREADING) return warning;
  }
}

fuelrail_status copy_layout(const de265_image* image, fuelrail_planes* picture,
                            fuelrail_failure* failure) {
  picture->bits = de265_get_bits_per_pixel(image, 0);
  picture->chroma = static_cast<int32_t>(de265_get_chroma_format(image));
  const int planes = picture->chroma == de265_chroma_mono ? 1 : 3;
  for (int i = 0; i < planes; ++i) {
    int stride = 0;
    picture->planes[i] = de265_get_image_plane(image, i, &stride);
    picture->strides[i] = stride;
    picture->widths[i] = de265_get_image_width(image, i);
    picture->heights[i] = de265_get_image_height(image, i);
    if (de265_get_bits_per_pixel(image, i) != picture->bits) {
      return fail(failure, FUELRAIL_UNSUPPORTED,
                  "the H.265 image has different numbers of bits of luma and chroma");
    }
  }
  return FUELRAIL_OK;
}

}  // namespace

const bool kDecodesH264 = false;

std::string decoder_description() { return std::string("libde265 ") + de265_get_version(); }

fuelrail_status make_decoder(fuelrail_codec codec, void** decoder, fuelrail_failure* failure) try {
  if (codec != FUELRAIL_H265) {
    return fail(failure, FUELRAIL_UNSUPPORTED, "libde265 decodes H.265 alone");
  }
  if (de265_init() != DE265_OK) throw std::bad_alloc();  // its tables remain between pictures
  de265_set_verbosity(0);
  clear_all_planes();
  *decoder = new State;
  return FUELRAIL_OK;
} catch (const std::bad_alloc&) {
  return fail(failure, FUELRAIL_NO_MEMORY, "no memory");
}

fuelrail_status decode(void* handle, const fuelrail_nal* units, size_t count, int64_t,
                       fuelrail_planes* picture, fuelrail_failure* failure) try {
  State& state = *static_cast<State*>(handle);
  state.renew();
  de265_decoder_context* const decoder = state.context;
  for (size_t i = 0; i < count; ++i) {
    const de265_error error =
        de265_push_NAL(decoder, units[i].bytes, static_cast<int>(units[i].length), 0, nullptr);
    if (!de265_isOK(error)) return damaged(failure, error);
  }
  de265_flush_data(decoder);
  /* At the end of the data, `more` says that a picture waits. */
  for (int more = 1; more != 0 && de265_peek_next_picture(decoder) == nullptr;) {
    more = 0;
    const de265_error error = de265_decode(decoder, &more);
    if (!de265_isOK(error)) return damaged(failure, error);
  }
  const de265_error warning = first_warning(decoder);
  if (warning != DE265_OK) return damaged(failure, warning);
  const de265_image* const image = de265_get_next_picture(decoder);
  if (image == nullptr) return fail(failure, FUELRAIL_DAMAGED, "the H.265 image has no picture");
  return copy_layout(image, picture, failure);
} catch (const std::bad_alloc&) {
  return fail(failure, FUELRAIL_NO_MEMORY, "no memory");
}

void free_decoder(void* decoder) {
  delete static_cast<State*>(decoder);
  de265_free();
}

}  // namespace plugin
