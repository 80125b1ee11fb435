// How files are read. None of it changes what is read.
#pragma once

#include <cstdint>

#include "fuelrail/base/option.h"

namespace fuelrail {

inline constexpr int kMaxReadThreads = 1024;

enum class ReadBackend : uint8_t {
  kAuto,     // io_uring, or pread where the kernel refuses it
  kPread,    // threads alone
  kIoUring,  // an error where the kernel refuses it
};

struct ReadOptions {
  int threads = 4;  // reads at once, by threads; 0 = none: whoever waits reads
  ReadBackend backend = ReadBackend::kAuto;  // not kIoUring with threads = 0
  // Past the page cache: for files far larger than memory, whose pages would only push out others.
  // Ordinary reads where the file system refuses, and of files that are not held open, as a
  // folder's are not.
  bool direct = false;

  // `least_threads`: 1 where whoever waits must not read.
  static OptionTable<ReadOptions> table(int least_threads = 0);
  friend bool operator==(const ReadOptions&, const ReadOptions&) = default;
};

}  // namespace fuelrail
