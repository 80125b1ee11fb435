// Formats numbers for people, and parses the values of options.
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

// "read 1,234 of 2,000 images (62 %), 310/s, 0:02 left". If `things` is "bytes", amounts are
// shown as "1.4 MB". `total`: 0 if it is unknown: "read 1,234 images, 310/s". `seconds`: the time
// since the start.
std::string progress_line(std::string_view verb, std::string_view things, uint64_t done,
                          uint64_t total, double seconds);

// Replaces placeholders in a help text, mostly with values from the table of formats. ".{1}" and
// ".{2}": the extensions of the first two formats that can be written (if there is only one, its
// extension twice); ".{s}" and "{schema}": extension and schema of a format that has a schema;
// "{stills}": that of the format whose records are nested files. "{written}", "{copied}",
// "{recovered}", "{indexed}": the extensions of all formats that can be written, copied, recovered
// or indexed; "{known}": everything that can be opened; "{schemas}": all schemas with their
// meanings; "{existing}": the text about an existing output. Requires: at least one format can be
// written.
std::string with_formats(std::string help);

// Parses "train=.9,val=.1". Errors: InvalidArgumentError.
std::vector<std::pair<std::string, double>> parse_split(std::string_view text);

// Parses "12" (images) or "1.5%" (of the images). Errors: InvalidArgumentError.
Allowance parse_allowance(std::string_view text);

// The records [begin, end).
struct RecordRange {
  uint64_t begin = 0;
  uint64_t end = 0;
};
// Parses "7", "-1", "5:10", ":10" or "-3:" like Python's indices and slices: a negative number
// counts from the end, and a range is clipped to [0, records). `dataset`: its name, for the error.
// Errors: InvalidArgumentError; OutOfRangeError for the number of a record that does not exist.
RecordRange parse_range(std::string_view text, uint64_t records, std::string_view dataset);

}  // namespace fuelrail::cli
