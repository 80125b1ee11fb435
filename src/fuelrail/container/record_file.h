// A container that is one file of records with a sidecar: RecordIO, FFRecord. What is known besides
// the records, and where that lies: for `info`, `verify`, `cat`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fuelrail/base/bytes.h"
#include "fuelrail/container/container.h"
#include "fuelrail/container/sidecar/sidecar_store.h"

namespace fuelrail {

// What to do with a file that was cut.
inline constexpr const char* kRecover =
    "Restore the file; what is left of it, 'fuelrail recover IN OUT' writes to a new file";

class RecordFile : public Container {
 public:
  virtual const std::string& uri() const = 0;
  virtual const Sidecar& sidecar() const = 0;
  virtual const SidecarLocation& sidecar_location() const = 0;

  // What was written as the record, in the bytes of extent(i): no checksum is verified. Lifetime:
  // views `framed`, or `storage` where it could not be a view. Errors: those of the framing.
  virtual Bytes payload(uint64_t i, Bytes framed, std::vector<std::byte>& storage) const = 0;
};

}  // namespace fuelrail
