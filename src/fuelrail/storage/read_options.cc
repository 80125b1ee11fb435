#include "fuelrail/storage/read_options.h"

namespace fuelrail {

OptionTable<ReadOptions> ReadOptions::table(int least_threads) {
  return OptionTable<ReadOptions>()
      .number("read_threads", &ReadOptions::threads, least_threads, kMaxReadThreads,
              least_threads > 0 ? "number of simultaneous reads; fuelrail adds more if storage is "
                                  "slow."
                                : "number of simultaneous reads. With 0, the calling thread reads.")
      .choice("read_backend", &ReadOptions::backend,
              {{"auto", ReadBackend::kAuto},
               {"io_uring", ReadBackend::kIoUring},
               {"pread", ReadBackend::kPread}},
              "how files are read: \"io_uring\", \"pread\" (by native threads) or \"auto\", which "
              "uses io_uring if the kernel permits it, and pread otherwise. Even with io_uring, "
              "threads read the files of a folder and files on NFS or FUSE, because the kernel "
              "cannot read them without blocking.")
      .flag("direct_reads", &ReadOptions::direct,
            "whether to bypass the page cache (O_DIRECT), for files far larger than memory. If "
            "the file system does not support this, or if the dataset is a folder, the files are "
            "read through the page cache, and a FuelrailWarning reports it.");
}

}  // namespace fuelrail
