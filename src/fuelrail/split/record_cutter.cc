#include "fuelrail/split/record_cutter.h"

#include "fuelrail/base/error.h"
#include "fuelrail/container/recordio/framing.h"

namespace fuelrail::split {

std::optional<RecordCutter::Cut> RecordCutter::next(const SplitChunk& chunk, size_t from,
                                                    const SplitFiles& files) {
  if (text_) return next_line(chunk.bytes(), from);
  if (from == chunk.size()) return std::nullopt;
  const SplitChunk::Piece& piece = chunk.piece_at(from);
  const size_t end = std::min(piece.at + piece.length, chunk.size());
  const uint64_t offset = piece.offset + (from - piece.at);
  const FileInfo& file = files.info(piece.file);
  try {
    return unframed(chunk.bytes().first(end), from, offset);
  } catch (CorruptError& error) {
    error.add({.path = file.uri});
    throw;
  } catch (TruncatedError& error) {
    error.add({.path = file.uri});
    if (offset + (end - from) == file.size_bytes) throw;
    throw CorruptError("a record extends past the beginning of the next record",
                       {.path = file.uri,
                        .offset = error.detail().offset,
                        .expected = error.detail().expected,
                        .found = error.detail().found});
  }
}

std::optional<RecordCutter::Cut> RecordCutter::next(Bytes bytes, size_t from) {
  if (text_) return next_line(bytes, from);
  if (from == bytes.size()) return std::nullopt;
  return unframed(bytes, from, from);
}

std::optional<RecordCutter::Cut> RecordCutter::next_line(Bytes bytes, size_t from) {
  const auto line = lines_.next(bytes, from);
  if (!line) return std::nullopt;
  return Cut{bytes.subspan(line->begin, line->end - line->begin), line->begin, line->next};
}

RecordCutter::Cut RecordCutter::unframed(Bytes bytes, size_t at, uint64_t offset) {
  const recordio::Unframed record = recordio::unframe(bytes.subspan(at), assembled_, offset);
  return {record.payload, at, at + static_cast<size_t>(record.framed_bytes)};
}

}  // namespace fuelrail::split
