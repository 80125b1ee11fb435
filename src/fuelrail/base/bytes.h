// Views of bytes. Neither view owns anything: whoever hands one out says how long it lives.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace fuelrail {

using Bytes = std::span<const std::byte>;
using MutableBytes = std::span<std::byte>;

// The same bytes as text, and back. Lifetime: the argument's.
inline std::string_view as_text(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}
inline Bytes as_bytes(std::string_view text) {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}

}  // namespace fuelrail
