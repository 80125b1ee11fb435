// The rules for the fields of sample records (docs/formats/frs1.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "fuelrail/container/sample.h"

namespace fuelrail {

inline constexpr size_t kMaxFields = 4096;
inline constexpr size_t kMaxFieldNameBytes = 255;
inline constexpr size_t kMaxDimensions = 8;

// The longest value: no extents of a tensor, not even those of an empty one, may imply more bytes.
inline constexpr int64_t kMaxValueBytes = int64_t{1} << 31;

// Checks names, kinds, roles, flags and relations. Errors: InvalidArgumentError, which names the
// field and says what is allowed.
void check_fields(const Schema& schema);

// The number of bytes of a tensor with this shape, for which 0 and -1 count as 1; empty if it is
// more than kMaxValueBytes. Requires: no extent is below -1.
std::optional<int64_t> bounded_bytes(const std::vector<int64_t>& shape, DType dtype);

}  // namespace fuelrail
