// POSIX helpers of the local backend: an owned descriptor, the path of a URI, and errno as one of
// fuelrail's errors.
#pragma once

#include <sys/stat.h>

#include <string>
#include <utility>

namespace fuelrail::local {

// Owns a file descriptor and closes it. -1 = none.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Descriptor();

  int get() const { return fd_; }
  bool valid() const { return fd_ >= 0; }

 private:
  int fd_ = -1;
};

// The path of a plain path or a file:// URI. Errors: InvalidArgumentError for a file on a different
// host, an empty path, and a path with a zero byte.
std::string path_of(const std::string& uri);

// The directory that contains `path`; "." if the path has no slash.
std::string directory_of(const std::string& path);

// `open` of POSIX with O_CLOEXEC, retried after a signal. Returns: -1 with errno set on failure.
int open_retrying(const std::string& path, int flags, unsigned mode = 0);

// `fsync` of POSIX, retried after a signal. Returns: false with errno set on failure.
bool fsync_retrying(int fd);

// The directory of a path, to be flushed after a rename. Opened before the rename, so that only the
// flush itself can fail afterwards.
class OpenedDirectory {
 public:
  explicit OpenedDirectory(const std::string& path);

  // Does nothing if the file system cannot flush directories or the directory is not readable:
  // durability of the names then depends on the file system. Errors: IoError.
  void flush() const;

 private:
  std::string path_;
  Descriptor opened_;
};

// Errors: InvalidArgumentError unless `status` is that of a regular file: a pipe or device has no
// size and could block when it is opened.
void check_plain_file(const struct stat& status, const std::string& uri);

// Whether an open file (`opened`) is the file that its name leads to now (`named`). An inode is not
// reused while a file is open, so equal device and inode numbers mean the same file. But some file
// systems (FUSE, network) change the inode number of an open file; so files with different inode
// numbers still count as the same if the open file has a name and both have the same size and
// modification time.
bool is_same_file(const struct stat& opened, const struct stat& named);

// `failure`: the operation that failed. Errors: NotFoundError for ENOENT and ENOTDIR, otherwise
// IoError with the system's message.
[[noreturn]] void throw_errno(int error, const std::string& failure, const std::string& uri);

// The system's message for an errno: "Permission denied".
std::string words_of(int error);

}  // namespace fuelrail::local
