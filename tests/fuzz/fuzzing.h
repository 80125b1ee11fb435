// Shared by all fuzz targets. A target is one file, x_fuzzer.cc, that feeds libFuzzer's bytes to
// one parser and checks the parser's contract. tests/fuzz/CMakeLists.txt lists all targets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "fuelrail/base/bytes.h"
#include "fuelrail/base/error.h"

namespace fuelrail::fuzzing {

// libFuzzer allocates exactly `size` bytes, so a sanitizer detects reads beyond them.
inline Bytes as_bytes(const uint8_t* data, size_t size) {
  return {reinterpret_cast<const std::byte*>(data), size};
}

inline std::vector<std::byte> copied(Bytes bytes) { return {bytes.begin(), bytes.end()}; }

// Ends the process if a promise is broken; libFuzzer then keeps the input.
inline void require(bool holds, const char* promise) {
  if (holds) return;
  std::fprintf(stderr, "broken promise: %s\n", promise);
  std::abort();
}

// Whether `parse` completed. An Error is an acceptable result; any other exception is a bug.
template <typename Parse>
bool succeeds(Parse parse) {
  try {
    parse();
    return true;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace fuelrail::fuzzing
