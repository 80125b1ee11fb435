// Reads batches of records from FFRecord files by index; fuelrail.ffrecord.FileReader is built on
// it. (The engine reads the same files as a Container: ffrecord_container.h.)
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
  bool check_data = true;  // verify the checksums of tables (at opening) and records (at reading)
  ReadOptions read{.threads = 16};
  Warn warn{};  // about tables without a checksum, and refused direct reads
};

// The memory for one record.
struct RecordBytes {
  MutableBytes bytes;
  MutableBytes room;                 // for direct reads, which may overwrite all of it; has `bytes`
  std::shared_ptr<std::byte> owner;  // null: the caller owns the memory
};

// Numbers the records of several files in one range of indices: those of the first file, then those
// of the second, and so on.
//
// Threads: any method may be called from several threads at once. Fork: a child process uses its
// own read queues. Between calls, the reader holds only the open files; queues and idle memory
// belong to the process (storage/read_queue_pool.h).
class FileReader {
 public:
  // Opens the files in the given order; a file may be given twice. Errors: those of
  // FileSystem::open, RecordTable::read and make_read_queue.
  FileReader(std::vector<std::string> uris, FileReaderOptions options);
  ~FileReader();
  FileReader& operator=(FileReader&&) = delete;

  uint64_t size() const;
  const std::vector<std::string>& uris() const;
  const RecordTable& table(size_t file) const;
  // The bytes of a record. Errors: OutOfRangeError.
  uint64_t length(uint64_t index) const;

  // Closes the files, without waiting: if other threads are reading, the last read to finish closes
  // them. The tables stay usable. In a child that was forked while another thread was reading, that
  // read never finishes, so the files stay open until the reader is destroyed.
  void close();

  // Call before allocating memory for records of any length. Verifies the checksum, even if
  // `check_data` is false, of each record that is longer than kDefaultMaxRecordBytes and is partly
  // or wholly in a hole of a sparse file. Calls `keep_going` before every MiB. Memory: 1 MiB.
  // Errors: CorruptError, IoError, with the place; OutOfRangeError; StateError.
  void require_held(std::span<const uint64_t> indices, const KeepGoing& keep_going = {}) const;

  // Allocates memory for a record, suitable for direct reads if those are enabled. The memory is
  // reused after its last owner releases it (storage/read_memory.h). Errors: OutOfRangeError;
  // bad_alloc.
  RecordBytes memory_for(uint64_t index) const;
  // Whether memory_for is better than memory that the caller allocates: true for large records and
  // for direct reads. Errors: OutOfRangeError.
  bool reuses_memory_for(uint64_t index) const;

  // Reads record indices[i] into into[i]; `indices` may repeat. All records are read in parallel,
  // and neighbouring records in one read. Checksums are verified as the bytes arrive. Requires:
  // both spans have the same size; into[i].bytes has length(indices[i]) bytes. Errors: StateError
  // if the reader is closed; OutOfRangeError, before anything is read; bad_alloc; CorruptError,
  // TruncatedError or IoError of the first failed record in the order of `indices`, with path,
  // record and offset. After an error, the reader stays usable and leaks nothing.
  void read(std::span<const uint64_t> indices, std::span<const RecordBytes> into) const;
  // As above, but reads into memory from memory_for. Errors: as above, and those of require_held.
  std::vector<RecordBytes> read(std::span<const uint64_t> indices) const;

  // Reads all records and verifies their checksums, even if `check_data` is false. For each record
  // that cannot be read or has a wrong checksum, in order, calls `report` with its index in this
  // reader and its Error. Calls `progress` with the number of records done, at least every 32 MiB;
  // if `progress` returns false, the verification stops. `take` is called for each intact record,
  // in order, after the failures among the records that are read with it. Memory: 32 MiB, and with
  // `take` a longer record. Errors: bad_alloc; StateError if the reader is closed or the
  // verification was stopped; those of `read` for a longer record that changes meanwhile.
  void verify(const std::function<void(uint64_t index, const std::exception_ptr& error)>& report,
              const std::function<bool(uint64_t done)>& progress,
              const std::function<void(uint64_t index, Bytes record)>& take = {}) const;

  // Verifies the checksums of the tables in memory. Errors: CorruptError.
  void verify_tables() const;

  // How bytes that are not in the page cache are read: "io_uring" or "pread".
  std::string read_backend() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace fuelrail::ffrecord
