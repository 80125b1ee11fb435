// Batches of records of FFRecord files, by index: what fuelrail.ffrecord.FileReader is made of.
// (The engine reads the same files as a Container: ffrecord_container.h.)
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "fuelrail/base/bytes.h"
#include "fuelrail/base/listener.h"
#include "fuelrail/container/ffrecord/record_table.h"
#include "fuelrail/storage/read_queue.h"

namespace fuelrail::ffrecord {

struct FileReaderOptions {
  bool check_data = true;  // verify the tables' checksums at opening, and every record's at reading
  ReadOptions read{.threads = 16};
  Warn warn{};  // of tables without a checksum, and of direct reads that are refused
};

// One record's bytes, and where they are.
struct RecordBytes {
  MutableBytes bytes;
  MutableBytes room;                 // around them, which a direct read overwrites too
  std::shared_ptr<std::byte> owner;  // null: the memory is the caller's
};

// Several files, one index space: the first file's records, then the second's, and so on.
//
// Threads: every method may be called from any thread at once. Fork: a child reads with queues of
// its own. Nothing is held between calls but the open files; queues and idle memory are the
// process's (storage/read_queue_pool.h).
class FileReader {
 public:
  // Opens the files in the order given; one may come twice. Errors: those of FileSystem::open,
  // RecordTable::read and make_read_queue.
  FileReader(std::vector<std::string> uris, FileReaderOptions options);
  ~FileReader();
  FileReader& operator=(FileReader&&) = delete;

  uint64_t size() const;
  const std::vector<std::string>& uris() const;
  const RecordTable& table(size_t file) const;
  // Bytes of a record. Errors: OutOfRangeError.
  uint64_t length(uint64_t index) const;

  // Closes the files; reads in other threads go on to their end. Tables stay. In a child that was
  // forked while another thread read, whose end never comes there, the files stay open until the
  // reader is destroyed.
  void close();

  // To be called before memory is taken for records of any length: of those longer than
  // kDefaultMaxRecordBytes of which the file has only a part (a sparse file: the rest takes no
  // place on the disk), whether their checksums are right all the same, whatever `check_data` says.
  // `keep_going` is asked before every MiB.
  // Memory: 1 MiB. Errors: CorruptError, IoError, with the place; OutOfRangeError; StateError.
  void require_held(std::span<const uint64_t> indices, const KeepGoing& keep_going = {}) const;

  // Memory of its own for a record, which is used again when its last owner lets go
  // (storage/read_memory.h), fit for direct reads where those are wanted. Errors: OutOfRangeError;
  // bad_alloc.
  RecordBytes memory_for(uint64_t index) const;
  // Whether that is better than fresh memory of the caller's: the record is large, or its reads
  // direct. Errors: OutOfRangeError.
  bool reuses_memory_for(uint64_t index) const;

  // Reads record indices[i] into into[i]; `indices` may repeat. All are read at once; neighbours
  // become one read, and checksums are verified where the bytes arrive. Requires: as many of the
  // one as of the other, into[i].bytes of length(indices[i]). Errors: StateError when closed;
  // OutOfRangeError before anything is read; else that of the first record in the order of
  // `indices` that failed, with path, record and offset: CorruptError, TruncatedError, IoError;
  // bad_alloc. Nothing is lost or leaked by it, and the reader can be used on.
  void read(std::span<const uint64_t> indices, std::span<const RecordBytes> into) const;
  // The same, into memory_for each. Errors: also those of require_held.
  std::vector<RecordBytes> read(std::span<const uint64_t> indices) const;

  // Reads everything, whatever `check_data` says, and reports each record that cannot be read or
  // whose checksum is wrong, by its index here, in order, with its Error. `progress` is told the
  // records done, at least every 32 MiB, and says whether to go on. Memory: 32 MiB. Errors:
  // bad_alloc; StateError when closed or told to stop.
  void verify(const std::function<void(uint64_t index, const std::exception_ptr& error)>& report,
              const std::function<bool(uint64_t done)>& progress) const;

  // Whether the tables are as they were written. Errors: CorruptError.
  void verify_tables() const;

  // Who reads what is not in the page cache: "io_uring" or "pread".
  std::string read_backend() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace fuelrail::ffrecord
