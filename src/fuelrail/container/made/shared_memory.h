// Memory that a process shares with its workers: an anonymous file (memfd). It has no name, so
// nothing is left behind if a process is killed. Its descriptor is passed over a socket.
#pragma once

#include <cstdint>

#include "fuelrail/base/bytes.h"

namespace fuelrail::made {

// Owns the descriptor and a mapping of the whole file. The file never shrinks, so that access to
// the mapping is safe whatever the other process does. Threads: one at a time. Errors of methods:
// OutOfMemoryError; StateError if this process has too many open files.
class SharedMemory {
 public:
  // New memory of zeros; pages are taken when they are first written.
  explicit SharedMemory(uint64_t bytes);
  // The memory of another process. Takes over `descriptor`.
  static SharedMemory of(int descriptor);

  SharedMemory(SharedMemory&& other) noexcept;
  SharedMemory& operator=(SharedMemory&&) = delete;
  ~SharedMemory();

  int descriptor() const { return descriptor_; }
  MutableBytes bytes() const { return bytes_; }

  // Makes the memory at least `bytes` long. After an error it is unchanged.
  void grow(uint64_t bytes);
  // Maps what the other process has added with `grow`.
  void follow();
  // Gives the pages back to the system; the memory keeps its size, and its content becomes zeros.
  void release_pages();

 private:
  SharedMemory() = default;
  void map(uint64_t bytes);

  int descriptor_ = -1;
  MutableBytes bytes_;
};

}  // namespace fuelrail::made
