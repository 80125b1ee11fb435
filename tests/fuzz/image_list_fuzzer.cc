// The list of images that `fuelrail pack` reads (`.lst`).
#include <cmath>
#include <string_view>

#include "fuelrail/pack/image_list.h"
#include "fuzzing.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace fuelrail;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  std::vector<ListedImage> images;
  if (!fuzzing::succeeds([&] { images = parse_image_list(text, "fuzzed.lst", "root"); })) return 0;
  uint64_t line = 0;
  for (const ListedImage& image : images) {
    fuzzing::require(image.line > line, "lines count up");
    fuzzing::require(!image.path.empty(), "an image has a path");
    fuzzing::require(!image.labels.empty(), "an image has a label");
    for (const float label : image.labels) {
      fuzzing::require(std::isfinite(label), "labels are finite");
    }
    line = image.line;
  }
  repeated_ids(images);
  return 0;
}
