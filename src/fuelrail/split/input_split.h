// dmlc-core's InputSplit over fuelrail's storage: one logical part of many files, read record by
// record or chunk by chunk, while a thread reads ahead. Parts are those that dmlc-core makes,
// record for record; what it does wrong is not done here. docs/input_split.md has the rules: the
// grammar of URIs, the types, the parts, chunks, batches, caches, and every difference.
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
  kText,             // lines, ended by any run of \n and \r
  kRecordIo,         // dmlc's RecordIO (docs/formats/recordio.md)
  kIndexedRecordIo,  // the same with an index: parts of equal counts, and shuffled reading
};

// "text", "recordio", "indexed_recordio". Errors: InvalidArgumentError, with the nearest name.
SplitType split_type_of(const std::string& name);
const char* name_of(SplitType type);

struct InputSplitOptions {
  // What is read.
  SplitType type = SplitType::kRecordIo;
  uint64_t part = 0;  // of `nsplit`
  uint64_t nsplit = 1;
  std::string index_uri{};           // of kIndexedRecordIo, which needs it; the others take none
  bool recurse_directories = false;  // directories below a directory, too

  // In which order. `shuffle` is kIndexedRecordIo's: its records in a new order in every pass, as
  // dmlc's (split/dmlc_shuffle.h). `shuffle_parts` is that of the others, dmlc's InputSplitShuffle:
  // the part is divided into so many, which are visited in a new order in every pass; 0 = not.
  bool shuffle = false;
  int64_t seed = 0;  // of either
  uint64_t shuffle_parts = 0;

  // How it is cut. A chunk of kIndexedRecordIo has `batch_size` records, of the others up to
  // `chunk_bytes`.
  uint64_t batch_size = 256;
  uint64_t chunk_bytes = uint64_t{8} << 20;
};

// Threads: one at a time. A thread of its own starts at the first read, and reads up to two chunks
// ahead. Memory: four chunks, each as long as the longest that it held: a record that does not fit
// makes its chunk up to about twice as long as itself.
//
// Fork: a split from which nothing was read works in a forked child as if it had been made there.
// One that has read belongs to its process: in the child everything that reads or moves is a
// StateError, the rest works, and the destructor lets go.
//
// Lifetime: what a call returns is valid until the next one. Files must not change as long as they
// are read; one whose size has changed is an IoError.
class InputSplit {
 public:
  // Finds the files, and where the part begins and ends. Errors: InvalidArgumentError (the URI's
  // grammar, options that contradict each other, part >= nsplit); NotFoundError for an item of the
  // list that names nothing, and where there are no data; UnsupportedError for stdin and file
  // systems that fuelrail does not read; CorruptError for a RecordIO file whose size is no multiple
  // of 4, and a damaged index; the file system's.
  explicit InputSplit(const std::string& uri, const InputSplitOptions& options = {});
  ~InputSplit();
  InputSplit& operator=(InputSplit&&) = delete;

  // The next record: a line without its end, or a record's payload. Blank lines are no records.
  // Empty at the end, again and again. Errors: CorruptError and TruncatedError, with path and
  // offset, again at every call until `before_first`; the source's.
  std::optional<Bytes> next_record();

  // Whole records as they stand in the files, one after the other: all that is left of the present
  // chunk, or the next. A file without a line end at its end gets one. Errors: as next_record, but
  // records are not looked into.
  std::optional<Bytes> next_chunk();

  // As next_chunk, of `records` records; fewer at the end, when the first batch of the next pass
  // has only what is missing, so that batches stay aligned over passes (until reset_partition).
  // Errors: InvalidArgumentError for 0; as next_record.
  std::optional<Bytes> next_batch(uint64_t records);

  // The records in what next_chunk or next_batch gave, copied. Errors: CorruptError and
  // TruncatedError with the offset in it.
  std::vector<std::vector<std::byte>> records_of(Bytes chunk) const;

  // Whether next_record answers without reading or waiting.
  bool has_record_at_hand() const;

  // Goes back to the part's beginning; shuffled, draws the next order. Errors: StateError in a
  // forked child.
  void before_first();

  // Goes on at the beginning of another part. What shuffles goes on with the same generator; with
  // `shuffle_parts`, in the present order, and `nsplit` must stay what it is. Errors:
  // InvalidArgumentError; as the constructor. After an error, `before_first` goes back to the part
  // that it was.
  void reset_partition(uint64_t part, uint64_t nsplit);

  // For chunks that are read from now on, of which two may have been read ahead; more where one
  // record does not fit. kIndexedRecordIo has no use for it. Errors: InvalidArgumentError for 0.
  void hint_chunk_size(uint64_t bytes);

  // Of all files, not of the part.
  uint64_t total_size() const;
  const InputSplitOptions& options() const;  // with the part as it is now
  const std::vector<std::string>& files() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace fuelrail::split
