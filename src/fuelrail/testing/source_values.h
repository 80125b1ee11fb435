// The values of samples that are to be packed, for tests.
#pragma once

#include <cstddef>
#include <cstring>
#include <string>
#include <vector>

#include "fuelrail/base/bytes.h"
#include "fuelrail/encode/png_encoder.h"
#include "fuelrail/pack/source/sample_source.h"
#include "fuelrail/testing/temporary_directory.h"

namespace fuelrail::testing {

// A grey PNG with all pixels of one level.
inline void write_png(const std::string& path, Size size, uint8_t level = 0) {
  const std::vector<uint8_t> pixels(static_cast<size_t>(size.height * size.width), level);
  std::vector<std::byte> png;
  encode_png({pixels.data(), size.height, size.width, 1, size.width}, kDefaultPngLevel, png);
  write_file(path, as_text(png));
}

// The value of a field, by its name.
inline const pack::SourceValue& value_of(const pack::SampleSource& source,
                                         const pack::SourceSample& sample,
                                         const std::string& field) {
  return sample.fields.at(source.schema().index_of(field));
}

// The elements of a tensor.
template <typename T>
std::vector<T> elements_of(const pack::SourceValue& value) {
  std::vector<T> elements(value.bytes.size() / sizeof(T));
  std::memcpy(elements.data(), value.bytes.data(), value.bytes.size());
  return elements;
}

inline std::string text_of(const std::vector<std::byte>& bytes) {
  return std::string(as_text(bytes));
}

}  // namespace fuelrail::testing
