// A file being written. It has its final name only after `commit`: until then the bytes are in
// `<name>.partial` (docs/design.md, rule 8).
#pragma once

#include <cstdint>
#include <string>

#include "fuelrail/base/bytes.h"

namespace fuelrail {

// Destroyed without commit = aborted: what was written is removed. Threads: one at a time.
class Sink {
 public:
  virtual ~Sink() = default;
  Sink(const Sink&) = delete;
  Sink& operator=(const Sink&) = delete;

  virtual const std::string& uri() const = 0;

  // Appends. Errors: IoError (a full disk names itself and the bytes that were wanted).
  virtual void write(Bytes bytes) = 0;

  // Bytes appended so far.
  virtual uint64_t position() const = 0;

  // Flushes to the device and gives the file its final name, replacing what had it. Called at most
  // once; nothing may be written after it. Errors: IoError; the file then still has no final name.
  virtual void commit() = 0;

 protected:
  Sink() = default;
};

}  // namespace fuelrail
