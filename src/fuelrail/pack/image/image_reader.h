// From images of a source to the payloads of records.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "fuelrail/base/error.h"
#include "fuelrail/pack/image/image_pipeline.h"
#include "fuelrail/pack/source/pack_source.h"

namespace fuelrail::pack {

struct PackedImage {
  std::vector<std::byte> payload;
  uint32_t crc = 0;
  std::string failure;  // why there is no payload; empty on success
};

// The error's message without the place, which the report says by itself.
std::string reason_of(const Error& error);

// Makes the record of an image with these encoded bytes: `payload` is appended to, `crc` is its
// checksum. Requires: the payload is empty. Errors: UnsupportedError for one too long for a record.
void fill_payload(const SourceImage& image, Bytes encoded, PackedImage& out);

// Threads: one reader a thread; it keeps its working memory between calls.
class ImageReader {
 public:
  // `first_label_only`: as PackOptions has it. Requires: check(steps) has passed. Lifetime:
  // `source` and `steps` outlive the reader.
  ImageReader(const PackSource& source, const ImageSteps& steps, bool first_label_only);

  // Never throws for what is wrong with this one image: the result says it. Requires: i <
  // source.size(). Errors: StepsError, and StateError where this machine cannot decode the format,
  // with the image's path.
  PackedImage read(uint64_t i);

 private:
  const PackSource& source_;
  bool first_label_only_;
  ImagePipeline pipeline_;
  SourceImage image_;
};

}  // namespace fuelrail::pack
