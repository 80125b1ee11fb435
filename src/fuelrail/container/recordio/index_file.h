// The standard `.idx` beside a RecordIO file: one line per record, `key TAB offset-of-its-head
// NEWLINE`, in the order of writing (docs/formats/recordio.md). Upstream's tools need the index.
// fuelrail finds records without it, and reads it only for their keys.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fuelrail/base/bytes.h"
#include "fuelrail/container/container.h"
#include "fuelrail/storage/sink.h"
#include "fuelrail/storage/source.h"

namespace fuelrail::recordio {

struct IndexEntry {
  std::string_view key;  // a view into the parsed text
  uint64_t offset = 0;
  uint64_t line = 0;  // counted from 1, for errors
};

// Reads the entries of an index one by one, in file order. Like upstream's Python, ignores white
// space around a line, columns after the second, and blank lines. Anything else is an error.
// Lifetime: the text outlives the reader.
class IndexReader {
 public:
  IndexReader(Bytes text, std::string uri) : rest_(as_text(text)), uri_(std::move(uri)) {}

  // Empty at the end. Errors: CorruptError with `uri` and the line number (no TAB, an empty key, an
  // offset that is not a decimal number below 2^64, a line longer than kMaxIndexLineBytes).
  std::optional<IndexEntry> next();

 private:
  std::string_view rest_;
  std::string uri_;
  uint64_t line_ = 0;
};

// Returns all entries of an index. Errors: those of IndexReader.
std::vector<IndexEntry> parse_index(Bytes text, const std::string& uri);

// Reads the whole index of an opened RecordIO file: `X.idx`, or `X.idx.next` while that belongs to
// the file. `X.idx.next` exists while a writer that replaces the file is committing it, or after
// that writer was killed (pack/output/part.h). Errors: NotFoundError, IoError.
struct IndexText {
  std::string uri{};
  std::vector<std::byte> bytes{};
};
IndexText read_index(const Source& data, const std::string& index_uri);

// Opens a RecordIO file and its index. The index belongs to the opened file, even if the file is
// being replaced. Errors: those of FileSystem::open and read_index.
struct IndexedSource {
  std::shared_ptr<const Source> data;
  IndexText index{};
};
IndexedSource open_with_index(const std::string& uri, const std::string& index_uri);

inline constexpr size_t kMaxIndexLineBytes = 64 * 1024;

// Returns the number of the record at each entry's offset. Errors: CorruptError, with line and
// offset, if no record of `container` begins there: the index belongs to a different file, or to an
// older version of this one.
std::vector<uint64_t> resolve_index(const std::vector<IndexEntry>& entries,
                                    const Container& container, const std::string& uri);

// Compares the number of index entries with the number of records in the file's sidecar, because an
// index that was cut at the end of a line looks complete. Checks only the index `X.idx` of `X.rec`
// (under any path), because an index with a different name may name only some of the records. Does
// nothing if there is no sidecar beside the file. Errors: TruncatedError for too few entries;
// IoError.
void check_complete(uint64_t entries, const Source& data, const std::string& uri);

// Checks a key. Errors: InvalidArgumentError, with `uri`, for a key that IndexWriter rejects.
void check_index_key(std::string_view key, const std::string& uri);

// Writes an index line by line. Threads: one at a time. Lifetime: the sink outlives the writer.
class IndexWriter {
 public:
  explicit IndexWriter(Sink& sink) : sink_(sink) {}

  // Errors: InvalidArgumentError for a key that is empty, begins or ends with white space, contains
  // a TAB or a line end, or is too long for a line; those of the sink.
  void add(std::string_view key, uint64_t offset);
  void add(uint64_t key, uint64_t offset);

 private:
  Sink& sink_;
};

}  // namespace fuelrail::recordio
