// Names that begin with a dot (`.DS_Store`, `._cat.jpg`, `.ipynb_checkpoints`) are skipped wherever
// fuelrail lists a folder. A path that the user or a list gives is used even if its name begins
// with a dot.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fuelrail/storage/file_system.h"

namespace fuelrail::files {

class HiddenNames {
 public:
  // Removes hidden names from `entries`, the content of the folder `uri`, and counts them.
  void remove_from(std::vector<DirectoryEntry>& entries, const std::string& uri);
  void add(const HiddenNames& others);

  uint64_t count() const { return count_; }

  // "2 names that begin with a dot (first .DS_Store)". Requires: count() > 0.
  std::string describe() const;

  // The warning for the folder `root`. Requires: count() > 0.
  std::string warning(const std::string& root) const;

 private:
  uint64_t count_ = 0;
  std::string first_;  // the first hidden name's URI
};

}  // namespace fuelrail::files
