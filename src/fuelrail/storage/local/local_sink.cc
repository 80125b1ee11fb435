#include "fuelrail/storage/local/local_sink.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <optional>

#include "fuelrail/base/error.h"

namespace fuelrail::local {
namespace {

constexpr size_t kBufferBytes = size_t{1} << 20;
constexpr size_t kLargeBytes = size_t{64} << 10;  // not copied to the buffer
constexpr uint64_t kSendBytes = uint64_t{16} << 20;
constexpr int kMaxWriters = 256;  // of one name at the same time

// Whether `path` still names the open file: its owner may have renamed or removed it.
bool still_named(int fd, const std::string& path) {
  struct stat opened {};
  struct stat named {};
  return ::fstat(fd, &opened) == 0 && ::lstat(path.c_str(), &named) == 0 &&
         is_same_file(opened, named);
}

bool lock(int fd) {
  int result = 0;
  do {
    result = ::flock(fd, LOCK_EX | LOCK_NB);
  } while (result != 0 && errno == EINTR);
  return result == 0;
}

// Whether the file has a second name: a writer died after it gave the file its final name and
// before it removed this one.
bool has_other_name(int fd) {
  struct stat opened {};
  return ::fstat(fd, &opened) == 0 && opened.st_nlink > 1;
}

// `ftruncate` of POSIX, retried after a signal. Returns: false with errno set on failure.
bool truncate_retrying(int fd, uint64_t size) {
  int result = 0;
  do {
    result = ::ftruncate(fd, static_cast<off_t>(size));
  } while (result != 0 && errno == EINTR);
  return result == 0;
}

bool is_regular_file(int fd) {
  struct stat opened {};
  return ::fstat(fd, &opened) == 0 && S_ISREG(opened.st_mode);
}

// Opens `partial` (a new file, or one that a killed writer has left) and locks it. Returns: empty
// if a different writer is writing it. The lock belongs to the open file, so the system releases it
// when the process ends. On a file system without locks, only a new file can be claimed.
std::optional<Descriptor> claim(const std::string& partial, const std::string& uri,
                                LocalSink::Begin begin) {
  for (;;) {
    Descriptor file(open_retrying(partial, O_RDWR | O_CREAT | O_EXCL, 0666));
    const bool created = file.valid();
    if (!created) {
      if (errno != EEXIST) throw_errno(errno, "cannot create the file", uri);
      file = Descriptor(open_retrying(partial, O_RDWR | O_NOFOLLOW | O_NONBLOCK));
      if (!file.valid() && errno == ENOENT) continue;  // its owner has just finished
      if (!file.valid()) return std::nullopt;          // another user's, or a directory
      if (!is_regular_file(file.get())) return std::nullopt;
    }
    if (!lock(file.get()) && (errno == EWOULDBLOCK || !created)) return std::nullopt;
    if (!still_named(file.get(), partial)) continue;
    if (has_other_name(file.get())) {
      if (::unlink(partial.c_str()) != 0) throw_errno(errno, "cannot create the file", uri);
      continue;
    }
    if (begin == LocalSink::Begin::kAsLeft || truncate_retrying(file.get(), 0)) return file;
    const int error = errno;
    ::unlink(partial.c_str());  // it is locked, so no other writer uses it
    throw_errno(error, "cannot create the file", uri);
  }
}

// Renames a file unless the new name exists. Returns: 0 or the errno; EEXIST if the new name
// exists. On file systems without such a rename, links the file to the new name and removes the old
// one.
int rename_unless_taken(const std::string& from, const std::string& to) {
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return 0;
  if (errno != EINVAL && errno != ENOSYS) return errno;
  if (::link(from.c_str(), to.c_str()) != 0) return errno;
  ::unlink(from.c_str());  // if this fails, the next writer removes it
  return 0;
}

uint64_t size_of(int fd, const std::string& uri) {
  struct stat opened {};
  if (::fstat(fd, &opened) != 0) throw_errno(errno, "cannot read the file's metadata", uri);
  return static_cast<uint64_t>(opened.st_size);
}

[[noreturn]] void throw_write_error(int error, const std::string& uri, uint64_t at, size_t wanted) {
  std::string failure = "cannot write the file";
  std::string remedy;
  if (error == ENOSPC || error == EDQUOT) {
    failure = "the disk is full";
    remedy = "Free some space, or write to another disk";
  } else if (error == EFBIG) {
    failure = "the file would exceed the largest allowed size";
    remedy = "Raise the limit (ulimit -f), or write to another file system";
  }
  throw IoError(failure, {.path = uri,
                          .offset = at,
                          .expected = fmt::format("room for {} bytes", wanted),
                          .found = words_of(error),
                          .remedy = remedy});
}

}  // namespace

LocalSink::LocalSink(std::string uri, Begin begin) : uri_(std::move(uri)), path_(path_of(uri_)) {
  struct stat status {};
  const bool exists = ::stat(path_.c_str(), &status) == 0;
  if (path_.back() == '/') {
    throw InvalidArgumentError("this is a directory, not a file", {.path = uri_});
  }
  if (exists) check_plain_file(status, uri_);  // `commit` would replace a pipe or a device
  if (const std::string directory = directory_of(path_); ::stat(directory.c_str(), &status) != 0) {
    if (errno == ENOENT) {
      throw NotFoundError("the folder does not exist",
                          {.path = directory, .remedy = "Create the folder first (mkdir -p)"});
    }
    throw_errno(errno, "cannot create a file in this folder", directory);
  }
  for (int writer = 0; writer < kMaxWriters; ++writer) {
    partial_path_ = writer == 0 ? path_ + ".partial" : fmt::format("{}.{}.partial", path_, writer);
    if (std::optional<Descriptor> file = claim(partial_path_, uri_, begin)) {
      file_ = std::move(*file);
      position_ = size_of(file_.get(), uri_);
      return;
    }
  }
  throw IoError("there are too many unfinished copies (.partial files) of this file",
                {.path = uri_,
                 .found = fmt::format("{} files", kMaxWriters),
                 .remedy = "Remove the .partial files that no running program is writing"});
}

LocalSink::~LocalSink() {
  if (state_ == State::kCommitted || process_.is_parents()) return;
  if (!leave_partial_) {
    ::unlink(partial_path_.c_str());
    return;
  }
  if (state_ == State::kFailed) return;
  try {
    write_buffer();
  } catch (const Error&) {  // the bytes written earlier remain
  }
}

void LocalSink::check_usable() const {
  if (state_ == State::kCommitted) {
    throw StateError("the file is committed; nothing more can be written", {.path = uri_});
  }
  if (state_ == State::kFailed) {
    throw StateError("an earlier write or commit failed, so the file cannot be completed",
                     {.path = uri_});
  }
  if (process_.is_parents()) {
    throw StateError("the file is being written by the parent process", {.path = uri_});
  }
}

void LocalSink::write(Bytes bytes) {
  check_usable();
  const bool is_large = bytes.size() >= kLargeBytes;
  if (is_large || bytes.size() >= kBufferBytes - buffer_.size()) {
    write_buffer();
    if (is_large) {
      write_at(position_, bytes);
      position_ += bytes.size();
      return;
    }
  }
  if (buffer_.capacity() == 0) buffer_.reserve(kBufferBytes);
  buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
  position_ += bytes.size();
}

void LocalSink::rewrite(uint64_t offset, Bytes bytes) {
  check_usable();
  check_appended(offset, bytes.size());
  write_buffer();
  write_at(offset, bytes);
}

void LocalSink::read_back(uint64_t offset, MutableBytes into) {
  check_usable();
  check_appended(offset, into.size());
  write_buffer();
  while (!into.empty()) {
    const ssize_t got = ::pread(file_.get(), into.data(), into.size(), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) {
      state_ = State::kFailed;
      throw IoError("cannot read back the unfinished file",
                    {.path = uri_,
                     .offset = offset,
                     .found = got < 0 ? words_of(errno) : "fewer bytes than were written"});
    }
    into = into.subspan(static_cast<size_t>(got));
    offset += static_cast<uint64_t>(got);
  }
}

void LocalSink::truncate(uint64_t size) {
  check_usable();
  check_appended(size, 0);
  write_buffer();
  if (!truncate_retrying(file_.get(), size)) {
    state_ = State::kFailed;
    throw_errno(errno, "cannot truncate the file", uri_);
  }
  position_ = size;
  sent_bytes_ = std::min(sent_bytes_, size);
}

void LocalSink::write_buffer() {
  write_at(position_ - buffer_.size(), buffer_);
  buffer_.clear();
}

void LocalSink::write_at(uint64_t offset, Bytes bytes) {
  while (!bytes.empty()) {
    const ssize_t put =
        ::pwrite(file_.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (put >= 0) {
      bytes = bytes.subspan(static_cast<size_t>(put));
      offset += static_cast<uint64_t>(put);
    } else if (errno != EINTR) {
      const int error = errno;
      state_ = State::kFailed;
      throw_write_error(error, uri_, offset, bytes.size());
    }
  }
  if (offset >= sent_bytes_ + kSendBytes) send_to_device(offset);
}

// Starts writing to the device without waiting, so that `sync` has little to wait for. The result
// is ignored: a file system may not support it, and errors of the device are reported by `sync`.
void LocalSink::send_to_device(uint64_t end) {
  ::sync_file_range(file_.get(), static_cast<off_t>(sent_bytes_),
                    static_cast<off_t>(end - sent_bytes_), SYNC_FILE_RANGE_WRITE);
  sent_bytes_ = end;
}

void LocalSink::flush_to_device() {
  if (!fsync_retrying(file_.get())) throw_write_error(errno, uri_, position_, 0);
}

void LocalSink::flush() {
  check_usable();
  write_buffer();
}

void LocalSink::sync() {
  check_usable();
  write_buffer();
  state_ = State::kFailed;  // unless the flush succeeds
  flush_to_device();
  state_ = State::kOpen;
}

void LocalSink::commit_as(const std::string& uri) {
  sync();
  state_ = State::kFailed;  // unless all of the following succeeds
  const OpenedDirectory directory(path_);
  if (std::rename(partial_path_.c_str(), path_of(uri).c_str()) != 0) {
    throw_errno(errno, "cannot rename the file to its final name", uri);
  }
  finish(directory);
}

bool LocalSink::commit_new() {
  sync();
  state_ = State::kFailed;  // unless all of the following succeeds
  const OpenedDirectory directory(path_);
  const int error = rename_unless_taken(partial_path_, path_);
  if (error == EEXIST) return false;
  if (error != 0) throw_errno(error, "cannot rename the file to its final name", uri_);
  finish(directory);
  return true;
}

// After the file has its final name.
void LocalSink::finish(const OpenedDirectory& directory) {
  state_ = State::kCommitted;
  file_ = Descriptor();
  directory.flush();
}

}  // namespace fuelrail::local
