// Reads the keys of an index as whole numbers.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "fuelrail/base/listener.h"
#include "fuelrail/container/record_file.h"
#include "fuelrail/container/recordio/index_file.h"

namespace fuelrail::recordio {

// Returns the key of each record. Errors: CorruptError for an invalid index; UnsupportedError
// unless the index has one entry per record, in record order, with a whole number below 2^64 as its
// key.
std::vector<uint64_t> keys_of(const RecordFile& file, const IndexText& index);

// Finds the key of a record by the record's offset, in an index that may be damaged or truncated.
// Threads: one at a time.
class KeysByOffset {
 public:
  // Reads the index `uri`. If the index does not exist, there are no keys. If it is damaged or has
  // a key that is not a whole number, calls `warn` and uses none of its keys.
  KeysByOffset(const std::string& uri, const Warn& warn);

  // The key of the record at `offset`. A record that is not in the index gets the key `wanted` or,
  // if a different record has that key, the next unused key above all keys of the index.
  uint64_t at(uint64_t offset, uint64_t wanted);

 private:
  std::vector<std::pair<uint64_t, uint64_t>> keys_;
  std::set<uint64_t> taken_;  // filled when a record is not in the index
  uint64_t above_ = 0;
};

}  // namespace fuelrail::recordio
