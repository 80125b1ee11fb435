// Finds the images of a folder with one sub-folder a class: their names, and nothing of the files.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "fuelrail/container/open.h"
#include "fuelrail/storage/file_system.h"

namespace fuelrail::files {

// Names one after the other in one block of memory.
class Names {
 public:
  void add(std::string_view name) {
    text_ += name;
    ends_.push_back(text_.size());
  }
  std::string_view operator[](uint64_t i) const {
    const uint64_t begin = i == 0 ? 0 : ends_[i - 1];
    return std::string_view(text_).substr(begin, ends_[i] - begin);
  }
  uint64_t size() const { return ends_.size(); }
  void shrink_to_fit() {
    text_.shrink_to_fit();
    ends_.shrink_to_fit();
  }

 private:
  std::string text_;
  std::vector<uint64_t> ends_;
};

struct FolderListing {
  std::vector<std::string> classes;    // the class folders' names, in code-point order
  std::vector<uint64_t> class_begins;  // the first image of each class
  Names names;                         // of images, below the class folder
};

// Class folders are listed by several threads at once. Warns of files left out, and of folders that
// hold something else than class folders, as it seems. Errors: as open_files.
FolderListing scan_folder(FileSystem& files, const std::string& root, const OpenOptions& options);

}  // namespace fuelrail::files
