// Threads that make the hints of a file's images (EncodedImage::hints) while the file is read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "fuelrail/base/bytes.h"
#include "fuelrail/container/sidecar/sidecar_writer.h"

namespace fuelrail {

// Makes the hints of an encoded image.
using MakeHints = std::function<std::vector<std::byte>(Bytes encoded)>;

struct HintOptions {
  // Called once on each thread that makes hints: `hint_maker` of decode/decoder.h, which this
  // module does not know. Default: no hints are made.
  std::function<MakeHints()> maker{};
  int threads = 1;
};

// Threads: one at a time.
class HintWorkers {
 public:
  // Errors: IoError if the system cannot start any thread.
  explicit HintWorkers(const HintOptions& options);
  ~HintWorkers();
  HintWorkers& operator=(HintWorkers&&) = delete;

  // Adds a record that has just been read, whose payload has the CRC-32 `crc`. Copies its image, if
  // it has exactly one. Waits if too many images are not done. Requires: `record` is above those of
  // earlier calls. Errors: those of HintOptions::maker and of what it returns; bad_alloc.
  void add(uint64_t record, Bytes payload, uint32_t crc);

  // Waits for the remaining images. The result does not depend on the number of threads. Call once.
  // Errors: as for `add`.
  HintsBuilder finish();

 private:
  struct Work;
  void take_next();

  std::unique_ptr<Work> work_;  // null: no hints are made
  HintsBuilder made_;
};

}  // namespace fuelrail
