// Where the records of an index begin, in the files laid end to end.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fuelrail/split/split_files.h"

namespace fuelrail::split {

// Sorted; the keys do not matter. Upstream reads what it can of an index and loses records; this
// wants one that belongs to the data, though it may leave records out: they are read with the one
// before them. Errors: CorruptError for an index of other data (empty, not from the first byte on,
// an offset twice or behind the end), and those of recordio::parse_index; the source's.
std::vector<uint64_t> read_split_index(const std::string& uri, const SplitFiles& files);

}  // namespace fuelrail::split
