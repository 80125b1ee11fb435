// The standard `.idx` beside a RecordIO file: one line a record, `key TAB offset-of-its-head
// NEWLINE`, in the order of writing (docs/formats/recordio.md). Upstream's tools want it; fuelrail
// finds records without it, and reads it for their keys.
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

// The entries of an index's text, one by one, in file order. White space around a line and columns
// after the second are ignored, blank lines skipped, as upstream's Python does; nothing else is
// forgiven. Lifetime: the text's.
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

// All of them. Errors: those of IndexReader.
std::vector<IndexEntry> parse_index(Bytes text, const std::string& uri);

// The index of an opened RecordIO file, all of it: `X.idx`; but `X.idx.next`, where that is there,
// as long as a writer that has replaced the file, or was killed at it, has not given it its last
// name (pack/output/part.h). Errors: NotFoundError, IoError.
struct IndexText {
  std::string uri{};
  std::vector<std::byte> bytes{};
};
IndexText read_index(const Source& data, const std::string& index_uri);

// Opens a RecordIO file with its index: both are of one file, also while that is replaced. Errors:
// as FileSystem::open and read_index.
struct IndexedSource {
  std::shared_ptr<const Source> data;
  IndexText index{};
};
IndexedSource open_with_index(const std::string& uri, const std::string& index_uri);

inline constexpr size_t kMaxIndexLineBytes = 64 * 1024;

// The record that each entry names. Errors: CorruptError, with line and offset, when no record of
// `container` begins there: the index belongs to another file or an older version.
std::vector<uint64_t> resolve_index(const std::vector<IndexEntry>& entries,
                                    const Container& container, const std::string& uri);

// Holds the number of an index's entries against the records that the sidecar of its file counts:
// an index that was cut at a line's end looks whole. Only `X.idx` of `X.rec`, however it is named,
// as any other may name some records; and only with a sidecar beside the file. Errors:
// TruncatedError for too few entries; IoError.
void check_complete(uint64_t entries, const Source& data, const std::string& uri);

// Errors: InvalidArgumentError, with `uri`, for a key that IndexWriter refuses.
void check_index_key(std::string_view key, const std::string& uri);

// Threads: one at a time. Lifetime: the sink outlives the writer.
class IndexWriter {
 public:
  explicit IndexWriter(Sink& sink) : sink_(sink) {}

  // Errors: InvalidArgumentError for a key that is empty, begins or ends with white space, holds a
  // TAB or a line end, or is too long for a line; the sink's.
  void add(std::string_view key, uint64_t offset);
  void add(uint64_t key, uint64_t offset);

 private:
  Sink& sink_;
};

}  // namespace fuelrail::recordio
