#include "fuelrail/storage/local/local_file_system.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <string_view>

#include "fuelrail/base/error.h"
#include "fuelrail/storage/at_hand.h"
#include "fuelrail/storage/local/local_sink.h"
#include "fuelrail/storage/local/local_source.h"
#include "fuelrail/storage/local/posix.h"

namespace fuelrail {
namespace {

struct CloseDirectory {
  void operator()(DIR* directory) const { ::closedir(directory); }
};
using Directory = std::unique_ptr<DIR, CloseDirectory>;

FileInfo info_of(std::string uri, const struct stat& status) {
  const bool is_file = S_ISREG(status.st_mode);
  return {.uri = std::move(uri),
          .size_bytes = is_file ? static_cast<uint64_t>(status.st_size) : 0,
          .is_directory = S_ISDIR(status.st_mode),
          .is_special = !is_file && !S_ISDIR(status.st_mode),
          .modified_ns = int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec,
          .device = status.st_dev,
          .inode = status.st_ino};
}

Directory open_directory(const std::string& uri) {
  const std::string path = local::path_of(uri);
  Directory directory(::opendir(path.c_str()));
  if (directory != nullptr) return directory;
  const int error = errno;
  struct stat status {};
  if (error == ENOTDIR && ::stat(path.c_str(), &status) == 0) {
    throw InvalidArgumentError("this is a file, not a directory", {.path = uri});
  }
  local::throw_errno(error, "cannot read the directory", uri);
}

// Visits the entries in the directory's own order, without "." and "..".
template <typename Visit>
void for_each_entry(const std::string& uri, Visit visit) {
  const Directory directory = open_directory(uri);
  errno = 0;
  while (const dirent* entry = ::readdir(directory.get())) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") visit(*directory, *entry);
    errno = 0;
  }
  if (errno != 0) local::throw_errno(errno, "cannot read the directory", uri);
}

// The status of an entry, following links; empty for a dangling link.
std::optional<struct stat> status_of(DIR& directory, const std::string& uri, const char* name) {
  struct stat status {};
  if (::fstatat(::dirfd(&directory), name, &status, 0) == 0) return status;
  if (errno == ENOENT || errno == ELOOP) return std::nullopt;  // a dangling link, or one to itself
  local::throw_errno(errno, "cannot read the directory entry's metadata", join_uri(uri, name));
}

class LocalFileSystem final : public FileSystem {
 public:
  std::shared_ptr<const Source> open(const std::string& uri) override {
    return std::make_shared<local::LocalSource>(uri);
  }

  std::shared_ptr<const Source> open_lazily(const FileInfo& info,
                                            const std::string& shown_as) override {
    return std::make_shared<local::LazyLocalSource>(info.uri, shown_as, info.size_bytes);
  }

  std::string absolute(const std::string& uri) override {
    const std::string path = local::path_of(uri);
    if (path.starts_with('/')) return uri;
    std::error_code error;
    const std::filesystem::path directory = std::filesystem::current_path(error);
    if (error) {
      throw IoError("cannot get the working directory", {.path = uri, .found = error.message()});
    }
    return directory / path;
  }

  std::unique_ptr<Sink> create(const std::string& uri) override {
    return std::make_unique<local::LocalSink>(uri);
  }

  std::unique_ptr<Sink> resume(const std::string& uri) override {
    return std::make_unique<local::LocalSink>(uri, local::LocalSink::Begin::kAsLeft);
  }

  std::optional<FileInfo> stat(const std::string& uri) override {
    OnlyAtHand::check();
    struct stat status {};
    if (::stat(local::path_of(uri).c_str(), &status) == 0) return info_of(uri, status);
    if (errno == ENOENT || errno == ENOTDIR) return std::nullopt;
    local::throw_errno(errno, "cannot read the file's metadata", uri);
  }

  std::vector<FileInfo> list(const std::string& uri) override {
    std::vector<FileInfo> entries;
    for_each_entry(uri, [&](DIR& directory, const dirent& entry) {
      const auto status = status_of(directory, uri, entry.d_name);
      if (!status) return;
      FileInfo info = info_of(join_uri(uri, entry.d_name), *status);
      if (!info.is_special) entries.push_back(std::move(info));
    });
    std::sort(entries.begin(), entries.end(),
              [](const FileInfo& a, const FileInfo& b) { return a.uri < b.uri; });
    return entries;
  }

  std::vector<DirectoryEntry> list_names(const std::string& uri) override {
    std::vector<DirectoryEntry> entries;
    for_each_entry(uri, [&](DIR& directory, const dirent& entry) {
      bool is_directory = entry.d_type == DT_DIR;
      if (entry.d_type == DT_LNK || entry.d_type == DT_UNKNOWN) {
        const auto status = status_of(directory, uri, entry.d_name);
        is_directory = status && S_ISDIR(status->st_mode);
      }
      entries.push_back({entry.d_name, is_directory});
    });
    std::sort(entries.begin(), entries.end(),
              [](const DirectoryEntry& a, const DirectoryEntry& b) { return a.name < b.name; });
    return entries;
  }

  void remove(const std::string& uri) override {
    if (::unlink(local::path_of(uri).c_str()) == 0 || errno == ENOENT || errno == ENOTDIR) return;
    local::throw_errno(errno, "cannot remove the file", uri);
  }

  void rename(const std::string& from, const std::string& to) override {
    const std::string path = local::path_of(to);
    const local::OpenedDirectory directory(path);
    if (std::rename(local::path_of(from).c_str(), path.c_str()) != 0) {
      local::throw_errno(errno, "cannot rename the file", from);
    }
    directory.flush();
  }

  void make_directory(const std::string& uri) override {
    std::error_code error;
    std::filesystem::create_directories(local::path_of(uri), error);
    if (error) {
      throw IoError("cannot create the directory", {.path = uri, .found = error.message()});
    }
  }
};

}  // namespace

FileSystem& local_file_system() {
  static FileSystem& instance = *new LocalFileSystem;  // lives as long as the process
  return instance;
}

}  // namespace fuelrail
