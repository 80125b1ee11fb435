// dmlc-core's InputSplit on fuelrail's storage: reads one logical part of many files, record by
// record or chunk by chunk, while a thread reads ahead. The parts are the same as dmlc-core's,
// record for record, but dmlc-core's bugs are not reproduced. docs/input_split.md has the rules:
// the grammar of URIs, the types, parts, chunks, batches, caches, and all differences.
//
//   InputSplit split("data/train.rec;data/more/", {.type = SplitType::kRecordIo, .nsplit = 4});
//   while (const auto record = split.next_record()) use(*record);
//   split.before_first();
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fuelrail/base/bytes.h"

namespace fuelrail::split {

enum class SplitType : uint8_t {
  kText,             // lines, each ended by a run of \n and \r
  kRecordIo,         // dmlc's RecordIO (docs/formats/recordio.md)
  kIndexedRecordIo,  // RecordIO with an index: parts of equal record counts, and shuffled reading
};

// The type named "text", "recordio" or "indexed_recordio". Errors: InvalidArgumentError for an
// unknown name; the error suggests the nearest known name.
SplitType split_type_of(const std::string& name);
const char* name_of(SplitType type);

struct InputSplitOptions {
  // Options that select the data:
  SplitType type = SplitType::kRecordIo;
  uint64_t part = 0;  // number of the part, below `nsplit`
  uint64_t nsplit = 1;
  std::string index_uri{};           // required for kIndexedRecordIo, and only allowed there
  bool recurse_directories = false;  // also read the directories below a directory

  // Options of the order:
  // `shuffle`, only for kIndexedRecordIo: reads the records in a new random order in each pass, the
  // same order as dmlc's (split/dmlc_shuffle.h). `shuffle_parts`, only for the other types: the
  // number of sub-parts that the part is divided into; they are read in a new random order in each
  // pass, as dmlc's InputSplitShuffle does; 0: off.
  bool shuffle = false;
  int64_t seed = 0;  // seed of `shuffle` and `shuffle_parts`
  uint64_t shuffle_parts = 0;

  // The size of a chunk: `batch_size` records for kIndexedRecordIo, at most `chunk_bytes` bytes for
  // the other types.
  uint64_t batch_size = 256;
  uint64_t chunk_bytes = uint64_t{8} << 20;
};

// Threads: one at a time. An internal thread starts at the first read and reads up to two chunks
// ahead. Memory: four chunk buffers, each as large as the largest chunk that it has held. A record
// that does not fit into a chunk makes the chunk up to about twice as long as the record.
//
// Fork: a split that has not read yet works in a forked child as if it had been created there. A
// split that has read belongs to its process: in the child, all methods that read or seek throw
// StateError, the others work, and the destructor releases its memory.
//
// Lifetime: a returned view is valid until the next call. Files must not change while they are
// read; a file whose size has changed is an IoError.
class InputSplit {
 public:
  // Finds the files, and the beginning and end of the part. Errors: InvalidArgumentError for an
  // invalid URI, options that cannot be combined, and part >= nsplit; NotFoundError for an item
  // that names no file, and if all files are empty; UnsupportedError for stdin and file systems
  // that fuelrail cannot read; CorruptError for a RecordIO file whose size is not a multiple of 4,
  // and for an index that is damaged or belongs to other data; the file system's.
  explicit InputSplit(const std::string& uri, const InputSplitOptions& options = {});
  ~InputSplit();
  InputSplit& operator=(InputSplit&&) = delete;

  // The next record: a line without its line end, or a record's payload. Blank lines are skipped.
  // Returns nullopt at the end, and again if called again. Errors: CorruptError and TruncatedError
  // with path and offset, which every later call throws again until `before_first` is called; the
  // source's.
  std::optional<Bytes> next_record();

  // Whole records with their framing, as in the files: the rest of the present chunk, or the next
  // chunk. A text file that does not end with a line end gets one. Errors: as for next_record, but
  // the contents of the records are not checked.
  std::optional<Bytes> next_chunk();

  // As next_chunk, but returns `records` records. The last batch of a pass may have fewer. In that
  // case, the first batch of the next pass has only as many records as were missing, so that
  // batches stay aligned over passes (until reset_partition). Errors: InvalidArgumentError for 0;
  // as for next_record.
  std::optional<Bytes> next_batch(uint64_t records);

  // Copies of the records in a chunk that next_chunk or next_batch returned. Errors: CorruptError
  // and TruncatedError with the offset in the chunk.
  std::vector<std::vector<std::byte>> records_of(Bytes chunk) const;

  // Whether next_record can return without reading or waiting.
  bool has_record_at_hand() const;

  // Goes back to the beginning of the part, and draws the next order if shuffled. Errors:
  // StateError in a forked child.
  void before_first();

  // Goes to the beginning of part `part` of `nsplit`. Shuffles continue with the same generator.
  // With `shuffle_parts`, the order of the sub-parts stays the same until `before_first`, and
  // `nsplit` must not change. Errors: InvalidArgumentError; those of the constructor. After an
  // error, `before_first` goes back to the previous part.
  void reset_partition(uint64_t part, uint64_t nsplit);

  // Sets `chunk_bytes` for later reads; up to two chunks may already have been read ahead. No
  // effect for kIndexedRecordIo. Errors: InvalidArgumentError for 0.
  void hint_chunk_size(uint64_t bytes);

  // The size in bytes of all files, not only of the part.
  uint64_t total_size() const;
  const InputSplitOptions& options() const;  // with the present part and nsplit
  const std::vector<std::string>& files() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace fuelrail::split
