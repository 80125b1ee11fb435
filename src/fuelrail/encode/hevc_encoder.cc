#include "fuelrail/encode/hevc_encoder.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <new>
#include <utility>

#include "fuelrail/base/bytes.h"
#include "fuelrail/base/error.h"
#include "fuelrail/base/hevc_library.h"

namespace fuelrail {
namespace {

// Types of NAL units (ITU-T H.265, table 7-1).
constexpr int kVps = 32, kSps = 33, kPps = 34;

int type_of(const fuelrail_nal& unit) { return unit.bytes[0] >> 1 & 63; }

void append_number(std::vector<std::byte>& out, uint64_t value, int bytes) {
  for (int i = bytes - 1; i >= 0; --i) out.push_back(static_cast<std::byte>(value >> (8 * i)));
}

void append_unit(std::vector<std::byte>& out, const fuelrail_nal& unit, int length_bytes) {
  append_number(out, unit.length, length_bytes);
  append_bytes(out, {reinterpret_cast<const std::byte*>(unit.bytes), unit.length});
}

// The first `count` bytes of a unit's payload, without emulation prevention bytes.
std::vector<std::byte> payload_of(const fuelrail_nal& unit, size_t count) {
  constexpr size_t kHeaderBytes = 2;
  std::vector<std::byte> payload;
  int zeros = 0;
  for (size_t i = kHeaderBytes; i < unit.length && payload.size() < count; ++i) {
    const uint8_t byte = unit.bytes[i];
    if (zeros >= 2 && byte == 3) {
      zeros = 0;
      continue;
    }
    zeros = byte == 0 ? zeros + 1 : 0;
    payload.push_back(std::byte{byte});
  }
  return payload;
}

// HEVCDecoderConfigurationRecord (ISO/IEC 14496-15, section 8.3.3.1). The profile, tier and level
// are the 12 bytes after the first one of an SPS.
void write_configuration(const std::vector<fuelrail_nal>& units, int chroma_format,
                         std::vector<std::byte>& out) {
  constexpr size_t kProfileBytes = 12;
  out.clear();
  append_number(out, 1, 1);
  for (const fuelrail_nal& unit : units) {
    if (type_of(unit) != kSps) continue;
    const std::vector<std::byte> payload = payload_of(unit, 1 + kProfileBytes);
    append_bytes(out, Bytes(payload).subspan(1));
    break;
  }
  append_number(out, 0xf000, 2);  // no minimum of spatial segmentation
  append_number(out, 0xfc, 1);    // any parallelism
  append_number(out, 0xfc | static_cast<uint64_t>(chroma_format), 1);
  append_number(out, 0xf8, 1);  // 8 bits of luma
  append_number(out, 0xf8, 1);  // and of chroma
  append_number(out, 0, 2);     // no average frame rate
  append_number(out, 0x0f, 1);  // one layer, nested; lengths of 4 bytes
  append_number(out, 3, 1);     // arrays
  for (const int type : {kVps, kSps, kPps}) {
    append_number(out, 0x80 | static_cast<uint64_t>(type), 1);  // the array is complete
    const auto is_of_type = [type](const fuelrail_nal& unit) { return type_of(unit) == type; };
    append_number(out, static_cast<uint64_t>(std::ranges::count_if(units, is_of_type)), 2);
    for (const fuelrail_nal& unit : units) {
      if (is_of_type(unit)) append_unit(out, unit, 2);
    }
  }
}

// The planes of a picture of 8 bits.
class Planes {
 public:
  // ITU-T T.871, section 7, in units of 1/65536.
  void fill(ConstImageView image, Size coded, bool halves_chroma) {
    width_ = coded.width;
    height_ = coded.height;
    step_ = halves_chroma ? 2 : 1;
    luma_.resize(static_cast<size_t>(width_ * height_));
    for (std::vector<uint8_t>& plane : chroma_) {
      plane.resize(static_cast<size_t>(width_ / step_ * (height_ / step_)));
    }
    for (std::vector<int>& row : sums_) row.resize(static_cast<size_t>(width_ / step_));
    for (int64_t y = 0; y < height_; ++y) add_row(image, y);
  }

  fuelrail_planes view() const {
    const auto width = static_cast<int32_t>(width_), height = static_cast<int32_t>(height_);
    const int32_t chroma_width = width / static_cast<int32_t>(step_);
    const int32_t chroma_height = height / static_cast<int32_t>(step_);
    return {.planes = {luma_.data(), chroma_[0].data(), chroma_[1].data()},
            .strides = {width, chroma_width, chroma_width},
            .widths = {width, chroma_width, chroma_width},
            .heights = {height, chroma_height, chroma_height},
            .bits = 8,
            .chroma = step_ == 2 ? 1 : 3,
            .full_range = 1,
            .matrix = 5,
            .chroma_location = 1};
  }

