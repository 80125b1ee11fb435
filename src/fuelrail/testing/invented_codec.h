// An image format that only a container's record names: RGB bytes row by row, each XORed with the
// first byte of the codec's parameters, and with the first byte of the hints if there are any.
#pragma once

#include <exception>
#include <memory>
#include <span>

#include "fuelrail/base/error.h"
#include "fuelrail/decode/formats.h"

namespace fuelrail::testing {

inline constexpr ImageFormat kInventedFormat{"invented", "Invented"};

// Depends only on base, because it is also built as a separate library.
class InventedDecoder final : public Decoder {
 public:
  void decode(std::span<DecodeJob> jobs) override {
    for (DecodeJob& job : jobs) job.error = decode_one(job);
  }

 private:
  static std::exception_ptr decode_one(const DecodeJob& job) {
    const Bytes bytes = job.encoded.bytes;
    const ImageCodec* const codec = job.encoded.codec;
    const Bytes hints = job.encoded.hints;
    const std::byte key = codec->parameters[0] ^ (hints.empty() ? std::byte{0} : hints[0]);
    const int64_t row_bytes = codec->coded.width * 3;
    if (bytes.size() < static_cast<size_t>(codec->coded.height * row_bytes)) {
      return std::make_exception_ptr(TruncatedError("the invented image is cut"));
    }
    for (int64_t y = 0; y < job.box.height; ++y) {
      for (int64_t x = 0; x < job.box.width * 3; ++x) {
        const int64_t at = (job.box.top + y) * row_bytes + job.box.left * 3 + x;
        job.output.row(y)[x] = std::to_integer<uint8_t>(bytes[static_cast<size_t>(at)] ^ key);
      }
    }
    return nullptr;
  }
};

inline std::unique_ptr<Decoder> make_invented_decoder() {
  return std::make_unique<InventedDecoder>();
}
inline constexpr Decoding kInventedDecoding{&kInventedFormat, nullptr, make_invented_decoder};

}  // namespace fuelrail::testing
