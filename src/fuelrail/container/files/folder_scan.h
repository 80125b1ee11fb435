// Lists the images of a folder with one sub-folder per class: only their names, without opening the
// files.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "fuelrail/container/container.h"
#include "fuelrail/container/open.h"
#include "fuelrail/storage/file_system.h"

namespace fuelrail::files {

// Names, stored one after the other in one block of memory.
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
  std::vector<std::string> classes;    // as given, or the folders' names by code point
  std::vector<uint64_t> class_begins;  // the index of each class's first image
  Names names;                         // of images, relative to the class folder

  size_t class_of(uint64_t i) const {
    const auto end = std::upper_bound(class_begins.begin(), class_begins.end(), i);
    return static_cast<size_t>(end - class_begins.begin()) - 1;
  }
};

// As FileSystem::list_names. Called from several threads at once.
using ListNames = std::function<std::vector<DirectoryEntry>(const std::string& uri)>;

// Lists class folders on several threads. Labels come from `options.classes`, if given; a class
// need not have a folder. Names that begin with a dot are skipped. Warns of these names, of other
// skipped files, and of folders that do not look like class folders. Errors: those of open_files.
FolderListing scan_folder(const ListNames& list_names, const std::string& root,
                          const OpenOptions& options);

// The schema of the images: {image: image, label: tensor int64 []}.
Schema image_folder_schema();

// Fills the sample of image i, with the index as its id. Lifetime: `out` has a view of `encoded`.
void fill_sample(uint64_t i, Bytes encoded, size_t label, Sample& out);

// Errors: CorruptError for a file longer than kMaxImageFileBytes.
void check_image_length(const Place& place, uint64_t length);

}  // namespace fuelrail::files
