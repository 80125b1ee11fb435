#include "fuelrail/split/split_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "fuelrail/base/error.h"
#include "fuelrail/container/recordio/record_reader.h"
#include "fuelrail/split/text_lines.h"
#include "fuelrail/storage/block_reader.h"

namespace fuelrail::split {
namespace {

// If there are more files than this, none is kept open between reads.
constexpr size_t kMaxOpenFiles = 64;

// The beginning of a part is searched in steps of this many bytes.
constexpr uint64_t kSearchedAtOnce = uint64_t{256} << 10;

std::shared_ptr<const Source> opened(const FileInfo& file, bool held_open) {
  FileSystem& files = file_system_for(file.uri);
  if (!held_open) return files.open_lazily(file);
  std::shared_ptr<const Source> source = files.open(file.uri);
  if (source->size_bytes() != file.size_bytes) {
    throw IoError("the file's size has changed since the file was listed",
                  {.path = file.uri,
                   .expected = fmt::format("{} bytes", file.size_bytes),
                   .found = fmt::format("{}", source->size_bytes())});
  }
  return source;
}

// The beginning of the next line after the one that contains `offset`, skipping blank lines; the
// end of the file if there is none.
uint64_t next_line(const Source& source, uint64_t offset) {
  BlockReader reader(source, kSearchedAtOnce);
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
    : type_(type), files_(std::move(files)) {
  for (const FileInfo& file : files_) {
    if (type != SplitType::kText && file.size_bytes % ByteParts::kRecordIoAlign != 0) {
      throw CorruptError("the size of the RecordIO file is not a multiple of 4",
                         {.path = file.uri,
                          .found = fmt::format("{} bytes", file.size_bytes),
                          .remedy = "Omit the file, or rebuild it if it was truncated"});
    }
    sources_.push_back(opened(file, files_.size() <= kMaxOpenFiles));
    bytes_.add(file.size_bytes);
  }
}

std::vector<std::string> SplitFiles::uris() const {
  std::vector<std::string> uris;
  for (const FileInfo& file : files_) uris.push_back(file.uri);
  return uris;
}

std::vector<SplitPiece> SplitFiles::pieces(PartRange range) const {
  std::vector<SplitPiece> pieces;
  for (uint64_t at = range.begin; at < range.end;) {
    const auto [file, offset] = bytes_.find(at);
    const uint64_t end = std::min(range.end, bytes_.begin(file + 1));
    pieces.push_back({file, offset, end - at});
    at = end;
  }
  return pieces;
}

PartRange SplitFiles::part(uint64_t part, uint64_t nsplit) const {
  const bool text = type_ == SplitType::kText;
  const ByteParts parts{total_bytes(), text ? ByteParts::kTextAlign : ByteParts::kRecordIoAlign};
  const PartRange raw = parts.raw(part, nsplit);
  if (raw.empty()) return raw;
  return {moved_to_record(raw.begin), moved_to_record(raw.end)};
}

uint64_t SplitFiles::moved_to_record(uint64_t at) const {
  if (ends_file(at)) return at;  // includes the beginning of the first file
  const auto [file, offset] = bytes_.find(at);
  const Source& source = *sources_[file];
  const uint64_t begin = bytes_.begin(file);
  if (type_ == SplitType::kText) return begin + next_line(source, offset);
  BlockReader reader(source, kSearchedAtOnce);
  return begin + recordio::find_record_head(reader, offset, kSearchedAtOnce);
}

}  // namespace fuelrail::split
