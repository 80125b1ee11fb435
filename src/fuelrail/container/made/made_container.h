// A container whose records are made on demand.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "fuelrail/container/container.h"
#include "fuelrail/container/made/record_maker.h"

namespace fuelrail::made {

struct MadeRecords {
  uint64_t size = 0;
  Schema schema;
  std::map<std::string, std::vector<std::string>> classes;  // of label fields that have names
  std::string name;                                         // the path in errors
  std::string fingerprint;  // what identifies the content, as far as it is known
};

// Records are sample records (sample_record.h). Errors: those of SampleParser;
// InvalidArgumentError for class names of a field that is not a label.
std::shared_ptr<const Container> open_made(MadeRecords records,
                                           std::shared_ptr<const RecordMaker> maker);

}  // namespace fuelrail::made
