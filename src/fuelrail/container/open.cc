#include "fuelrail/container/open.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fuelrail/base/error.h"
#include "fuelrail/container/class_names.h"
#include "fuelrail/container/concat.h"
#include "fuelrail/container/files/files_container.h"
#include "fuelrail/container/files/hidden_names.h"
#include "fuelrail/container/formats.h"
#include "fuelrail/storage/file_system.h"

namespace fuelrail {
namespace {

// The first image of a folder or of one below it, hidden names passed over; empty without any, also
// where a folder cannot be read, as the question is only what else lies beside files that can be
// opened.
std::string find_image(FileSystem& file_system, const std::string& folder, int depth) {
  constexpr int kMaxDepth = 8;
  std::vector<std::string> below;
  try {
    std::vector<DirectoryEntry> entries = file_system.list_names(folder);
    files::HiddenNames().remove_from(entries, folder);
    for (const DirectoryEntry& entry : entries) {
      const std::string uri = join_uri(folder, entry.name);
      if (entry.is_directory) {
        below.push_back(uri);
      } else if (files::has_image_extension(entry.name)) {
        return uri;
      }
    }
  } catch (const Error&) {
    return "";
  }
  for (const std::string& uri : below) {
    if (depth == kMaxDepth) break;
    if (std::string found = find_image(file_system, uri, depth + 1); !found.empty()) return found;
  }
  return "";
}

// The FFRecord files directly in a folder, by their names.
std::vector<std::string> ffrecord_files_in(FileSystem& file_system, const std::string& folder,
                                           files::HiddenNames& hidden) {
  std::vector<std::string> found;
  std::vector<DirectoryEntry> entries = file_system.list_names(folder);
  hidden.remove_from(entries, folder);
  for (const DirectoryEntry& entry : entries) {
    if (!entry.is_directory && is_ffrecord_name(entry.name)) {
      found.push_back(join_uri(folder, entry.name));
    }
  }
  return found;
}

// One after the other. Files without records say nothing of their fields, so they are left out
// where others have some.
std::shared_ptr<const Container> open_ffrecord_files(const std::vector<std::string>& uris,
                                                     const OpenOptions& options) {
  std::vector<std::shared_ptr<const Container>> parts, empty;
  for (const std::string& uri : uris) {
    auto part = open_container(uri, options);
    (part->size() > 0 ? parts : empty).push_back(std::move(part));
  }
  return concat(std::move(parts.empty() ? empty : parts));
}

std::shared_ptr<const Container> open_directory(FileSystem& file_system, const std::string& uri,
                                                const OpenOptions& options) {
  files::HiddenNames hidden;
  const std::vector<std::string> files = ffrecord_files_in(file_system, uri, hidden);
  if (!files.empty()) {
    if (const std::string image = find_image(file_system, uri, 0); !image.empty()) {
      throw InvalidArgumentError(
          "the folder has both FFRecord files and images",
          {.path = uri,
           .expected = "FFRecord files alone, or one sub-folder a class, with its images in it",
           .found = fmt::format("{} and {}", files.front(), image),
           .remedy = "Open the files by their names, or move the images away"});
    }
    if (hidden.count() > 0 && options.warn) options.warn(hidden.warning(uri));
    return open_ffrecord_files(files, options);
  }
  check_schema(uri, options.schema, "");
  return files::open_files(uri, options);
}

std::shared_ptr<const Container> open_file(const std::string& uri, const OpenOptions& options) {
  const FileFormat& format = format_of_file(uri);
  check_schema(uri, options.schema, format.schema);
  return format.open(uri, options);
}

}  // namespace

std::shared_ptr<const Container> open_container(const std::string& uri,
                                                const OpenOptions& options) {
  FileSystem& file_system = file_system_for(uri);
  const std::optional<FileInfo> info = file_system.stat(uri);
  if (!info) {
    throw NotFoundError("no such file or directory", {.path = uri, .remedy = "Check the path"});
  }
  check_root(uri, options.root);
  check_class_names(options.classes);
  std::shared_ptr<const Container> container =
      info->is_directory ? open_directory(file_system, uri, options) : open_file(uri, options);
  if (!options.classes.empty()) {
    check_same_classes(options.classes, *container, "the class names are not those that are given",
                       uri);
  }
  return container;
}

}  // namespace fuelrail
