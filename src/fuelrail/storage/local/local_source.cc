#include "fuelrail/storage/local/local_source.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <vector>

#include "fuelrail/base/error.h"
#include "fuelrail/storage/at_hand.h"

namespace fuelrail::local {
namespace {

constexpr size_t kMostPieces = 128;  // in one call of read_if_cached
// For files that count as cached (is_believed_cached).
constexpr uint32_t kBelievedCached = 1024;  // consecutive cached reads
constexpr uint32_t kAskedEvery = 8;         // after that, every 8th read is checked
constexpr size_t kSmallBytes = size_t{16} << 10;
// The most that the kernel reads in one call, for any page size.
constexpr size_t kMostBytes = size_t{0x7fff'0000};

// Advances over `bytes` that have been read. Returns: the first piece that is not full.
std::vector<iovec>::iterator after(std::vector<iovec>::iterator at,
                                   std::vector<iovec>::iterator end, size_t bytes) {
  for (; at != end && bytes >= at->iov_len; ++at) bytes -= at->iov_len;
  if (bytes > 0) *at = {static_cast<std::byte*>(at->iov_base) + bytes, at->iov_len - bytes};
  return at;
}

}  // namespace

LocalSource::LocalSource(const std::string& uri, std::string shown_as)
    : uri_(std::move(shown_as)), path_(path_of(uri)) {
  OnlyAtHand::check();
  struct stat status {};
  if (::stat(path_.c_str(), &status) != 0) throw_errno(errno, "cannot open the file", uri_);
  check_plain_file(status, uri_);
  file_ = Descriptor(open_retrying(path_, O_RDONLY));
  if (!file_.valid() || ::fstat(file_.get(), &status) != 0) {
    throw_errno(errno, "cannot open the file", uri_);
  }
  check_plain_file(status, uri_);
  size_bytes_ = static_cast<uint64_t>(status.st_size);
}

bool LocalSource::is_still_named() const {
  struct stat opened {};
  struct stat named {};
  if (::fstat(file_.get(), &opened) != 0) {
    throw_errno(errno, "cannot read the file's metadata", uri_);
  }
  if (::stat(path_.c_str(), &named) != 0) {
    if (errno == ENOENT || errno == ENOTDIR) return false;
    throw_errno(errno, "cannot read the file's metadata", uri_);
  }
  return is_same_file(opened, named);
}

// lseek moves the descriptor's file position, which no read uses.
bool LocalSource::has_hole(uint64_t offset, uint64_t length) const {
  const off_t hole = ::lseek(file_.get(), static_cast<off_t>(offset), SEEK_HOLE);
  return hole >= 0 && static_cast<uint64_t>(hole) < offset + length;
}

bool LocalSource::is_hole(uint64_t offset, uint64_t length) const {
  off_t data = ::lseek(file_.get(), static_cast<off_t>(offset), SEEK_DATA);
  if (data < 0 && errno == ENXIO) data = ::lseek(file_.get(), 0, SEEK_END);  // all holes
  return data >= 0 && static_cast<uint64_t>(data) >= offset + length;
}

void LocalSource::read(uint64_t offset, MutableBytes into) const {
  read_scattered(offset, {&into, 1});
}

void LocalSource::read_scattered(uint64_t offset, std::span<const MutableBytes> pieces) const {
  if (OnlyAtHand::applies()) return read_at_hand(offset, pieces);
  std::vector<iovec> left;
  left.reserve(pieces.size());
  size_t length = 0;
  for (const MutableBytes piece : pieces) {
    left.push_back({piece.data(), piece.size()});
    length += piece.size();
  }
  check_range(uri_, size_bytes_, offset, length);
  size_t done = 0;
  for (auto at = left.begin(); done < length;) {
    const auto count = std::min<ptrdiff_t>(left.end() - at, IOV_MAX);
    const ssize_t got =
        ::preadv(file_.get(), &*at, static_cast<int>(count), static_cast<off_t>(offset + done));
    if (got > 0) {
      done += static_cast<size_t>(got);
      at = after(at, left.end(), static_cast<size_t>(got));
    } else if (got == 0) {  // shorter than when it was opened
      check_range(uri_, offset + done, offset, length);
    } else if (errno != EINTR) {
      throw IoError("cannot read the file",
                    {.path = uri_, .offset = offset + done, .found = words_of(errno)});
    }
  }
}

// Throws WouldWait for a range past the end, too: the blocking read reports the error.
void LocalSource::read_at_hand(uint64_t offset, std::span<const MutableBytes> pieces) const {
  if (!read_if_cached(offset, pieces)) throw WouldWait();
}

// Tries a non-blocking read of one byte: the kernel reports missing support before it reads.
bool LocalSource::reads_without_waiting() const {
  std::call_once(asked_to_wait_, [this] {
    std::byte byte{};
    const iovec into{&byte, 1};
    without_waiting_ = ::preadv2(file_.get(), &into, 1, 0, RWF_NOWAIT) >= 0 || errno == EAGAIN;
  });
  return without_waiting_;
}

// A non-blocking read takes 0.1 microseconds longer than a blocking one, which is a tenth of a
// small read. So after many consecutive cached reads, only every kAskedEvery-th read is
// non-blocking, until one finds that its bytes are not cached. If a fully cached file is evicted,
// few reads block; a file with occasional misses rarely has that many consecutive cached reads.
bool LocalSource::is_believed_cached() const {
  const uint32_t before = cached_in_a_row_.load(std::memory_order_relaxed);
  return before >= kBelievedCached && before % kAskedEvery != 0;
}

bool LocalSource::read_if_cached(uint64_t offset, std::span<const MutableBytes> pieces) const {
  bool read = false;
  if (pieces.size() == 1 && pieces[0].size() <= kSmallBytes && is_believed_cached()) {
    const ssize_t got =
        ::pread(file_.get(), pieces[0].data(), pieces[0].size(), static_cast<off_t>(offset));
    read = got >= 0 && static_cast<size_t>(got) == pieces[0].size();
  } else {
    read = read_without_waiting(offset, pieces);
  }
  const uint32_t before = cached_in_a_row_.load(std::memory_order_relaxed);
  cached_in_a_row_.store(read ? before + 1 : 0, std::memory_order_relaxed);
  return read;
}

bool LocalSource::read_without_waiting(uint64_t offset,
                                       std::span<const MutableBytes> pieces) const {
  if (!reads_without_waiting() || pieces.size() > kMostPieces) return false;
  std::array<iovec, kMostPieces> into;
  size_t length = 0;
  for (size_t i = 0; i < pieces.size(); ++i) {
    into[i] = {pieces[i].data(), pieces[i].size()};
    length += pieces[i].size();
  }
  if (length > kMostBytes) return false;  // the kernel would leave the rest to a second call
  const ssize_t got = ::preadv2(file_.get(), into.data(), static_cast<int>(pieces.size()),
                                static_cast<off_t>(offset), RWF_NOWAIT);
  return got >= 0 && static_cast<size_t>(got) == length;
}

Source::Direct LocalSource::direct_descriptor() const {
  const int known = direct_number_.load(std::memory_order_acquire);
  if (known >= 0) return {.descriptor = known, .error = 0};
  const Lock hold(direct_mutex_);
  if (!direct_.valid()) {
    // Opens the same file, even if its name now leads to a different one.
    direct_ = Descriptor(
        open_retrying(fmt::format("/proc/self/fd/{}", file_.get()), O_RDONLY | O_DIRECT));
  }
  if (!direct_.valid()) return {.descriptor = -1, .error = errno};
  direct_number_.store(direct_.get(), std::memory_order_release);
  return {.descriptor = direct_.get(), .error = 0};
}

std::unique_ptr<const LocalSource> LazyLocalSource::open() const {
  auto file = std::make_unique<const LocalSource>(opened_uri_, uri_);
  if (file->size_bytes() != size_bytes_) {
    throw IoError("the file's size has changed since the file was listed",
                  {.path = uri_,
                   .expected = fmt::format("{} bytes", size_bytes_),
                   .found = fmt::format("{}", file->size_bytes()),
                   .remedy = "Open the dataset again"});
  }
  return file;
}

void LazyLocalSource::read(uint64_t offset, MutableBytes into) const {
  check_range(uri_, size_bytes_, offset, into.size());
  open()->read(offset, into);
}

}  // namespace fuelrail::local
