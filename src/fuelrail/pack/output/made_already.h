// Compares an existing output with a job's result, image by image.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "fuelrail/base/bytes.h"
#include "fuelrail/base/listener.h"
#include "fuelrail/container/record_stream.h"
#include "fuelrail/container/sidecar/sidecar.h"
#include "fuelrail/pack/image/image_reader.h"
#include "fuelrail/pack/source/pack_source.h"

namespace fuelrail::pack {

// Threads: one at a time. Errors of all methods: IoError that names the difference, if the output
// differs; IoError if the output cannot be read; StateError if `keep_going` returns false.
class MadeAlready {
 public:
  // Compares the class names with those of the job's source.
  MadeAlready(std::string uri, const PackSource& source, const KeepGoing& keep_going);

  // Compares the next record with the one that the job makes of the image at `path`. Errors name
  // the path. Returns: the number of bytes that the record takes in the file.
  uint64_t take(const PackedImage& image, const std::string& path);

  // Checks that all records have been compared, and that the file has these splits. Returns: the
  // file's identity.
  FileIdentity finish(const std::vector<RecordSplit>& splits);

  uint64_t records() const { return taken_; }

  // Throws the IoError with this difference.
  [[noreturn]] void refuse(const std::string& found) const;

 private:
  std::string uri_;
  std::unique_ptr<RecordStream> stream_;
  uint64_t taken_ = 0;
};

}  // namespace fuelrail::pack
