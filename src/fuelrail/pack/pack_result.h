// Options and results that are common to packing, converting, merging and recovering.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "fuelrail/base/listener.h"

namespace fuelrail::pack {

struct PackProgress {
  uint64_t done = 0;  // images (including skipped ones), records or bytes read
  uint64_t total = 0;
  uint64_t bytes = 0;  // bytes written
  double seconds = 0;
};

struct JobOptions {
  // Whether to replace an existing output and its companions (output/part.h). If false, an existing
  // output is an error.
  bool overwrite = false;

  // Called on the calling thread, at most ten times a second and at the end. Counts images in
  // `pack`, records in `convert` and `merge`, and bytes read in `recover`, which may read a file
  // twice. If it returns false, the job ends with a StateError "the work was interrupted" and
  // leaves no file.
  std::function<bool(const PackProgress&)> progress{};

  // Called while a source is listed or scanned, before any progress is reported.
  KeepGoing keep_going{};

  // Receives warnings about the source: names in a folder that begin with a dot, files that are not
  // images, ids that repeat in a list.
  Warn warn{};
};

struct PackFailure {
  std::string path;
  std::string reason;
};

struct PackResult {
  struct File {
    std::string path;
    uint64_t records = 0;
    uint64_t bytes = 0;
    bool was_there = false;  // an earlier run made the file, and `resume` kept it
  };
  std::vector<File> files;            // in the order of the parts
  std::vector<PackFailure> failures;  // unreadable folders, then skipped images, in source order
  uint64_t unassigned = 0;            // images that the split assigns to no part
  // Progressive JPEGs that this run stored as baseline (StoredImages::baseline); without those that
  // an earlier run packed, which `resume` does not read again.
  uint64_t recoded = 0;
  std::string report;  // path of the report file; empty if nothing failed
};

}  // namespace fuelrail::pack
