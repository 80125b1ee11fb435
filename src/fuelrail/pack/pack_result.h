// What packing, converting, merging and recovering are told, and what they tell their caller.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "fuelrail/base/listener.h"

namespace fuelrail::pack {

struct PackProgress {
  uint64_t done = 0;  // images, also those left out
  uint64_t total = 0;
  uint64_t bytes = 0;  // written
  double seconds = 0;
};

struct JobOptions {
  // Replace an output that exists, and what goes with it (output/part.h); otherwise it is an error.
  bool overwrite = false;

  // Called from the calling thread, at most ten times a second and at the end. Counts images,
  // records, or, of `recover`, bytes read: a file may be read twice. Returns false to stop: the job
  // then ends with a StateError "interrupted" and leaves no file.
  std::function<bool(const PackProgress&)> progress{};

  KeepGoing
      keep_going{};  // asked while a source is listed or scanned, before there is any progress

  // Of what a source has beside its records: names in a folder that begin with a dot, files that
  // are not images, ids that a list has twice.
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
    bool was_there = false;  // made by an earlier run, which `resume` has found
  };
  std::vector<File> files;            // in the order of the parts
  std::vector<PackFailure> failures;  // folders, then images left out, in the source's order
  uint64_t unassigned = 0;            // images that no part of this run takes
  std::string report;                 // path of the report file; empty without failures
};

}  // namespace fuelrail::pack
