// Rebuilds the sidecar of a file of any format.
#pragma once

#include <functional>
#include <string>

#include "fuelrail/base/listener.h"
#include "fuelrail/container/scan_progress.h"
#include "fuelrail/container/sidecar/sidecar_store.h"
#include "fuelrail/container/sidecar/sidecar_writer.h"

namespace fuelrail {

struct BuildSidecarOptions {
  // Reads the whole file. If the format stores no checksums, the CRC-32 of every payload goes into
  // the sidecar. If it does (FFRecord), its checksums are verified here; reading a record always
  // uses them.
  bool checksums = true;
  ScanProgress progress{};  // Default: never called.
  Warn warn{};
};

// Rebuilds the sidecar of `uri` and replaces the existing one. Class names, and sections that
// cannot be rebuilt, are copied from the old sidecar.
//
// With `checksums`, a damaged record is not accepted as correct: if a record's checksum differs
// from the one in the old sidecar or in the file's own table, a CorruptError is thrown and the old
// sidecar stays.
//
// Returns: where the sidecar was written. Errors: those of opening the file; UnsupportedError for
// anything without a sidecar (a folder, a format that fuelrail does not read); CorruptError also
// when the file named X.frx is not a sidecar of this file (that file is never overwritten);
// StateError when the file or its sidecar changes meanwhile; IoError when the sidecar cannot be
// written anywhere.
SidecarLocation build_sidecar(const std::string& uri, const BuildSidecarOptions& options = {});

// The part of `build_sidecar` that depends on the format. `make` owns the source and the objects
// that `rules` refers to, so keep the two together.
struct SidecarRecipe {
  SidecarRules rules;
  std::function<SidecarWriter(const BuildSidecarOptions&)> make;
};

}  // namespace fuelrail
