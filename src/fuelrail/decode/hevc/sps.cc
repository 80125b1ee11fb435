#include "fuelrail/decode/hevc/sps.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "fuelrail/base/error.h"
#include "fuelrail/decode/hevc/bit_reader.h"

namespace fuelrail::hevc {
namespace {

constexpr uint32_t kMaxSide = 65535;
constexpr uint32_t kMaxPictureSets = 64;
constexpr uint32_t kMaxPictures = 16;

[[noreturn]] void refuse(const char* what, int found, const char* expected) {
  throw UnsupportedError(fmt::format("the image has {} that is not supported", what),
                         {.expected = expected, .found = fmt::to_string(found)});
}

class SpsReader {
 public:
  explicit SpsReader(Bytes unit) : in_(unit) {}

  Sps read() {
    in_.skip(16);  // header of the unit
    in_.skip(4);   // number of the VPS
    const auto layers = static_cast<int>(in_.bits(3));
    in_.skip(1);
    skip_profile(layers);
    in_.unsigned_golomb(15);  // number of this set
    read_size();
    read_bits();
    const auto order_bits = static_cast<int>(in_.unsigned_golomb(12)) + 4;
    const bool each_layer = in_.flag();
    for (int i = each_layer ? 0 : layers; i <= layers; ++i) skip_golombs(3);
    skip_golombs(6);  // sizes of blocks
    if (in_.flag() && in_.flag()) skip_scaling_lists();
    in_.skip(2);
    if (in_.flag()) skip_pcm();
    skip_picture_sets();
    if (in_.flag()) {
      const uint32_t pictures = in_.unsigned_golomb(32);
      for (uint32_t i = 0; i < pictures; ++i) in_.skip(order_bits + 1);
    }
    in_.skip(2);
    if (in_.flag()) read_vui();
    return sps_;
  }

 private:
  void skip_golombs(int count) {
    for (int i = 0; i < count; ++i) in_.unsigned_golomb(UINT32_MAX);
  }

  // profile_tier_level, section 7.3.3.
  void skip_profile(int layers) {
    in_.skip(96);
    std::array<bool, 8> has_profile{}, has_level{};
    for (int i = 0; i < layers; ++i) {
      has_profile[static_cast<size_t>(i)] = in_.flag();
      has_level[static_cast<size_t>(i)] = in_.flag();
    }
    if (layers > 0) in_.skip(2 * (8 - layers));
    for (int i = 0; i < layers; ++i) {
      if (has_profile[static_cast<size_t>(i)]) in_.skip(88);
      if (has_level[static_cast<size_t>(i)]) in_.skip(8);
    }
  }

  void read_size() {
    sps_.chroma = static_cast<int>(in_.unsigned_golomb(3));
    if (sps_.chroma == 3 && in_.flag()) refuse("separately coded planes", 1, "0");
    sps_.coded.width = in_.unsigned_golomb(kMaxSide);
    sps_.coded.height = in_.unsigned_golomb(kMaxSide);
    sps_.window = whole(sps_.coded);
    if (in_.flag()) {  // the edges, in units of chroma values
      const int64_t x = sps_.chroma == 1 || sps_.chroma == 2 ? 2 : 1;
      const int64_t y = sps_.chroma == 1 ? 2 : 1;
      const int64_t left = x * in_.unsigned_golomb(kMaxSide);
      const int64_t right = x * in_.unsigned_golomb(kMaxSide);
      const int64_t top = y * in_.unsigned_golomb(kMaxSide);
      const int64_t bottom = y * in_.unsigned_golomb(kMaxSide);
      sps_.window = {top, left, sps_.coded.height - top - bottom, sps_.coded.width - left - right};
    }
    if (sps_.window.height > 0 && sps_.window.width > 0) return;
    throw DecodeError("the image's parameter sets declare a picture without pixels");
  }

  void read_bits() {
    sps_.bits = 8 + static_cast<int>(in_.unsigned_golomb(8));
    const int chroma = 8 + static_cast<int>(in_.unsigned_golomb(8));
    if (sps_.chroma != 0 && chroma != sps_.bits) {
      refuse("a number of bits of chroma", chroma, "that of luma");
    }
  }

  // Section 7.3.4.
  void skip_scaling_lists() {
    for (int size = 0; size < 4; ++size) {
      for (int matrix = 0; matrix < 6; matrix += size == 3 ? 3 : 1) {
        if (!in_.flag()) {
          in_.unsigned_golomb(6);
          continue;
        }
        const int values = std::min(64, 1 << (4 + 2 * size)) + (size > 1 ? 1 : 0);
        for (int i = 0; i < values; ++i) in_.skip_signed_golomb();
      }
    }
  }

  void skip_pcm() {
    in_.skip(8);
    skip_golombs(2);
    in_.skip(1);
  }

  // st_ref_pic_set, section 7.3.7.
  void skip_picture_sets() {
    const uint32_t sets = in_.unsigned_golomb(kMaxPictureSets);
    uint32_t pictures = 0;  // of the set before
    for (uint32_t set = 0; set < sets; ++set) {
      uint32_t here = 0;
      if (set > 0 && in_.flag()) {
        in_.skip(1);
        in_.unsigned_golomb(32767);
        for (uint32_t i = 0; i <= pictures; ++i) here += in_.flag() || in_.flag() ? 1 : 0;
      } else {
        here = in_.unsigned_golomb(kMaxPictures);
        here += in_.unsigned_golomb(kMaxPictures);
        for (uint32_t i = 0; i < here; ++i) {
          in_.unsigned_golomb(32767);
          in_.skip(1);
        }
      }
      pictures = here;
    }
  }

  // The beginning of vui_parameters, section E.2.1.
  void read_vui() {
    constexpr uint32_t kExplicitAspect = 255;
    if (in_.flag() && in_.bits(8) == kExplicitAspect) in_.skip(32);
    if (in_.flag()) in_.skip(1);  // overscan
    if (in_.flag()) {
      in_.skip(3);
      sps_.full_range = in_.flag();
      if (in_.flag()) {
        in_.skip(16);  // primaries and transfer characteristics
        sps_.matrix = matrix_of(static_cast<int>(in_.bits(8)));
      }
    }
    if (in_.flag()) {
      sps_.siting = siting_of(static_cast<int>(in_.unsigned_golomb(5)));
      in_.unsigned_golomb(5);  // of the bottom field
    }
  }

  BitReader in_;
  Sps sps_;
};

}  // namespace

Matrix matrix_of(int code) {
  switch (code) {
    case 0:
      return Matrix::kRgb;
    case 1:
      return Matrix::kBt709;
    case 2:  // unspecified
    case 5:
    case 6:
      return Matrix::kBt601;
    case 9:
      return Matrix::kBt2020;
    default:
      refuse("a colour matrix", code, "0, 1, 2, 5, 6 or 9");
  }
}

Siting siting_of(int type) {
  switch (type) {
    case 0:
      return Siting::kLeft;
    case 1:
      return Siting::kCentre;
    case 2:
      return Siting::kTopLeft;
    default:
      refuse("a chroma location", type, "0, 1 or 2");
  }
}

Sps read_sps(Bytes unit) { return SpsReader(unit).read(); }

}  // namespace fuelrail::hevc
