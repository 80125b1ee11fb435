// The bytes of small .npy files, for tests (docs/formats/npy.md).
#pragma once

#include <cstring>
#include <string>
#include <vector>

namespace fuelrail::testing {

// `descr`: NumPy's name of the type Number, "|u1"; `shape`: as Python writes it, "(2, 3)".
template <typename Number>
std::string npy_text(const std::string& descr, const std::string& shape,
                     const std::vector<Number>& numbers) {
  std::string header =
      "{'descr': '" + descr + "', 'fortran_order': False, 'shape': " + shape + ", }";
  header.append(63 - (10 + header.size()) % 64, ' ').append("\n");
  std::string text("\x93NUMPY\x01\x00", 8);
  text.push_back(static_cast<char>(header.size() % 256));
  text.push_back(static_cast<char>(header.size() / 256));
  text += header;
  const size_t begin = text.size();
  text.resize(begin + numbers.size() * sizeof(Number));
  std::memcpy(text.data() + begin, numbers.data(), numbers.size() * sizeof(Number));
  return text;
}

}  // namespace fuelrail::testing
