// The keys of an index whose keys are whole numbers.
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

// One key per record. Errors: CorruptError; UnsupportedError unless the index has one entry per
// record, in record order, with a whole number below 2^64 as its key.
std::vector<uint64_t> keys_of(const RecordFile& file, const IndexText& index);

// The keys of an index that may be damaged or truncated, by the offsets of their records. Threads:
// one at a time.
class KeysByOffset {
 public:
  // No keys if the index does not exist. `warn` is called if it is damaged or has keys that are not
  // whole numbers.
  KeysByOffset(const std::string& uri, const Warn& warn);

  // The key of the record at `offset`. A record that the index does not have gets `wanted`; if
  // another record has that key, it gets the next unused key above all keys of the index.
  uint64_t at(uint64_t offset, uint64_t wanted);

 private:
  std::vector<std::pair<uint64_t, uint64_t>> keys_;
  std::set<uint64_t> taken_;  // filled when a record is not in the index
  uint64_t above_ = 0;
};

}  // namespace fuelrail::recordio
