#include "fuelrail/decode/jpeg/baseline_header.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <string_view>

#include "fuelrail/decode/probe.h"

namespace fuelrail::jpeg {
namespace {

constexpr uint8_t kSof0 = 0xc0, kSof1 = 0xc1, kDht = 0xc4, kSos = 0xda, kDqt = 0xdb, kDri = 0xdd;
constexpr uint8_t kApp0 = 0xe0, kApp14 = 0xee, kApp15 = 0xef, kCom = 0xfe;

// Reads segment by segment. A function returns false where libjpeg-turbo might warn, fail or decode
// differently.
class HeaderReader {
 public:
  HeaderReader(Bytes encoded, BaselineHeader& header) : bytes_(encoded), header_(header) {
    header_.components = header_.blocks_of_mcu = 0;
    header_.restart_interval = 0;
    for (size_t i = 0; i < kTables; ++i) {
      header_.dc_codes[i].is_defined = header_.ac_codes[i].is_defined = false;
    }
  }

  bool read() {
    if (bytes_.size() < 4 || byte(0) != 0xff || byte(1) != 0xd8) return false;
    size_t at = 2;
    for (;;) {
      if (bytes_.size() - at < 4 || byte(at) != 0xff) return false;
      const uint8_t marker = byte(at + 1);
      const size_t length = size_t{byte(at + 2)} << 8 | byte(at + 3);
      if (length < 2 || length > bytes_.size() - at - 2) return false;
      const Bytes payload = bytes_.subspan(at + 4, length - 2);
      at += 2 + length;
      if (marker == kSos) {
        header_.scan_begin = at;
        return read_scan(payload);
      }
      if (!read_segment(marker, payload)) return false;
    }
  }

 private:
  static uint8_t byte_of(Bytes bytes, size_t i) { return std::to_integer<uint8_t>(bytes[i]); }
  uint8_t byte(size_t i) const { return byte_of(bytes_, i); }

  bool read_segment(uint8_t marker, Bytes payload) {
    switch (marker) {
      case kSof0:
      case kSof1:
        return read_frame(payload);
      case kDht:
        return read_codes(payload);
      case kDqt:
        return read_quantizers(payload);
      case kDri:
        if (payload.size() != 2) return false;
        header_.restart_interval = int64_t{byte_of(payload, 0)} << 8 | byte_of(payload, 1);
        return true;
      case kApp0:
        return read_jfif(payload);
      case kApp14:
        return read_adobe(payload);
      default:
        return marker == kCom || (marker > kApp0 && marker <= kApp15);
    }
  }

  bool read_jfif(Bytes payload) {
    if (payload.size() < 14 || !as_text(payload).starts_with(std::string_view("JFIF\0", 5))) {
      return true;
    }
    has_jfif_ = true;
    return byte_of(payload, 5) == 1;  // the major version
  }

  bool read_adobe(Bytes payload) {
    if (payload.size() < 12 || !as_text(payload).starts_with("Adobe")) return true;
    has_adobe_ = true;
    adobe_transform_ = byte_of(payload, 11);
    return adobe_transform_ <= 1;
  }

  bool read_frame(Bytes payload) {
    if (header_.components != 0 || payload.size() < 6 || byte_of(payload, 0) != 8) return false;
    header_.size = {int64_t{byte_of(payload, 1)} << 8 | byte_of(payload, 2),
                    int64_t{byte_of(payload, 3)} << 8 | byte_of(payload, 4)};
    const auto [height, width] = header_.size;
    if (height == 0 || width == 0 || std::max(height, width) > kMaxJpegSide) return false;
    const int count = byte_of(payload, 5);
    if ((count != 1 && count != 3) || payload.size() != 6 + 3 * static_cast<size_t>(count)) {
      return false;
    }
    for (int i = 0; i < count; ++i) {
      const size_t at = 6 + 3 * static_cast<size_t>(i);
      const uint8_t id = byte_of(payload, at);
      if (std::find(ids_.begin(), ids_.begin() + i, id) != ids_.begin() + i) return false;
      ids_[static_cast<size_t>(i)] = id;
      Component& component = header_.component[static_cast<size_t>(i)];
      component.h = byte_of(payload, at + 1) >> 4;
      component.v = byte_of(payload, at + 1) & 15;
      component.quantizers = byte_of(payload, at + 2);
      if (component.quantizers >= kTables) return false;
    }
    header_.components = count;
    return check_sampling();
  }

