#include "fuelrail/storage/read_options.h"

namespace fuelrail {

OptionTable<ReadOptions> ReadOptions::table(int least_threads) {
  return OptionTable<ReadOptions>()
      .number("read_threads", &ReadOptions::threads, least_threads, kMaxReadThreads,
              least_threads > 0 ? "reads at the same time, more where storage is slow."
                                : "reads at the same time. 0: no threads of their own.")
      .choice("read_backend", &ReadOptions::backend,
              {{"auto", ReadBackend::kAuto},
               {"io_uring", ReadBackend::kIoUring},
               {"pread", ReadBackend::kPread}},
              "\"io_uring\", \"pread\" (native threads) or \"auto\": io_uring where the kernel "
              "permits it. In either case threads read what the kernel would wait for: a "
              "folder's files, and files on NFS or FUSE.")
      .flag("direct_reads", &ReadOptions::direct,
            "read past the page cache, for files far larger than memory. Where the file system "
            "refuses, and of a folder, whose files are opened one at a time, a FuelrailWarning "
            "says so and reads are ordinary ones.");
}

}  // namespace fuelrail
