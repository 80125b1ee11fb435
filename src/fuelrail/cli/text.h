// Numbers as people read them, and the small texts that options are made of.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fuelrail/pack/pack_options.h"

namespace fuelrail::cli {

std::string grouped(uint64_t number);     // 1,234,567
std::string human_bytes(uint64_t bytes);  // "812 bytes", "1.4 MB" (powers of 1,000)
std::string clock_time(double seconds);   // "0:07", "12:34", "1:02:03"
std::string counted(uint64_t number, std::string_view thing);  // "1 record", "1,234 records"

// "packed 1,234 of 2,000 images (62 %), 310/s, 0:02 left", after so many seconds. `things`: "bytes"
// are shown as such. Requires: total > 0.
std::string progress_line(std::string_view verb, std::string_view things, uint64_t done,
                          uint64_t total, double seconds);

// Help with what the table of formats says: ".{1}" and ".{2}" become the extensions of the first
// two formats that are written (twice the same where there is one; at least one there is), ".{s}"
// and "{schema}" those of one with a schema; "{written}",
// "{copied}", "{recovered}", "{indexed}" those of all that are; "{known}" and "{schemas}" what is
// opened. "{existing}": what is done where the output exists.
std::string with_formats(std::string help);

// "train=.9,val=.1". Errors: InvalidArgumentError.
std::vector<std::pair<std::string, double>> parse_split(std::string_view text);

// "12" images, or "1.5%" of them. Errors: InvalidArgumentError.
Allowance parse_allowance(std::string_view text);

// Records [begin, end).
struct RecordRange {
  uint64_t begin = 0;
  uint64_t end = 0;
};
// "7", "-1", "5:10", ":10", "-3:", as Python's indices and slices: a negative number counts from
// the end, a range is cut to what there is. Errors: InvalidArgumentError; OutOfRangeError for one
// record that is not there.
RecordRange parse_range(std::string_view text, uint64_t records);

}  // namespace fuelrail::cli