  bool check_sampling() {
    Component& luma = header_.component[0];
    header_.mcu_rows_of_imcu = 1;
    if (header_.components == 1) {
      if (luma.h < 1 || luma.h > 4 || luma.v < 1 || luma.v > 4) return false;
      header_.mcu_rows_of_imcu = luma.v;
      luma.h = luma.v = 1;  // a scan of one component has MCUs of one block
    } else {
      for (size_t i = 1; i < kMaxComponents; ++i) {
        if (header_.component[i].h != 1 || header_.component[i].v != 1) return false;
      }
      if (luma.h < 1 || luma.h > 2 || luma.v < 1 || luma.v > 2) return false;
    }
    header_.mcus = {ceil_div(header_.size.height, kBlockSide * luma.v),
                    ceil_div(header_.size.width, kBlockSide * luma.h)};
    for (int i = 0; i < header_.components; ++i) {
      const Component& component = header_.component[static_cast<size_t>(i)];
      for (int k = 0; k < component.h * component.v; ++k) {
        header_.component_of_block[static_cast<size_t>(header_.blocks_of_mcu++)] =
            static_cast<uint8_t>(i);
      }
    }
    return true;
  }

  bool read_codes(Bytes payload) {
    while (!payload.empty()) {
      if (payload.size() < 17) return false;
      const uint8_t place = byte_of(payload, 0);
      if ((place & 15) >= kTables || place >> 4 > 1) return false;
      HuffmanCode& code = (place >> 4 == 0 ? header_.dc_codes : header_.ac_codes)[place & 15];
      std::memcpy(code.counts.data(), &payload[1], code.counts.size());
      const auto count = std::accumulate(code.counts.begin(), code.counts.end(), size_t{0});
      if (count > code.symbols.size() || count > payload.size() - 17) return false;
      code.symbols = {};
      std::memcpy(code.symbols.data(), payload.data() + 17, count);
      code.is_defined = true;
      payload = payload.subspan(17 + count);
    }
    return true;
  }

  bool read_quantizers(Bytes payload) {
    while (!payload.empty()) {
      const uint8_t place = byte_of(payload, 0);
      const size_t width = 1 + (place >> 4);
      if ((place & 15) >= kTables || width > 2 || payload.size() < 1 + 64 * width) return false;
      Quantizers& quantizers = header_.quantizers[place & 15];
      if (width == 1) std::memcpy(quantizers.data(), &payload[1], quantizers.size());
      for (size_t i = 0; width == 2 && i < quantizers.size(); ++i) {
        if (byte_of(payload, 1 + 2 * i) != 0) return false;  // above 255
        quantizers[i] = byte_of(payload, 2 + 2 * i);
      }
      has_quantizers_[place & 15] = true;
      payload = payload.subspan(1 + 64 * width);
    }
    return true;
  }

  bool read_scan(Bytes payload) {
    const auto count = static_cast<size_t>(header_.components);
    if (count == 0 || payload.size() != 4 + 2 * count || byte_of(payload, 0) != count) return false;
    for (size_t i = 0; i < count; ++i) {
      const uint8_t codes = byte_of(payload, 2 + 2 * i);
      if (byte_of(payload, 1 + 2 * i) != ids_[i]) return false;
      Component& component = header_.component[i];
      component.dc_code = codes >> 4;
      component.ac_code = codes & 15;
      if (component.dc_code >= kTables || component.ac_code >= kTables) return false;
      if (!has_quantizers_[static_cast<size_t>(component.quantizers)]) return false;
      if (!is_code(header_.dc_codes[static_cast<size_t>(component.dc_code)], 15)) return false;
      if (!is_code(header_.ac_codes[static_cast<size_t>(component.ac_code)], 255)) return false;
    }
    const size_t at = 1 + 2 * count;  // all coefficients, with all bits
    if (byte_of(payload, at) != 0 || byte_of(payload, at + 1) != 63 ||
        byte_of(payload, at + 2) != 0)
      return false;
    return count == 1 || is_ycbcr();
  }

  // As libjpeg-turbo guesses the colour space.
  bool is_ycbcr() const {
    if (has_jfif_) return true;
    if (has_adobe_) return adobe_transform_ == 1;
    return ids_ != std::array<uint8_t, kMaxComponents>{'R', 'G', 'B'};
  }

  // Whether libjpeg-turbo accepts the code: no code of only ones, and no larger symbol.
  static bool is_code(const HuffmanCode& code, int most) {
    if (!code.is_defined) return false;
    int next = 0;
    size_t count = 0;
    for (int bits = 1; bits <= 16; ++bits) {
      const int codes = code.counts[static_cast<size_t>(bits - 1)];
      next += codes;
      count += static_cast<size_t>(codes);
      if (codes > 0 && next >= 1 << bits) return false;
      next <<= 1;
    }
    return std::all_of(code.symbols.begin(),
                       code.symbols.begin() + static_cast<std::ptrdiff_t>(count),
                       [&](uint8_t symbol) { return symbol <= most; });
  }

  Bytes bytes_;
  BaselineHeader& header_;
  std::array<uint8_t, kMaxComponents> ids_{};
  std::array<bool, kTables> has_quantizers_{};
  bool has_jfif_ = false;
  bool has_adobe_ = false;
  int adobe_transform_ = 0;
};

}  // namespace

bool read_baseline_header(Bytes encoded, BaselineHeader& header) {
  return HeaderReader(encoded, header).read();
}

}  // namespace fuelrail::jpeg
