// Lists, opens, creates and removes files by URI. Each backend has its own folder;
// `file_system_for` has the table of backends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fuelrail/storage/sink.h"
#include "fuelrail/storage/source.h"

namespace fuelrail {

struct FileInfo {
  std::string uri;
  uint64_t size_bytes = 0;  // 0 for a directory or special file
  bool is_directory = false;
  bool is_special = false;  // neither a file nor a directory, but for example a pipe or a device
  int64_t modified_ns = 0;  // since 1970, for local files; 0 = unknown
  // Two names with the same device and inode are the same file; 0 = unknown.
  uint64_t device = 0;
  uint64_t inode = 0;
};

// A text that identifies a file or directory: it is the same for all of its names, including links
// and file:// URIs. If the inode is unknown, it is the absolute name without `.` and `..`. Errors:
// those of FileSystem::absolute.
std::string identity_of(const FileInfo& info);
// As `identity_of`, for the name of a file or directory that may not exist. Errors: those of
// FileSystem::stat and FileSystem::absolute.
std::string identity_of_name(const std::string& uri);

struct DirectoryEntry {
  std::string name;
  bool is_directory = false;
};

// Threads: every method, from any number of threads at once.
class FileSystem {
 public:
  virtual ~FileSystem() = default;

  // Errors: NotFoundError; IoError; InvalidArgumentError if the name is not that of a regular file.
  virtual std::shared_ptr<const Source> open(const std::string& uri) = 0;

  // A source whose file is opened only while it is read, for folders of many files. `info`: from
  // `list` or `stat`. Reads throw IoError if the file's size has changed since then, and
  // NotFoundError if the file no longer exists.
  std::shared_ptr<const Source> open_lazily(const FileInfo& info) {
    return open_lazily(info, info.uri);
  }

  // As `open_lazily(info)`, but with `shown_as` as the source's `uri`, which its errors show.
  virtual std::shared_ptr<const Source> open_lazily(const FileInfo& info,
                                                    const std::string& shown_as) = 0;

  // The absolute URI, which stays valid if the process changes its working directory. The file need
  // not exist, and links are not resolved. Errors: IoError if the working directory cannot be
  // found.
  virtual std::string absolute(const std::string& uri) = 0;

  // Creates a file, which gets its name at `Sink::commit`. Errors: IoError; NotFoundError if the
  // directory does not exist; InvalidArgumentError if the name exists and is not that of a regular
  // file.
  virtual std::unique_ptr<Sink> create(const std::string& uri) = 0;

  // As `create`, but keeps the bytes that an unfinished writer of the name has left: they count as
  // already appended, and `write` appends to them. Default: calls `create`, because no bytes are
  // ever left. Errors: as for `create`.
  virtual std::unique_ptr<Sink> resume(const std::string& uri) { return create(uri); }

  // Returns: empty if the file or directory does not exist. Errors: IoError.
  virtual std::optional<FileInfo> stat(const std::string& uri) = 0;

  // The files and directories in one directory, sorted by name in code-point order (the byte order
  // of UTF-8). Follows links; skips dangling links and everything that is neither a file nor a
  // directory. Errors: NotFoundError; InvalidArgumentError for a file; IoError, for example if
  // permission is denied.
  virtual std::vector<FileInfo> list(const std::string& uri) = 0;

  // As `list`, but returns only names and types. Does not stat an entry whose type the directory
  // itself stores, so that listing a million files is fast. Everything that is not a directory,
  // such as a dangling link or a pipe, counts as a file: it is not skipped silently, because
  // reading it is an error. Errors: as for `list`. Default: calls `list`.
  virtual std::vector<DirectoryEntry> list_names(const std::string& uri);

  // Removes a file, if it exists. Errors: IoError, including for a directory.
  virtual void remove(const std::string& uri) = 0;

  // Renames a file within its directory atomically, replacing any file of the new name; then
  // flushes the directory to the device. Errors: NotFoundError; IoError, including if a directory
  // has the new name, or if the flush after the rename fails.
  virtual void rename(const std::string& from, const std::string& to) = 0;

  // Creates a directory and its parents, if they do not exist. Errors: IoError, including if a file
  // has one of these names.
  virtual void make_directory(const std::string& uri) = 0;
};

// The file system of a URI: the local one for a plain path or file:// (without percent-decoding),
// this process's memory for memory:// (for tests and small generated datasets). Lifetime: the
// process. Errors: UnsupportedError for http, https, s3, gs, azure, hdfs and viewfs;
// InvalidArgumentError for any other scheme.
FileSystem& file_system_for(const std::string& uri);

// Whether a file of this name exists; false for a directory. Errors: those of FileSystem::stat.
bool is_file(const std::string& uri);

// Errors: InvalidArgumentError if `source` and `output` name the same file; those of
// identity_of_name.
void check_other_file(const std::string& source, const std::string& output);

// Throws the IoError for a writer that must not replace the existing file `uri`. `unlike`: how the
// file differs from the intended output; empty if they were not compared.
[[noreturn]] void throw_existing(const std::string& uri, const std::string& unlike = "");

// For tests: while this object exists, `file_system_for` returns `with` for the URIs of `scheme`
// ("file" includes plain paths). Requires: at most one for each scheme at a time; created and
// destroyed while no other thread calls `file_system_for`. Errors: InvalidArgumentError for an
// unknown scheme.
class FileSystemOverride {
 public:
  FileSystemOverride(const std::string& scheme, FileSystem& with);
  ~FileSystemOverride();
  FileSystemOverride& operator=(FileSystemOverride&&) = delete;

 private:
  size_t place_;  // in the table of schemes
};

// join_uri: `directory` + "/" + `name`. base_name: the last component of a URI, ignoring trailing
// slashes: "train" for "data/train/", empty for a root.
std::string join_uri(const std::string& directory, const std::string& name);
std::string base_name(const std::string& uri);

}  // namespace fuelrail
