// Names that begin with a dot (`.DS_Store`, `._cat.jpg`, `.ipynb_checkpoints`): passed over
// wherever fuelrail lists a folder. A path that is given, or that a list names, is taken whatever
// its name.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fuelrail/storage/file_system.h"

namespace fuelrail::files {

class HiddenNames {
 public:
  // Removes them from `entries`, which are those of the folder `uri`, and counts them.
  void remove_from(std::vector<DirectoryEntry>& entries, const std::string& uri);
  void add(const HiddenNames& others);

  uint64_t count() const { return count_; }

  // "2 names that begin with a dot (first .DS_Store)". Requires: count() > 0.
  std::string describe() const;

  // What to tell the user of the folder `root`. Requires: count() > 0.
  std::string warning(const std::string& root) const;

 private:
  uint64_t count_ = 0;
  std::string first_;  // its URI
};

}  // namespace fuelrail::files
