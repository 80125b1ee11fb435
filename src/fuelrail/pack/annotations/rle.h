// COCO's run lengths: one object's pixels, column by column from the left, each from the top. The
// lengths alternate between runs outside and inside the object, beginning outside (the first may be
// 0); their sum is the number of the image's pixels.
//
//   height 2, width 3     .##     the columns: . .  # #  # .
//                         .#.     run lengths: 2 3 1
//
// An annotation file has them as a list of numbers or compressed into a string: of the numbers from
// the fourth on, the difference from the number two places before; each number in groups of 5 bits,
// lowest first, one character a group: 48 + the bits, + 32 if another group of the number follows.
// The highest bit of the last group is the sign of all higher bits. Source: pycocotools 2.0.11,
// common/maskApi.c (rleFrString, rleDecode).
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "fuelrail/base/box.h"

namespace fuelrail::pack {

using RunLengths = std::vector<uint32_t>;

// The numbers of a compressed string. Errors: CorruptError for a character that is not in such
// strings, for a string that ends inside a number, and for a number outside 0 to 2^32 - 1.
RunLengths parse_run_lengths(std::string_view compressed);

// Errors: CorruptError unless the sum of the lengths is the number of pixels.
void check_run_lengths(const RunLengths& lengths, Size image);

}  // namespace fuelrail::pack
