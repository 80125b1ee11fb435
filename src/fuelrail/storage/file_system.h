// Lists, opens, creates and removes files by URI. One backend a folder; `file_system_for` holds the
// table.
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
  uint64_t size_bytes = 0;  // 0 for a directory
  bool is_directory = false;
  int64_t modified_ns = 0;  // since 1970, of a local file; 0 = not known
  // Names with the same two lead to one file, by whatever links; 0 = not known.
  uint64_t device = 0;
  uint64_t inode = 0;
};

// By which a file or directory is told from others: all names of one have the same, by links and as
// file:// too. Where its inode is not known, its name, absolute and without `.` and `..`. Errors:
// those of FileSystem::absolute.
std::string identity_of(const FileInfo& info);
// Of a file or directory that may not be there. Errors: those of FileSystem::stat, too.
std::string identity_of_name(const std::string& uri);

struct DirectoryEntry {
  std::string name;
  bool is_directory = false;
};

// Threads: every method may be called from any thread at once.
class FileSystem {
 public:
  virtual ~FileSystem() = default;

  // Errors: NotFoundError, IoError; InvalidArgumentError for a directory and whatever else is no
  // plain file.
  virtual std::shared_ptr<const Source> open(const std::string& uri) = 0;

  // A source whose file is opened at its first read and may be closed again between reads, for
  // folders of many files: descriptors are held only while a read runs. `info` comes from `list` or
  // `stat`; a file whose size has changed since is an IoError at the read, one that is gone a
  // NotFoundError.
  std::shared_ptr<const Source> open_lazily(const FileInfo& info) {
    return open_lazily(info, info.uri);
  }

  // The same; the source's `uri`, and so its errors, say `shown_as`.
  virtual std::shared_ptr<const Source> open_lazily(const FileInfo& info,
                                                    const std::string& shown_as) = 0;

  // The URI by which the file is found after the process has changed its working directory, too.
  // Nothing is looked up: the file need not be there, and links are left as they are. Errors:
  // IoError when there is no working directory.
  virtual std::string absolute(const std::string& uri) = 0;

  // Errors: IoError; NotFoundError when the directory is missing; InvalidArgumentError when the
  // name is a directory's.
  virtual std::unique_ptr<Sink> create(const std::string& uri) = 0;

  // As create, but what an unfinished writer of the name has left is kept: it is what the sink has
  // appended so far, and appending goes on behind it. Default: there is never any. Errors: as
  // create.
  virtual std::unique_ptr<Sink> resume(const std::string& uri) { return create(uri); }

  // Empty when there is no such file or directory. Errors: IoError.
  virtual std::optional<FileInfo> stat(const std::string& uri) = 0;

  // The files and directories in one directory, sorted by name in code-point order (which is the
  // byte order of UTF-8). Follows links; a dangling link, and what is neither file nor directory,
  // is left out. Errors: NotFoundError; InvalidArgumentError for a file; IoError (also: permission
  // denied).
  virtual std::vector<FileInfo> list(const std::string& uri) = 0;

  // The same entries in the same order, by name alone. An entry of which the directory itself says
  // what it is is not looked at, so that a folder of a million files opens at once. A dangling link
  // counts as a file: that it is none is found when it is read, and not passed over in silence.
  // Errors: as list. Default: what `list` finds.
  virtual std::vector<DirectoryEntry> list_names(const std::string& uri);

  // Removes a file. Nothing happens when there is none. Errors: IoError (also: a directory).
  virtual void remove(const std::string& uri) = 0;

  // Gives a file another name in its directory, and takes that from the file that had it, in one
  // step; then flushes the directory to the device. Errors: NotFoundError; IoError (also: a
  // directory has the name), and where that flush fails, which is after the step.
  virtual void rename(const std::string& from, const std::string& to) = 0;

  // Makes a directory and its parents. Nothing happens when it is there. Errors: IoError (also: a
  // file is in the way).
  virtual void make_directory(const std::string& uri) = 0;
};

// The file system of a URI: a plain path or file:// (taken as it is, without percent-decoding) is
// the local one, memory:// is this process's memory (for tests and small generated sets). Lifetime:
// the process. Errors: UnsupportedError for http, https, s3, gs, azure, hdfs and viewfs;
// InvalidArgumentError for any other scheme.
FileSystem& file_system_for(const std::string& uri);

// Whether there is a file of this name; a directory is not one. Errors: those of FileSystem::stat.
bool is_file(const std::string& uri);

// Errors: InvalidArgumentError where both name the same file; those of identity_of_name.
void check_other_file(const std::string& source, const std::string& output);

// For a writer that may not replace `uri`, which is there. `unlike`: how the file differs from what
// would be written; empty where they were not compared. Throws: IoError.
[[noreturn]] void throw_existing(const std::string& uri, const std::string& unlike = "");

// For tests: as long as it lives, `file_system_for` gives `with` for the URIs of `scheme` ("file"
// stands for plain paths too). Requires: one a scheme at a time; made and destroyed while no other
// thread asks for a file system. Errors: InvalidArgumentError for an unknown scheme.
class FileSystemOverride {
 public:
  FileSystemOverride(const std::string& scheme, FileSystem& with);
  ~FileSystemOverride();
  FileSystemOverride& operator=(FileSystemOverride&&) = delete;

 private:
  size_t place_;  // in the table of schemes
};

// `directory` + "/" + `name`; and the last component of a URI, which a trailing slash does not
// change: "train" of "data/train/", empty for a root.
std::string join_uri(const std::string& directory, const std::string& name);
std::string base_name(const std::string& uri);

}  // namespace fuelrail
