// The keys that an index gives the records of its file, where they are whole numbers.
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

// One a record. Errors: CorruptError; UnsupportedError unless the index has one entry a record, in
// their order, with a whole number below 2^64 as key.
std::vector<uint64_t> keys_of(const RecordFile& file, const IndexText& index);

// The keys of an index that may be damaged or cut, by the offsets of their records. Threads: one at
// a time.
class KeysByOffset {
 public:
  // Nothing where there is no such index. `warn` hears of one that is damaged, or has other keys.
  KeysByOffset(const std::string& uri, const Warn& warn);

  // `wanted`: the key of a record that the index does not name; where that is another's, one above
  // all of the index that no record has.
  uint64_t at(uint64_t offset, uint64_t wanted);

 private:
  std::vector<std::pair<uint64_t, uint64_t>> keys_;
  std::set<uint64_t> taken_;  // once a record is not in the index
  uint64_t above_ = 0;
};

}  // namespace fuelrail::recordio
