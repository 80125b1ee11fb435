// How files are read. These options do not change the bytes that are read.
#pragma once

#include <cstdint>

#include "fuelrail/base/option.h"

namespace fuelrail {

inline constexpr int kMaxReadThreads = 1024;

enum class ReadBackend : uint8_t {
  kAuto,     // io_uring, or pread if the kernel refuses io_uring
  kPread,    // threads only
  kIoUring,  // an error if the kernel refuses it
};

struct ReadOptions {
  int threads = 4;  // simultaneous reads by threads; 0 = the thread that calls `wait` reads
  ReadBackend backend = ReadBackend::kAuto;  // kIoUring needs threads > 0
  // Bypass the page cache, for files far larger than memory, whose pages would only evict other
  // pages. Ordinary reads are used if the file system refuses direct reads, and for files that are
  // not kept open, such as those of a folder.
  bool direct = false;

  // `least_threads`: the lowest valid value of `threads`; 1 if the thread that calls `wait` must
  // not read.
  static OptionTable<ReadOptions> table(int least_threads = 0);
  friend bool operator==(const ReadOptions&, const ReadOptions&) = default;
};

}  // namespace fuelrail
