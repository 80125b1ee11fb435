#include "fuelrail/container/files/files_container.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "fuelrail/base/image_format.h"
#include "fuelrail/container/files/file_records.h"
#include "fuelrail/container/files/folder_scan.h"
#include "fuelrail/container/name_end.h"
#include "fuelrail/storage/file_system.h"

namespace fuelrail::files {
namespace {

// The extensions of the images that folders list.
std::vector<std::string_view> extensions() {
  std::vector<std::string_view> all;
  for (const ImageFormat* format : kImageFormats) {
    if (!format->in_folders) continue;
    std::copy_if(format->extensions.begin(), format->extensions.end(), std::back_inserter(all),
                 [](std::string_view extension) { return !extension.empty(); });
  }
  return all;
}

class FilesContainer final : public FileRecords {
 public:
  FilesContainer(FileSystem& file_system, std::string root, std::string absolute_root,
                 FolderListing listing)
      : FileRecords(root, listing.names.size()),
        file_system_(file_system),
        root_(std::move(root)),
        absolute_root_(std::move(absolute_root)),
        listing_(std::move(listing)) {}

  const Schema& schema() const override { return schema_; }
  const std::vector<std::string>& classes() const override { return listing_.classes; }
  const char* format() const override { return "folder"; }

 private:
  FileSystem& file_system(uint64_t) const override { return file_system_; }
  std::string shown_uri(uint64_t i) const override { return uri_below(root_, i); }
  std::string opened_uri(uint64_t i) const override { return uri_below(absolute_root_, i); }
  void fill(uint64_t i, Bytes encoded, Sample& out) const override {
    fill_sample(i, encoded, listing_.class_of(i), out);
  }

  std::string uri_below(const std::string& root, uint64_t i) const {
    return join_uri(join_uri(root, listing_.classes[listing_.class_of(i)]),
                    std::string(listing_.names[i]));
  }

  FileSystem& file_system_;
  std::string root_;           // as given by the user, for messages
  std::string absolute_root_;  // for opening files
  FolderListing listing_;
  Schema schema_ = image_folder_schema();
};

}  // namespace

bool has_image_extension(std::string_view name) {
  static const std::vector<std::string_view> kExtensions = extensions();
  return std::any_of(kExtensions.begin(), kExtensions.end(), [&](std::string_view extension) {
    return ends_with_ignoring_case(name, extension);
  });
}

std::string image_extensions() { return fmt::format("{}", fmt::join(extensions(), ", ")); }

std::shared_ptr<const Container> open_files(const std::string& uri, const OpenOptions& options) {
  FileSystem& file_system = file_system_for(uri);
  std::string absolute = file_system.absolute(uri);
  FolderListing listing = scan_folder(
      [&file_system](const std::string& folder) { return file_system.list_names(folder); }, uri,
      options);
  return std::make_shared<FilesContainer>(file_system, uri, std::move(absolute),
                                          std::move(listing));
}

}  // namespace fuelrail::files
