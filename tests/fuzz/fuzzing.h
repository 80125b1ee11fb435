// What fuzz targets share. A target is one file, x_fuzzer.cc, that feeds libFuzzer's bytes to one
// parser and checks what the parser promises; tests/fuzz/CMakeLists.txt lists them all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "fuelrail/base/bytes.h"
#include "fuelrail/base/error.h"

namespace fuelrail::fuzzing {

// libFuzzer's bytes lie in memory of exactly their size: a sanitizer sees what is read behind them.
inline Bytes as_bytes(const uint8_t* data, size_t size) {
  return {reinterpret_cast<const std::byte*>(data), size};
}

inline std::vector<std::byte> copied(Bytes bytes) { return {bytes.begin(), bytes.end()}; }

// A promise that was broken ends the process, and libFuzzer keeps the input.
inline void require(bool holds, const char* promise) {
  if (holds) return;
  std::fprintf(stderr, "broken promise: %s\n", promise);
  std::abort();
}

// Whether `parse` came to its end. An Error is an answer, too; any other exception is a finding.
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
