#include "fuelrail/split/split_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "fuelrail/base/error.h"
#include "fuelrail/container/recordio/block_reader.h"
#include "fuelrail/container/recordio/record_reader.h"
#include "fuelrail/split/text_lines.h"

namespace fuelrail::split {
namespace {

// Of more files none is held open between reads.
constexpr size_t kMaxOpenFiles = 64;

// Where a part begins is searched in steps of this.
constexpr uint64_t kSearchedAtOnce = uint64_t{256} << 10;

std::shared_ptr<const Source> opened(const FileInfo& file, bool held_open) {
  FileSystem& files = file_system_for(file.uri);
  if (!held_open) return files.open_lazily(file);
  std::shared_ptr<const Source> source = files.open(file.uri);
  if (source->size_bytes() != file.size_bytes) {
    throw IoError("the file has changed while it was opened",
                  {.path = file.uri,
                   .expected = fmt::format("{} bytes", file.size_bytes),
                   .found = fmt::format("{}", source->size_bytes())});
  }
  return source;
}

// Behind the line in which `offset` lies, and behind the blank lines after it; the file's end at
// most.
uint64_t next_line(const Source& source, uint64_t offset) {
  recordio::BlockReader reader(source, kSearchedAtOnce);
  bool line_ended = false;
  for (uint64_t at = offset; at < source.size_bytes();) {
    const Bytes block = reader.at(at, std::min(kSearchedAtOnce, source.size_bytes() - at));
    for (size_t i = 0; i < block.size(); ++i) {
      const bool end = is_line_end(block[i]);
      if (line_ended && !end) return at + i;
      line_ended = end;
    }
    at += block.size();
  }
  return source.size_bytes();
}

}  // namespace

SplitFiles::SplitFiles(SplitType type, std::vector<FileInfo> files)
    : type_(type), files_(std::move(files)), begins_{0} {
  for (const FileInfo& file : files_) {
    if (type != SplitType::kText && file.size_bytes % ByteParts::kRecordIoAlign != 0) {
      throw CorruptError("this is no RecordIO file: its size is no multiple of 4",
                         {.path = file.uri,
                          .found = fmt::format("{} bytes", file.size_bytes),
                          .remedy = "Leave it out, or make it anew if it was cut"});
    }
    sources_.push_back(opened(file, files_.size() <= kMaxOpenFiles));
    begins_.push_back(begins_.back() + file.size_bytes);
  }
}

std::vector<std::string> SplitFiles::uris() const {
  std::vector<std::string> uris;
  for (const FileInfo& file : files_) uris.push_back(file.uri);
  return uris;
}

// Requires: at < total_bytes().
size_t SplitFiles::file_at(uint64_t at) const {
  const auto behind = std::upper_bound(begins_.begin(), begins_.end(), at);
  return static_cast<size_t>(behind - begins_.begin()) - 1;
}

std::vector<SplitPiece> SplitFiles::pieces(PartRange range) const {
  std::vector<SplitPiece> pieces;
  for (uint64_t at = range.begin; at < range.end;) {
    const size_t file = file_at(at);
    const uint64_t end = std::min(range.end, begins_[file + 1]);
    pieces.push_back({file, at - begins_[file], end - at});
    at = end;
  }
  return pieces;
}

bool SplitFiles::ends_file(uint64_t at) const {
  return std::binary_search(begins_.begin(), begins_.end(), at);
}

PartRange SplitFiles::part(uint64_t part, uint64_t nsplit) const {
  const bool text = type_ == SplitType::kText;
  const ByteParts parts{total_bytes(), text ? ByteParts::kTextAlign : ByteParts::kRecordIoAlign};
  const PartRange raw = parts.raw(part, nsplit);
  if (raw.empty()) return raw;
  return {moved_to_record(raw.begin), moved_to_record(raw.end)};
}

uint64_t SplitFiles::moved_to_record(uint64_t at) const {
  if (ends_file(at)) return at;  // or begins the first
  const size_t file = file_at(at);
  const Source& source = *sources_[file];
  const uint64_t offset = at - begins_[file];
  if (type_ == SplitType::kText) return begins_[file] + next_line(source, offset);
  recordio::BlockReader reader(source, kSearchedAtOnce);
  return begins_[file] + recordio::find_record_head(reader, offset, kSearchedAtOnce);
}

}  // namespace fuelrail::split
