#include "fuelrail/split/part_bytes.h"

#include <algorithm>
#include <utility>

#include "fuelrail/base/error.h"
#include "fuelrail/split/text_lines.h"
#include "fuelrail/storage/read_batch.h"

namespace fuelrail::split {
namespace {

constexpr uint64_t kCopiedAtOnce = uint64_t{4} << 20;

}  // namespace

PartBytes::PartBytes(std::shared_ptr<const SplitFiles> files, PartRange range,
                     std::optional<SplitCache> cache)
    : files_(std::move(files)), range_(range), cache_(std::move(cache)) {}

void PartBytes::append(PartRange range, SplitChunk& chunk) {
  uint64_t place = range.begin;
  for (const SplitPiece& piece : files_->pieces(range)) {
    const size_t at = chunk.size();
    const MutableBytes into = chunk.append(static_cast<size_t>(piece.length));
    read(place, piece, into);
    chunk.add_piece({at, into.size(), place, piece.file, piece.offset});
    place += piece.length;
    if (files_->type() == SplitType::kText && files_->ends_file(place) &&
        !is_line_end(into.back())) {
      chunk.append(1).front() = std::byte{'\n'};
    }
  }
}

void PartBytes::append_all(std::span<const PartRange> ranges, SplitChunk& chunk) {
  if (cache_ || ranges.size() == 1) {
    for (const PartRange& range : ranges) append(range, chunk);
    return;
  }
  uint64_t bytes = 0;
  for (const PartRange& range : ranges) bytes += range.length();
  size_t at = chunk.size();
  MutableBytes into = chunk.append(static_cast<size_t>(bytes));
  std::vector<ReadRequest> requests;
  for (const PartRange& range : ranges) {
    uint64_t place = range.begin;
    for (const SplitPiece& piece : files_->pieces(range)) {
      const auto length = static_cast<size_t>(piece.length);
      requests.push_back({.source = &files_->source(piece.file),
                          .offset = piece.offset,
                          .into = into.first(length)});
      chunk.add_piece({at, length, place, piece.file, piece.offset});
      into = into.subspan(length);
      at += length;
      place += piece.length;
    }
  }
  const std::vector<Completion> failed = read_batch(requests, {.threads = 16});
  if (!failed.empty()) std::rethrow_exception(failed.front().error);
}

void PartBytes::read(uint64_t place, const SplitPiece& piece, MutableBytes into) {
  const uint64_t offset = place - range_.begin;
  if (cache_ && !cache_->complete()) fill_cache_up_to(offset);
  if (cache_ && cache_->complete()) {
    cache_->read(offset, into);
    return;
  }
  files_->source(piece.file).read(piece.offset, into);
  if (!cache_) return;
  const uint64_t known = cache_->filled() - offset;  // at least up to `offset`
  if (known < into.size()) cache_->fill(into.subspan(static_cast<size_t>(known)));
}

// Copies bytes into the cache up to `offset`, because reading may have skipped them.
void PartBytes::fill_cache_up_to(uint64_t offset) {
  std::vector<std::byte> buffer;
  while (cache_->filled() < offset) {
    if (stopped_) {
      throw StateError("reading was stopped because the split was closed",
                       {.remedy = "Create a new split to read again"});
    }
    const uint64_t filled = cache_->filled();
    buffer.resize(static_cast<size_t>(std::min(offset - filled, kCopiedAtOnce)));
    const uint64_t begin = range_.begin + filled;
    read_files({begin, begin + buffer.size()}, buffer);
    cache_->fill(buffer);
  }
}

void PartBytes::read_files(PartRange range, MutableBytes into) const {
  for (const SplitPiece& piece : files_->pieces(range)) {
    const auto length = static_cast<size_t>(piece.length);
    files_->source(piece.file).read(piece.offset, into.first(length));
    into = into.subspan(length);
  }
}

}  // namespace fuelrail::split
