#include "fuelrail/pack/annotations/file_tree.h"

#include <fmt/format.h>

#include <vector>

#include "fuelrail/base/error.h"
#include "fuelrail/container/files/files_container.h"
#include "fuelrail/container/files/hidden_names.h"
#include "fuelrail/container/name_end.h"
#include "fuelrail/storage/file_system.h"

namespace fuelrail::pack {
namespace {

constexpr int kDeepest = 32;

class TreeListing {
 public:
  TreeListing(const std::string& root, const KeepGoing& keep_going, const ImageFormat* besides)
      : root_(root), keep_going_(keep_going), besides_(besides) {}

  // `path`: of a folder, relative to the root; empty, or ends with a slash.
  void list(const std::string& path, int depth) {
    check_keep_going(keep_going_, root_);
    if (depth > kDeepest) {
      throw InvalidArgumentError(
          "folders are nested too deeply",
          {.path = root_,
           .expected = fmt::format("at most {} levels", kDeepest),
           .found = path,
           .remedy = "Look for a link to a parent folder, and remove that link"});
    }
    const std::string uri = path.empty() ? root_ : join_uri(root_, path.substr(0, path.size() - 1));
    std::vector<DirectoryEntry> entries = file_system_for(root_).list_names(uri);
    hidden_.remove_from(entries, uri);
    for (const DirectoryEntry& entry : entries) {
      if (entry.is_directory) {
        list(path + entry.name + "/", depth + 1);
      } else if (files::has_image_extension(entry.name) || is_besides(entry.name)) {
        add(path + entry.name);
      } else if (others_++ == 0) {
        first_other_ = join_uri(root_, path + entry.name);
      }
    }
  }

  std::map<std::string, std::string> finish(const Warn& warn) && {
    if (warn && hidden_.count() > 0) warn(hidden_.warning(root_));
    if (warn && others_ > 0) {
      warn(fmt::format("{}: {} file{} not an image and skipped: first {}", root_, others_,
                       others_ == 1 ? " is" : "s are", first_other_));
    }
    return std::move(images_);
  }

 private:
  bool is_besides(std::string_view name) const {
    return besides_ != nullptr && ends_with_ignoring_case(name, besides_->extensions[0]);
  }

  void add(std::string path) {
    const auto [entry, is_new] = images_.emplace(stem_of(path), path);
    if (is_new) return;
    throw CorruptError("two files differ only in their extensions",
                       {.path = join_uri(root_, path),
                        .found = entry->second,
                        .remedy = "Keep one of them in the folder"});
  }

  const std::string& root_;
  const KeepGoing& keep_going_;
  const ImageFormat* besides_;
  std::map<std::string, std::string> images_;
  files::HiddenNames hidden_;
  uint64_t others_ = 0;
  std::string first_other_;
};

}  // namespace

std::map<std::string, std::string> images_by_stem(const std::string& root, const Warn& warn,
                                                  const KeepGoing& keep_going,
                                                  const ImageFormat* besides) {
  TreeListing listing(root, keep_going, besides);
  listing.list("", 0);
  return std::move(listing).finish(warn);
}

std::string stem_of(const std::string& path) { return path.substr(0, path.rfind('.')); }

}  // namespace fuelrail::pack
