// Views of bytes. Neither view owns its bytes: the function that returns one states its lifetime.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace fuelrail {

using Bytes = std::span<const std::byte>;
using MutableBytes = std::span<std::byte>;

// `as_text` views bytes as text, `as_bytes` views text as bytes. Lifetime: the argument's.
inline std::string_view as_text(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}
inline Bytes as_bytes(std::string_view text) {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}

inline void append_bytes(std::vector<std::byte>& out, Bytes bytes) {
  out.insert(out.end(), bytes.begin(), bytes.end());
}

}  // namespace fuelrail
