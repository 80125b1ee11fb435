#include "fuelrail/container/made/shared_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>
#include <utility>

#include "fuelrail/base/error.h"

namespace fuelrail::made {
namespace {

[[noreturn]] void throw_no_memory(const char* what) {
  const bool is_memory = errno != EMFILE && errno != ENFILE;
  ErrorDetail detail{.path = {},
                     .found = std::generic_category().message(errno),
                     .remedy = is_memory ? "Use fewer workers, or free memory"
                                         : "Use fewer workers, or raise the limit (ulimit -n)"};
  if (is_memory) throw OutOfMemoryError(what, std::move(detail));
  throw StateError(what, std::move(detail));
}

uint64_t size_of(int descriptor) {
  struct stat status {};
  if (::fstat(descriptor, &status) != 0) throw_no_memory("shared memory cannot be opened");
  return static_cast<uint64_t>(status.st_size);
}

}  // namespace

SharedMemory::SharedMemory(uint64_t bytes)
    : descriptor_(::memfd_create("fuelrail", MFD_CLOEXEC | MFD_ALLOW_SEALING)) {
  if (descriptor_ < 0) throw_no_memory("shared memory cannot be created");
  try {
    if (::fcntl(descriptor_, F_ADD_SEALS, F_SEAL_SHRINK) != 0) {
      throw_no_memory("shared memory cannot be created");
    }
    grow(bytes);
  } catch (...) {
    ::close(descriptor_);
    throw;
  }
}

SharedMemory SharedMemory::of(int descriptor) {
  SharedMemory memory;
  memory.descriptor_ = descriptor;
  memory.follow();
  return memory;
}

SharedMemory::SharedMemory(SharedMemory&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), bytes_(std::exchange(other.bytes_, {})) {}

SharedMemory::~SharedMemory() {
  if (!bytes_.empty()) ::munmap(bytes_.data(), bytes_.size());
  if (descriptor_ >= 0) ::close(descriptor_);
}

void SharedMemory::grow(uint64_t bytes) {
  if (bytes <= bytes_.size()) return;
  if (::ftruncate(descriptor_, static_cast<off_t>(bytes)) != 0) {
    throw_no_memory("shared memory cannot be enlarged");
  }
  map(bytes);
}

void SharedMemory::follow() {
  const uint64_t bytes = size_of(descriptor_);
  if (bytes > bytes_.size()) map(bytes);
}

void SharedMemory::map(uint64_t bytes) {
  void* const at = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_, 0);
  if (at == MAP_FAILED) throw_no_memory("shared memory cannot be mapped");
  if (!bytes_.empty()) ::munmap(bytes_.data(), bytes_.size());
  bytes_ = {static_cast<std::byte*>(at), bytes};
}

void SharedMemory::release_pages() {
  // If the kernel refuses, the pages stay.
  ::fallocate(descriptor_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0,
              static_cast<off_t>(bytes_.size()));
}

}  // namespace fuelrail::made
