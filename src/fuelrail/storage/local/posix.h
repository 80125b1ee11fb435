// What the local backend needs of POSIX: an owned descriptor, the path of a URI, and errno as one
// of fuelrail's errors.
#pragma once

#include <sys/stat.h>

#include <string>
#include <utility>

namespace fuelrail::local {

// Closes what it holds. -1 = holds nothing.
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

// The path behind a plain path or a file:// URI. Errors: InvalidArgumentError for another host's
// file, an empty path, and a path with a zero byte.
std::string path_of(const std::string& uri);

// The directory that a path is in: "." without a slash.
std::string directory_of(const std::string& path);

// `open` of POSIX with O_CLOEXEC, again after a signal. Returns -1 with errno set, as that does.
int open_retrying(const std::string& path, int flags, unsigned mode = 0);

// `fsync` of POSIX, again after a signal. Returns: false with errno set where it fails.
bool fsync_retrying(int fd);

// The directory of a path, for a change of its names. Opened before the change, so that nothing but
// the flush itself can fail after it.
class OpenedDirectory {
 public:
  explicit OpenedDirectory(const std::string& path);

  // Some file systems cannot flush a directory, and a directory may be writable and not readable:
  // then the names are as durable as that system makes them. Errors: IoError.
  void flush() const;

 private:
  std::string path_;
  Descriptor opened_;
};

// Errors: InvalidArgumentError for what is not a plain file: a pipe or device would block at
// opening, and has no size.
void check_plain_file(const struct stat& status, const std::string& uri);

// Whether the two are one file, of which `named` is what its name leads to now. An open file's
// inode is not used again, so the two numbers tell it from all later ones. But some file systems
// (FUSE, network) number a file anew while it is open: then it has a name still, and is as long and
// as old as the file that has this one.
bool is_same_file(const struct stat& opened, const struct stat& named);

// `failure` is what could not be done. Errors: NotFoundError for ENOENT and ENOTDIR, else IoError
// that holds the system's own words.
[[noreturn]] void throw_errno(int error, const std::string& failure, const std::string& uri);

// The system's words for an errno: "Permission denied".
std::string words_of(int error);

}  // namespace fuelrail::local
