// Reads NumPy's `.npz`: a zip of `.npy` arrays, stored or deflated. Only for golden arrays: few
// properties are checked, and a wrong one throws std::runtime_error. A test that includes this
// links fuelrail_dep::deflate.
#pragma once

#include <libdeflate.h>

#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "fuelrail/base/endian.h"
#include "fuelrail/testing/temporary_directory.h"

namespace fuelrail::testing {

struct NpyArray {
  std::string type;  // NumPy's name without byte order: "f4", "u1", "i1"
  std::vector<int64_t> shape;
  std::vector<std::byte> bytes;

  size_t rows() const { return static_cast<size_t>(shape.at(0)); }
  size_t row_bytes() const { return bytes.size() / rows(); }
  const std::byte* row(size_t i) const { return bytes.data() + i * row_bytes(); }
};

// The header is a Python dictionary: {'descr': '<f4', 'fortran_order': False, 'shape': (12, 3), }
inline NpyArray parse_npy(const std::vector<std::byte>& file) {
  const auto header_bytes = size_t{load_le<uint16_t>(file.data() + 8)};
  const std::string header(reinterpret_cast<const char*>(file.data()) + 10, header_bytes);
  if (header.find("'fortran_order': False") == std::string::npos) {
    throw std::runtime_error("not an array in C order: " + header);
  }
  NpyArray array;
  array.type = header.substr(header.find("'descr': '") + 11, 2);
  size_t at = header.find('(') + 1;
  for (const size_t end = header.find(')'); at < end;) {
    size_t used = 0;
    array.shape.push_back(std::stoll(header.substr(at), &used));
    at += used;
    while (at < end && (header[at] == ',' || header[at] == ' ')) ++at;
  }
  array.bytes.assign(file.begin() + 10 + static_cast<std::ptrdiff_t>(header_bytes), file.end());
  return array;
}

inline std::map<std::string, NpyArray> read_npz(const std::string& path) {
  const std::string text = file_contents(path);
  const auto* bytes = reinterpret_cast<const std::byte*>(text.data());
  const std::unique_ptr<libdeflate_decompressor, void (*)(libdeflate_decompressor*)> inflater(
      libdeflate_alloc_decompressor(), libdeflate_free_decompressor);
  // The directory at the end of the file; the last 22 bytes have its place.
  const size_t end = text.size() - 22;
  if (load_le<uint32_t>(bytes + end) != 0x06054b50) throw std::runtime_error("no zip: " + path);
  std::map<std::string, NpyArray> arrays;
  size_t at = load_le<uint32_t>(bytes + end + 16);
  for (int left = load_le<uint16_t>(bytes + end + 10); left > 0; --left) {
    const auto method = load_le<uint16_t>(bytes + at + 10);
    const auto packed = size_t{load_le<uint32_t>(bytes + at + 20)};
    const auto size = size_t{load_le<uint32_t>(bytes + at + 24)};
    const auto name_bytes = size_t{load_le<uint16_t>(bytes + at + 28)};
    const std::byte* const local = bytes + load_le<uint32_t>(bytes + at + 42);
    const std::byte* const data =
        local + 30 + load_le<uint16_t>(local + 26) + load_le<uint16_t>(local + 28);
    const std::string name = text.substr(at + 46, name_bytes);
    std::vector<std::byte> file(size);
    if (method == 0) {
      std::memcpy(file.data(), data, size);
    } else if (libdeflate_deflate_decompress(inflater.get(), data, packed, file.data(), size,
                                             nullptr) != LIBDEFLATE_SUCCESS) {
      throw std::runtime_error("cannot inflate " + name + " of " + path);
    }
    arrays[name.substr(0, name.rfind(".npy"))] = parse_npy(file);
    at += 46 + name_bytes + load_le<uint16_t>(bytes + at + 30) + load_le<uint16_t>(bytes + at + 32);
  }
  return arrays;
}

}  // namespace fuelrail::testing
