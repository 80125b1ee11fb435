#include "fuelrail/storage/read_options.h"

namespace fuelrail {

OptionTable<ReadOptions> ReadOptions::table(int least_threads) {
  return OptionTable<ReadOptions>()
      .number("read_threads", &ReadOptions::threads, least_threads, kMaxReadThreads,
              least_threads > 0 ? "number of simultaneous reads; fuelrail adds more if storage is "
                                  "slow."
                                : "number of simultaneous reads. 0: the calling thread reads.")
      .choice("read_backend", &ReadOptions::backend,
              {{"auto", ReadBackend::kAuto},
               {"io_uring", ReadBackend::kIoUring},
               {"pread", ReadBackend::kPread}},
              "how to read: with \"io_uring\", with \"pread\" (native threads), or \"auto\": with "
              "io_uring if the kernel permits it, otherwise with pread. With io_uring, threads "
              "still read files that the kernel cannot read without blocking: a folder's files, "
              "and files on NFS or FUSE.")
      .flag("direct_reads", &ReadOptions::direct,
            "bypass the page cache (O_DIRECT), for files far larger than memory. If the file "
            "system refuses this, and for a folder, whose files are opened one at a time, a "
            "FuelrailWarning says that the files are read through the page cache.");
}

}  // namespace fuelrail
