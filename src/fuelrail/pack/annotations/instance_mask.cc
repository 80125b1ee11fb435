#include "fuelrail/pack/annotations/instance_mask.h"

namespace fuelrail::pack {

void InstanceMask::reset(Size image) {
  image_ = image;
  overlapped_ = 0;
  numbers_.assign(static_cast<size_t>(image.height * image.width), 0);
}

void InstanceMask::paint(const RunLengths& object, uint16_t number) {
  size_t begin = 0;
  for (size_t i = 0; i < object.size(); ++i) {
    const size_t end = begin + object[i];
    const bool is_inside = i % 2 == 1;
    for (size_t at = begin; is_inside && at < end; ++at) {
      if (numbers_[at] != 0 && numbers_[at] != number) ++overlapped_;
      numbers_[at] = number;
    }
    begin = end;
  }
}

void InstanceMask::copy_to(std::vector<std::byte>& pixels, size_t pixel_bytes) const {
  const auto height = static_cast<size_t>(image_.height);
  const auto width = static_cast<size_t>(image_.width);
  pixels.resize(numbers_.size() * pixel_bytes);
  for (size_t y = 0; y < height; ++y) {
    std::byte* row = pixels.data() + y * width * pixel_bytes;
    for (size_t x = 0; x < width; ++x) {
      const uint16_t number = numbers_[x * height + y];
      for (size_t byte = 0; byte < pixel_bytes; ++byte) {
        row[x * pixel_bytes + byte] = static_cast<std::byte>(number >> (8 * byte) & 255);
      }
    }
  }
}

}  // namespace fuelrail::pack
