#include "fuelrail/container/recordio/index_file.h"

#include <fmt/format.h>

#include <algorithm>

#include "fuelrail/base/error.h"
#include "fuelrail/base/parse_number.h"
#include "fuelrail/base/ranges.h"
#include "fuelrail/container/sidecar/sidecar_store.h"
#include "fuelrail/storage/file_system.h"

namespace fuelrail::recordio {
namespace {

constexpr std::string_view kSpace = " \t\r\n\v\f";

std::string_view strip(std::string_view text) {
  const size_t begin = text.find_first_not_of(kSpace);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kSpace) - begin + 1);
}

[[noreturn]] void throw_bad_line(const std::string& uri, uint64_t line, std::string_view expected,
                                 std::string_view found) {
  constexpr size_t kShownBytes = 60;
  throw CorruptError(fmt::format("line {} of the index is invalid", line),
                     {.path = uri,
                      .expected = std::string(expected),
                      .found = fmt::format("{:?}", found.substr(0, kShownBytes))});
}

uint64_t parse_offset(std::string_view text, const std::string& uri, uint64_t line) {
  if (const auto offset = parse_number<uint64_t>(text)) return *offset;
  throw_bad_line(uri, line, "a decimal offset below 2^64 after the TAB", text);
}

IndexEntry parse_line(std::string_view text, const std::string& uri, uint64_t line) {
  const size_t tab = text.find('\t');
  if (tab == std::string_view::npos) throw_bad_line(uri, line, "key TAB offset", text);
  std::string_view offset = text.substr(tab + 1);
  offset = strip(offset.substr(0, offset.find('\t')));
  return {text.substr(0, tab), parse_offset(offset, uri, line), line};
}

// The record whose head is at `offset`, or size(). The offsets of a container's records ascend.
uint64_t record_at(const Container& container, uint64_t offset) {
  const uint64_t size = container.size();
  const uint64_t i =
      first_index(size, [&](uint64_t k) { return container.extent(k).offset >= offset; });
  return i < size && container.extent(i).offset == offset ? i : size;
}

std::string own_index_uri(const Source& data, const std::string& index_uri) {
  const std::string next = next_uri(index_uri);
  return file_system_for(next).stat(next) && is_next_in_use(data) ? next : index_uri;
}

}  // namespace

IndexText read_index(const Source& data, const std::string& index_uri) {
  constexpr int kMaxLooks = 8;  // the index may be renamed, or the file replaced, between two looks
  for (int look = 1;; ++look) {
    IndexText index{.uri = own_index_uri(data, index_uri)};
    try {
      index.bytes = read_whole(*file_system_for(index.uri).open(index.uri));
      if (look == kMaxLooks || own_index_uri(data, index_uri) == index.uri) return index;
    } catch (const NotFoundError&) {
      if (look == kMaxLooks || index.uri == index_uri) throw;
    }
  }
}

IndexedSource open_with_index(const std::string& uri, const std::string& index_uri) {
  return until_not_replaced([&](Replaced replaced) {
    IndexedSource opened{.data = file_system_for(uri).open(uri)};
    opened.index = read_index(*opened.data, index_uri);
    check_still_named(*opened.data, replaced);
    return opened;
  });
}

std::optional<IndexEntry> IndexReader::next() {
  while (!rest_.empty()) {
    ++line_;
    const size_t end = std::min(rest_.find('\n'), rest_.size());
    if (end > kMaxIndexLineBytes) {
      throw_bad_line(uri_, line_, fmt::format("at most {} bytes", kMaxIndexLineBytes), rest_);
    }
    const std::string_view content = strip(rest_.substr(0, end));
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    if (!content.empty()) return parse_line(content, uri_, line_);
  }
  return std::nullopt;
}

std::vector<IndexEntry> parse_index(Bytes text, const std::string& uri) {
  IndexReader reader(text, uri);
  std::vector<IndexEntry> entries;
  while (const auto entry = reader.next()) entries.push_back(*entry);
  return entries;
}

std::vector<uint64_t> resolve_index(const std::vector<IndexEntry>& entries,
                                    const Container& container, const std::string& uri) {
  std::vector<uint64_t> records;
  records.reserve(entries.size());
  for (const IndexEntry& entry : entries) {
    // Most indices name the records in order, so try the next record before searching.
    uint64_t record = records.empty() ? 0 : records.back() + 1;
    if (record >= container.size() || container.extent(record).offset != entry.offset) {
      record = record_at(container, entry.offset);
    }
    if (record == container.size()) {
      throw CorruptError(
          fmt::format("line {} of the index has an offset where no record begins", entry.line),
          {.path = uri,
           .expected = "the offset at which a record begins",
           .found = fmt::format("{}", entry.offset),
           .remedy = "Remove the index, or rebuild it from the record file"});
    }
    records.push_back(record);
  }
  return records;
}

void check_complete(uint64_t entries, const Source& data, const std::string& uri) {
  const std::string own = data.uri().substr(0, data.uri().rfind('.')) + ".idx";
  if (own != uri && identity_of_name(own) != identity_of_name(uri)) return;
  const std::optional<uint64_t> records = records_beside(data);
  if (!records || entries >= *records) return;
  throw TruncatedError(
      "the index has fewer entries than the file has records",
      {.path = uri,
       .expected = fmt::format("{}", *records),
       .found = fmt::format("{}", entries),
       .remedy = "Move the index away, and rewrite the file and its index with 'fuelrail merge "
                 "NEW.rec OLD.rec'"});
}

void check_index_key(std::string_view key, const std::string& uri) {
  if (key.empty() || strip(key) != key || key.find_first_of("\t\r\n") != key.npos ||
      key.size() > kMaxIndexLineBytes / 2) {
    throw InvalidArgumentError(
        "the index key is invalid",
        {.path = uri,
         .expected = "a short, non-empty text without TABs or line ends, and without spaces at its "
                     "start or end",
         .found = fmt::format("{:?}", key.substr(0, 60))});
  }
}

void IndexWriter::add(std::string_view key, uint64_t offset) {
  check_index_key(key, sink_.uri());
  const std::string line = fmt::format("{}\t{}\n", key, offset);
  sink_.write(as_bytes(line));
}

void IndexWriter::add(uint64_t key, uint64_t offset) { add(fmt::format("{}", key), offset); }

}  // namespace fuelrail::recordio
