// Rebuilds the sidecar of a file of any format.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "fuelrail/base/listener.h"
#include "fuelrail/container/hint_workers.h"
#include "fuelrail/container/scan_progress.h"
#include "fuelrail/container/sidecar/sidecar_store.h"
#include "fuelrail/container/sidecar/sidecar_writer.h"

namespace fuelrail {

struct BuildSidecarOptions {
  // Whether to read the whole file for checksums. For a format without its own checksums, the
  // CRC-32 of every payload goes into the sidecar. For a format with checksums (FFRecord), they are
  // verified here; reading a record always uses them.
  bool checksums = true;
  // Hints for the images of records that have exactly one. They need `checksums`, and a format
  // whose records are plain bytes (RecordIO, FFRecord). Default: the sidecar has none.
  HintOptions hints{};
  ScanProgress progress{};  // Default: no reports.
  Warn warn{};
};

struct BuiltSidecar {
  SidecarLocation location;
  uint64_t records = 0;
  uint64_t hinted_records = 0;
};

// Builds the sidecar of `uri` again and replaces the old one. Sections that cannot be rebuilt, such
// as class names, are copied from the old sidecar.
//
// With `checksums`, damage is never recorded as correct: if a record's checksum differs from the
// one in the old sidecar or in the file's own table, a CorruptError is thrown and the old sidecar
// is kept.
//
// Errors: those of opening the file; UnsupportedError if `uri` cannot have a sidecar (a folder, a
// format that fuelrail does not read); CorruptError as described above, and if X.frx is not a
// sidecar of this file (it is never overwritten); StateError if the file or its sidecar changes
// during the call; IoError if the sidecar cannot be written anywhere.
BuiltSidecar build_sidecar(const std::string& uri, const BuildSidecarOptions& options = {});

// The part of `build_sidecar` that depends on the format. `make` owns the source and the objects
// that `rules` refers to, so keep `make` while `rules` is in use.
struct SidecarRecipe {
  SidecarRules rules;
  bool file_has_checksums = false;  // `make` verifies those if it reads the records
  std::function<SidecarWriter(const BuildSidecarOptions&)> make;
};

}  // namespace fuelrail
