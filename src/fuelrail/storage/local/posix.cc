#include "fuelrail/storage/local/posix.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "fuelrail/base/error.h"

namespace fuelrail::local {

Descriptor::~Descriptor() {
  if (fd_ >= 0) ::close(fd_);
}

std::string path_of(const std::string& uri) {
  constexpr std::string_view kScheme = "file://";
  constexpr std::string_view kLocalHost = "localhost";
  std::string_view path(uri);
  if (path.find('\0') != std::string_view::npos) {
    throw InvalidArgumentError("the path contains a zero byte", {.path = uri});
  }
  if (path.size() >= kScheme.size() && path.substr(4, 3) == "://") {  // also "FILE://"
    path.remove_prefix(kScheme.size());
    if (path.starts_with(kLocalHost)) path.remove_prefix(kLocalHost.size());
    if (!path.starts_with('/')) {
      throw InvalidArgumentError("the file URI is invalid",
                                 {.path = uri,
                                  .expected = "file:// and an absolute path on this machine",
                                  .remedy = "Omit file:// to give a relative path"});
    }
  }
  if (path.empty()) throw InvalidArgumentError("the path is empty");
  return std::string(path);
}

std::string directory_of(const std::string& path) {
  const std::string directory = std::filesystem::path(path).parent_path();
  return directory.empty() ? "." : directory;
}

int open_retrying(const std::string& path, int flags, unsigned mode) {
  int fd = -1;
  do {
    fd = ::open(path.c_str(), flags | O_CLOEXEC, mode);
  } while (fd < 0 && errno == EINTR);
  return fd;
}

bool fsync_retrying(int fd) {
  int result = 0;
  do {
    result = ::fsync(fd);
  } while (result != 0 && errno == EINTR);
  return result == 0;
}

OpenedDirectory::OpenedDirectory(const std::string& path)
    : path_(directory_of(path)), opened_(open_retrying(path_, O_RDONLY | O_DIRECTORY)) {}

void OpenedDirectory::flush() const {
  if (opened_.valid() && !fsync_retrying(opened_.get()) && errno != EINVAL && errno != EROFS) {
    throw_errno(errno, "cannot flush the directory to the device", path_);
  }
}

std::string words_of(int error) { return std::generic_category().message(error); }

namespace {

const char* remedy_for(int error) {
  switch (error) {
    case EACCES:
    case EPERM:
      return "Give this user permission, or run as a user that has it";
    case EMFILE:
      return "Raise the limit of open files (ulimit -n)";
    case ENOSPC:
    case EDQUOT:
      return "Free some space, or write to another disk";
    default:
      return "";
  }
}

}  // namespace

void check_plain_file(const struct stat& status, const std::string& uri) {
  if (S_ISREG(status.st_mode)) return;
  throw InvalidArgumentError(
      S_ISDIR(status.st_mode) ? "this is a directory, not a file" : "this is not a regular file",
      {.path = uri});
}

bool is_same_file(const struct stat& opened, const struct stat& named) {
  if (opened.st_dev == named.st_dev && opened.st_ino == named.st_ino) return true;
  return opened.st_nlink > 0 && opened.st_size == named.st_size &&
         opened.st_mtim.tv_sec == named.st_mtim.tv_sec &&
         opened.st_mtim.tv_nsec == named.st_mtim.tv_nsec;
}

void throw_errno(int error, const std::string& failure, const std::string& uri) {
  if (error == ENOENT || error == ENOTDIR) {
    throw NotFoundError("no such file or directory", {.path = uri});
  }
  throw IoError(failure, {.path = uri, .found = words_of(error), .remedy = remedy_for(error)});
}

}  // namespace fuelrail::local
