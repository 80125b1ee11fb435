// A named part of the records of a file, such as "train", which the file itself stores.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace fuelrail {

struct RecordSplit {
  std::string name;
  std::vector<uint64_t> records;  // their numbers, in order
  friend bool operator==(const RecordSplit&, const RecordSplit&) = default;
};

}  // namespace fuelrail
