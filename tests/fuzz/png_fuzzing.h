// Chunks of PNGs that may be damaged.
#pragma once

#include <vector>

#include "fuelrail/base/crc32.h"
#include "fuelrail/decode/png/png_chunks.h"

namespace fuelrail::fuzzing {

inline void store_be32(std::byte* at, uint32_t value) {
  for (int i = 0; i < 4; ++i) at[i] = static_cast<std::byte>(value >> (24 - 8 * i));
}

// Corrects the checksums of whole chunks.
inline void mend_checksums(std::vector<std::byte>& png) {
  if (png.size() < png::kSignatureBytes) return;
  png::Chunks chunks(png);
  while (const auto chunk = chunks.next()) {
    const auto end =
        static_cast<size_t>(chunk->checked.data() - png.data()) + chunk->checked.size();
    store_be32(png.data() + end, crc32(chunk->checked));
  }
}

}  // namespace fuelrail::fuzzing
