#include "fuelrail/container/open.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "fuelrail/container/class_names.h"
#include "fuelrail/container/concat.h"
#include "fuelrail/container/files/files_container.h"
#include "fuelrail/container/files/hidden_names.h"
#include "fuelrail/container/formats.h"
#include "fuelrail/storage/file_system.h"

namespace fuelrail {
namespace {

// The first image in a folder or below it, skipping hidden names. Empty if there is no image or if
// a folder cannot be read, because the caller only checks for images beside files that it can open.
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

[[noreturn]] void refuse_mixed(const std::string& folder, const FileFormat& format,
                               std::string_view others, const std::string& file,
                               const std::string& other) {
  throw InvalidArgumentError(
      fmt::format("the folder has both {} files and {}", format.name, others),
      {.path = folder,
       .expected = fmt::format("only {} files, or one sub-folder of images per class", format.name),
       .found = fmt::format("{} and {}", file, other),
       .remedy = fmt::format("Open each file by its name, or move all files that are not {} files "
                             "out of the folder",
                             format.name)});
}

// The files directly in a folder whose format is joined in folders, sorted by name.
struct JoinedFiles {
  const FileFormat* format = nullptr;
  std::vector<std::string> uris{};
};

JoinedFiles joined_files_in(FileSystem& file_system, const std::string& folder,
                            files::HiddenNames& hidden) {
  JoinedFiles found;
  std::vector<DirectoryEntry> entries = file_system.list_names(folder);
  hidden.remove_from(entries, folder);
  for (const DirectoryEntry& entry : entries) {
    const FileFormat* format = entry.is_directory ? nullptr : find_format(entry.name);
    if (format == nullptr || !format->joined_in_folders) continue;
    found.uris.push_back(join_uri(folder, entry.name));
    if (found.format == nullptr) found.format = format;
    if (found.format == format) continue;
    refuse_mixed(folder, *found.format, fmt::format("{} files", format->name), found.uris.front(),
                 found.uris.back());
  }
  return found;
}

// Joins the files in order. A file without records has no known fields, so such files are skipped
// if others have records.
std::shared_ptr<const Container> open_joined(const std::vector<std::string>& uris,
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
  const JoinedFiles joined = joined_files_in(file_system, uri, hidden);
  if (!joined.uris.empty()) {
    if (const std::string image = find_image(file_system, uri, 0); !image.empty()) {
      refuse_mixed(uri, *joined.format, "images", joined.uris.front(), image);
    }
    if (hidden.count() > 0 && options.warn) options.warn(hidden.warning(uri));
    return open_joined(joined.uris, options);
  }
  check_schema(uri, options.schema, nullptr);
  check_track_and_split(uri, options, nullptr);
  return files::open_files(uri, options);
}

std::shared_ptr<const Container> open_file(const std::string& uri, const OpenOptions& options) {
  const FileFormat& format = format_of_file(uri);
  check_schema(uri, options.schema, &format);
  check_track_and_split(uri, options, &format);
  if (!can(format, FormatWork::kOpen)) throw_cannot(FormatWork::kOpen, format, uri);
  return given_by_row(uri, [&] { return format.open(uri, options); });
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
    check_same_classes(options.classes, *container,
                       "the class names differ from the given class names", uri);
  }
  return container;
}

}  // namespace fuelrail
