#include "fuelrail/storage/local/posix.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
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
    throw InvalidArgumentError("a path cannot hold a zero byte", {.path = uri});
  }
  if (path.size() >= kScheme.size() && path.substr(4, 3) == "://") {  // "FILE://" is one too
    path.remove_prefix(kScheme.size());
    if (path.starts_with(kLocalHost)) path.remove_prefix(kLocalHost.size());
    if (!path.starts_with('/')) {
      throw InvalidArgumentError("a file URI holds an absolute path on this machine",
                                 {.path = uri,
                                  .expected = "file:///path",
                                  .remedy = "Write a relative path without file://"});
    }
  }
  if (path.empty()) throw InvalidArgumentError("the path is empty");
  return std::string(path);
}

int open_retrying(const std::string& path, int flags, unsigned mode) {
  int fd = -1;
  do {
    fd = ::open(path.c_str(), flags | O_CLOEXEC, mode);
  } while (fd < 0 && errno == EINTR);
  return fd;
}

std::string words_of(int error) { return std::generic_category().message(error); }

namespace {

const char* remedy_for(int error) {
  switch (error) {
    case EACCES:
    case EPERM:
      return "Give this user the permission, or run as one who has it";
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

void throw_errno(int error, const std::string& failure, const std::string& uri) {
  if (error == ENOENT || error == ENOTDIR) {
    throw NotFoundError("no such file or directory", {.path = uri});
  }
  throw IoError(failure, {.path = uri, .found = words_of(error), .remedy = remedy_for(error)});
}

}  // namespace fuelrail::local
