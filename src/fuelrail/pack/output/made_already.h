// An output that is there already, held against what a job makes: image for image.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "fuelrail/base/bytes.h"
#include "fuelrail/base/listener.h"
#include "fuelrail/container/record_stream.h"
#include "fuelrail/container/sidecar/sidecar.h"

namespace fuelrail::pack {

// Threads: one at a time. Errors, of all methods: IoError that says that the output is there and
// what of it is not as the job makes it (part.h); IoError where it cannot be read; StateError when
// `keep_going` ends it.
class MadeAlready {
 public:
  // `classes`: those that the job gives.
  MadeAlready(std::string uri, const std::vector<std::string>& classes,
              const KeepGoing& keep_going);

  // The next record must have this payload, with the checksum `crc`, of the image of this path.
  // Returns: the bytes of the record in the file.
  uint64_t take(Bytes payload, uint32_t crc, const std::string& path);

  // No record may be left. Returns: what tells the file from others.
  FileIdentity finish();

  uint64_t records() const { return taken_; }

  [[noreturn]] void refuse(const std::string& found) const;

 private:
  std::string uri_;
  std::unique_ptr<RecordStream> stream_;
  uint64_t taken_ = 0;
};

}  // namespace fuelrail::pack
