// Compares an existing output with the result of a job, image by image.
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

// Threads: one at a time. Errors of all methods: IoError if the output differs, naming the
// difference (part.h), or cannot be read; StateError if `keep_going` returns false.
class MadeAlready {
 public:
  // `classes`: the job's class names.
  MadeAlready(std::string uri, const std::vector<std::string>& classes,
              const KeepGoing& keep_going);

  // Compares the next record with this payload, its checksum `crc`, and the image's path. Returns:
  // the bytes of the record in the file.
  uint64_t take(Bytes payload, uint32_t crc, const std::string& path);

  // Checks that no record is left. Returns: the file's identity.
  FileIdentity finish();

  uint64_t records() const { return taken_; }

  [[noreturn]] void refuse(const std::string& found) const;

 private:
  std::string uri_;
  std::unique_ptr<RecordStream> stream_;
  uint64_t taken_ = 0;
};

}  // namespace fuelrail::pack