 private:
  void add_row(ConstImageView image, int64_t y) {
    constexpr int kOne = 1 << 16, kHalf = kOne / 2;
    const uint8_t* const row = image.row(std::min(y, image.height - 1));
    uint8_t* const luma = luma_.data() + y * width_;
    if (y % step_ == 0) {
      for (std::vector<int>& sums : sums_) std::fill(sums.begin(), sums.end(), 0);
    }
    for (int64_t x = 0; x < width_; ++x) {
      const uint8_t* const pixel = row + std::min(x, image.width - 1) * image.channels;
      const int red = pixel[0];
      const int green = pixel[image.channels == 3 ? 1 : 0];
      const int blue = pixel[image.channels == 3 ? 2 : 0];
      luma[x] = static_cast<uint8_t>((19595 * red + 38470 * green + 7471 * blue + kHalf) >> 16);
      const auto at = static_cast<size_t>(x / step_);
      sums_[0][at] += -11059 * red - 21709 * green + 32768 * blue;
      sums_[1][at] += 32768 * red - 27439 * green - 5329 * blue;
    }
    if (y % step_ != step_ - 1) return;
    const int values = static_cast<int>(step_ * step_);
    for (size_t c = 0; c < 2; ++c) {
      uint8_t* const out = chroma_[c].data() + y / step_ * (width_ / step_);
      for (size_t x = 0; x < sums_[c].size(); ++x) {
        // 128 and the half make the value positive, so that the shift rounds to the nearest.
        const int mean = (sums_[c][x] + values * (128 * kOne + kHalf)) / values;
        out[x] = static_cast<uint8_t>(std::min(mean >> 16, 255));
      }
    }
  }

  int64_t width_ = 0, height_ = 0, step_ = 2;
  std::vector<uint8_t> luma_;
  std::array<std::vector<uint8_t>, 2> chroma_;
  std::array<std::vector<int>, 2> sums_;  // of a row of chroma, or of its first row of luma
};

void check(const HevcSettings& settings) {
  if (!(settings.crf >= 0 && settings.crf <= 51)) {
    throw InvalidArgumentError("the CRF is out of range",
                               {.expected = "0 to 51", .found = fmt::format("{}", settings.crf)});
  }
  if (settings.chroma != 420 && settings.chroma != 444) {
    throw InvalidArgumentError(
        "the chroma format is invalid",
        {.expected = "420 or 444", .found = fmt::to_string(settings.chroma)});
  }
  const std::vector<std::string>& presets = hevc_presets();
  if (std::ranges::find(presets, settings.preset) == presets.end()) {
    throw InvalidArgumentError("x265 has no such preset",
                               {.expected = fmt::format("{}", fmt::join(presets, ", ")),
                                .found = settings.preset,
                                .remedy = suggest(settings.preset, presets)});
  }
}

[[noreturn]] void fail(fuelrail_status status, const fuelrail_failure& failure) {
  if (status == FUELRAIL_NO_MEMORY) throw std::bad_alloc();
  throw UnsupportedError(failure.text);
}

}  // namespace

const std::vector<std::string>& hevc_presets() {
  static const std::vector<std::string> names{"ultrafast", "superfast", "veryfast", "faster",
                                              "fast",      "medium",    "slow",     "slower",
                                              "veryslow",  "placebo"};
  return names;
}

// Of the encoders that are kept, except the largest. An encoder needs about 12 bytes for each
// pixel.
constexpr int64_t kMostKeptPixels = int64_t{4} << 20;

// The plugin's encoders, one for each size of picture.
class HevcEncoder::State {
 public:
  explicit State(const HevcSettings& settings) : settings_(settings), table_(hevc_library()) {}
  ~State() { free(); }
  State& operator=(State&&) = delete;

  void encode(ConstImageView image, Size coded, HevcStill& out) {
    const int chroma_format = settings_.chroma == 420 ? 1 : 3;
    void* const encoder = encoder_for(coded, chroma_format);
    planes_.fill(image, coded, chroma_format == 1);
    const fuelrail_planes picture = planes_.view();
    const fuelrail_nal* units = nullptr;
    size_t count = 0;
    fuelrail_failure failure{};
    const fuelrail_status status = table_.encode(encoder, &picture, &units, &count, &failure);
    if (status != FUELRAIL_OK) fail(status, failure);
    const std::vector<fuelrail_nal> all(units, units + count);
    out.bitstream.clear();
    for (const fuelrail_nal& unit : all) {
      if (type_of(unit) < kVps) append_unit(out.bitstream, unit, 4);
    }
    write_configuration(all, chroma_format, out.parameters);
  }

 private:
  void* encoder_for(Size coded, int chroma_format) {
    const std::pair key(coded.height, coded.width);
    if (const auto found = encoders_.find(key); found != encoders_.end()) return found->second;
    const int64_t pixels = coded.height * coded.width;
    int64_t all = pixels, largest = pixels;
    for (const auto& [size, encoder] : encoders_) {
      all += size.first * size.second;
      largest = std::max(largest, size.first * size.second);
    }
    if (all - largest > kMostKeptPixels) free();
    const fuelrail_encoding encoding{.width = static_cast<int32_t>(coded.width),
                                     .height = static_cast<int32_t>(coded.height),
                                     .chroma = chroma_format,
                                     .crf = settings_.crf,
                                     .preset = settings_.preset.c_str()};
    fuelrail_failure failure{};
    void* made = nullptr;
    const fuelrail_status status = table_.make_encoder(&encoding, &made, &failure);
    if (status != FUELRAIL_OK) fail(status, failure);
    return encoders_[key] = made;
  }

  void free() {
    for (const auto& [size, encoder] : encoders_) table_.free_encoder(encoder);
    encoders_.clear();
  }

  const HevcSettings settings_;
  const fuelrail_hevc_table& table_;
  std::map<std::pair<int64_t, int64_t>, void*> encoders_;  // by height and width
  Planes planes_;
};

HevcEncoder::HevcEncoder(const HevcSettings& settings)
    : state_((check(settings), std::make_unique<State>(settings))) {}
HevcEncoder::~HevcEncoder() = default;

void HevcEncoder::encode(ConstImageView image, Size coded, HevcStill& out) {
  state_->encode(image, coded, out);
}

}  // namespace fuelrail
