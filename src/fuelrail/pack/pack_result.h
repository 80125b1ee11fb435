// What packing, converting, merging and recovering tell their caller, and what the last three,
// which copy records, are told.
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

struct CopyOptions {
  bool overwrite = false;  // replace an output that exists; otherwise it is an error

  // As PackOptions has them; what is counted is records, of `recover` bytes read: a file may be
  // read twice.
  std::function<bool(const PackProgress&)> progress{};
  KeepGoing keep_going{};  // asked while a source is scanned
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
