// An FFRecord file as a container: for the engine, `info`, `verify` and everything else that knows
// containers only.
#pragma once

#include <memory>
#include <string>

#include "fuelrail/container/container.h"
#include "fuelrail/container/ffrecord/record_table.h"
#include "fuelrail/container/open.h"
#include "fuelrail/container/sidecar_store.h"

namespace fuelrail::ffrecord {

// Schema: as a RecordIO file's (container/image_record.h), {image; label} where the records begin
// with MXNet's image header, so that an image record is byte for byte the payload of a `.rec`
// record; {data: bytes} where they do not. What they are the sidecar says; without one, the heads
// of all records are looked at once, and a sidecar is left behind, as `open_recordio` does.
//
// The file has offsets and checksums itself: the sidecar has no record table and no checksums, only
// what the labels are, class names, and the keys of a `.idx` that the records came from.
class FfrecordContainer : public Container {
 public:
  virtual const RecordTable& table() const = 0;
  virtual const Sidecar& sidecar() const = 0;
  virtual const SidecarLocation& sidecar_location() const = 0;
};

// Errors: NotFoundError, IoError; those of RecordTable::read; StateError when `keep_going` says so,
// with nothing written.
std::shared_ptr<const FfrecordContainer> open_ffrecord(const std::string& uri,
                                                       const OpenOptions& options = {});

}  // namespace fuelrail::ffrecord
