// Re-codes progressive JPEGs as baseline JPEGs, which are decoded faster, without any loss.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "fuelrail/base/bytes.h"
#include "fuelrail/decode/decoder.h"
#include "fuelrail/transform/pixel_buffer.h"

namespace fuelrail::pack {

// Threads: one recoder for each thread; it keeps its working memory between calls.
class BaselineRecoder {
 public:
  // Returns: the image as baseline JPEG (encode/baseline_jpeg.h), a view that is valid until the
  // next call. Its coefficients, and the pixels that the loader will decode, were compared with
  // those of `encoded`. Empty if the image must be stored as it is: it is no progressive JPEG, is
  // damaged or has oddities (Decoder::decode), or would lose anything. Errors: std::bad_alloc.
  Bytes recode(Bytes encoded);

 private:
  // Returns: no pixels if the image has oddities. Errors: those of `probe` and of decoding.
  ConstImageView decode(Bytes encoded, PixelBuffer& pixels);

  const std::unique_ptr<Decoder> decoder_ = make_decoder();
  PixelBuffer before_;
  PixelBuffer after_;
  std::vector<std::byte> recoded_;
};

}  // namespace fuelrail::pack
