// Reads the bits of a NAL unit (ITU-T H.265, section 7.3.1.1 and chapter 9).
#pragma once

#include <cstdint>

#include "fuelrail/base/bytes.h"
#include "fuelrail/base/error.h"

namespace fuelrail::hevc {

// Reads from the highest bit of each byte on. Skips emulation prevention bytes: the 3 in each
// 00 00 03. Errors of each function: DecodeError if the bits end.
class BitReader {
 public:
  // Lifetime: the bytes outlive the reader.
  explicit BitReader(Bytes bytes) : bytes_(bytes) {}

  // u(n). Requires: n <= 32.
  uint32_t bits(int n) {
    uint32_t value = 0;
    for (int i = 0; i < n; ++i) value = value << 1 | bit();
    return value;
  }

  bool flag() { return bit() != 0; }

  void skip(int n) {
    for (int i = 0; i < n; ++i) bit();
  }

  // ue(v), at most `most`.
  uint32_t unsigned_golomb(uint32_t most) {
    int zeros = 0;
    while (bit() == 0) {
      if (++zeros > 32) refuse();
    }
    const uint64_t value = (uint64_t{1} << zeros) - 1 + (zeros == 0 ? 0 : bits(zeros));
    if (value > most) refuse();
    return static_cast<uint32_t>(value);
  }

  // se(v); its value is not needed.
  void skip_signed_golomb() { unsigned_golomb(UINT32_MAX); }

 private:
  [[noreturn]] static void refuse() {
    throw DecodeError("the image's parameter sets are damaged",
                      {.expected = "valid values up to the end"});
  }

  uint32_t bit() {
    if (left_ == 0) {
      if (zeros_ >= 2 && at_ < bytes_.size() && bytes_[at_] == std::byte{3}) {
        ++at_;
        zeros_ = 0;
      }
      if (at_ == bytes_.size()) refuse();
      current_ = std::to_integer<uint32_t>(bytes_[at_++]);
      zeros_ = current_ == 0 ? zeros_ + 1 : 0;
      left_ = 8;
    }
    return current_ >> --left_ & 1;
  }

  Bytes bytes_;
  size_t at_ = 0;
  int zeros_ = 0;  // bytes of 0 just read
  int left_ = 0;   // bits of `current_`
  uint32_t current_ = 0;
};

}  // namespace fuelrail::hevc
