// Making the sidecar of a file anew, whatever its format.
#pragma once

#include <functional>
#include <string>

#include "fuelrail/base/listener.h"
#include "fuelrail/container/scan_progress.h"
#include "fuelrail/container/sidecar/sidecar_store.h"
#include "fuelrail/container/sidecar/sidecar_writer.h"

namespace fuelrail {

struct BuildSidecarOptions {
  // Reads the whole file: CRC-32 of every payload, for formats that have none themselves; those of
  // others (FFRecord) are verified, and used when records are read in any case.
  bool checksums = true;
  ScanProgress progress{};  // Default: never called.
  Warn warn{};
};

// Makes the sidecar of `uri` anew, and replaces the one it has; class names, and sections that
// cannot be rebuilt, are kept from that.
//
// Damage is not made the truth: with `checksums`, a record whose checksum is not the one that the
// old sidecar, or the file's own table, has of it is a CorruptError, and the old sidecar stays.
//
// Returns: where it was written. Errors: those of opening the file; UnsupportedError for what has
// no sidecar (a folder, a format that fuelrail does not read); CorruptError, too, when the file
// beside is not a sidecar of this file (it is never overwritten); StateError when the file or its
// sidecar has changed meanwhile; IoError when it can be written nowhere.
SidecarLocation build_sidecar(const std::string& uri, const BuildSidecarOptions& options = {});

// What each format has of its own in this. `make` holds the source and what `rules`
// refers to: keep them together.
struct SidecarRecipe {
  SidecarRules rules;
  std::function<SidecarWriter(const BuildSidecarOptions&)> make;
};

}  // namespace fuelrail
