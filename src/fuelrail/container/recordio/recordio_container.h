// A RecordIO file as a container. Its record table comes from the sidecar, else from scanning the
// heads of all records; an `.idx` beside the file is not read (docs/formats/recordio.md).
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "fuelrail/container/container.h"
#include "fuelrail/container/open.h"
#include "fuelrail/container/recordio/record_reader.h"
#include "fuelrail/container/sidecar_store.h"

namespace fuelrail::recordio {

// Schema: {image: image; label: tensor} where the payloads begin with MXNet's image header, {data:
// bytes} where they do not (at most half of the records can have one). A label is an int64 scalar
// when every record has one and all are whole numbers, a float32 scalar when one is not, else
// float32 [width], the width being -1 when it differs.
class RecordIoContainer : public Container {
 public:
  // What is known besides the file, and where that lies: for `info` and `verify`.
  virtual const Sidecar& sidecar() const = 0;
  virtual const SidecarLocation& sidecar_location() const = 0;
};

// Uses the sidecar of `uri`; without one, scans the file and leaves one behind (beside the file,
// else in the cache directory, else in memory with a warning). Two processes may do so at once.
// Errors: NotFoundError, IoError; TruncatedError for an empty file; CorruptError and TruncatedError
// where the scan meets damage; StateError when `keep_going` says so, with nothing written.
std::shared_ptr<const RecordIoContainer> open_recordio(const std::string& uri,
                                                       const OpenOptions& options = {});

// Opens what is readable of a damaged file: reads all of it, reports what it passes over, and keeps
// the table of the readable records in memory. No sidecar is written. Where the file has one with
// checksums (its size and both its ends being as they were), records that are not in that one's
// table are passed over too, and the payloads of all others are verified when they are read;
// without it nothing verifies them. Errors: NotFoundError, IoError; TruncatedError for an empty
// file; CorruptError when no record is readable; StateError.
std::shared_ptr<const RecordIoContainer> open_recordio_recovering(
    const std::string& uri, const std::function<void(const Damage&)>& report,
    const OpenOptions& options = {});

struct BuildSidecarOptions {
  bool checksums = true;  // CRC-32 of every payload: reads the whole file
  // Called at the begin, now and then, and at the end with the bytes of the file that are done;
  // returns false to stop with a StateError. Default: never called.
  std::function<bool(uint64_t done_bytes, uint64_t total_bytes)> progress{};
  std::function<void(const std::string&)> warn{};  // Default: said to nobody.
};

// Makes the sidecar of `uri` anew, and replaces the one it has; class names, and sections that
// cannot be rebuilt, are kept from that. Returns: where it was written. Errors: those of
// open_recordio; CorruptError when the file beside is not a sidecar of this file (it is never
// overwritten); StateError when the file or its sidecar has changed meanwhile; IoError when it can
// be written nowhere.
SidecarLocation build_sidecar(const std::string& uri, const BuildSidecarOptions& options = {});

}  // namespace fuelrail::recordio
