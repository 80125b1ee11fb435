#include "fuelrail/storage/source.h"

#include <fmt/format.h>

#include "fuelrail/base/error.h"

namespace fuelrail {

void Source::read_scattered(uint64_t offset, std::span<const MutableBytes> pieces) const {
  for (const MutableBytes piece : pieces) {
    read(offset, piece);
    offset += piece.size();
  }
}

bool Source::read_if_cached(uint64_t, std::span<const MutableBytes>) const { return false; }

std::vector<std::byte> read_whole(const Source& source) {
  const uint64_t size = source.size_bytes();
  if (size > kMaxWholeBytes) {
    throw UnsupportedError(
        "the file is too large to read into memory",
        {.path = source.uri(),
         .expected = fmt::format("at most {} bytes", kMaxWholeBytes),
         .found = fmt::format("{}", size),
         .remedy = "Check the path; if the file is an index, split the records into several "
                   "files"});
  }
  std::vector<std::byte> bytes(size);
  source.read(0, bytes);
  return bytes;
}

void check_range(const std::string& uri, uint64_t size_bytes, uint64_t offset, uint64_t length) {
  if (offset <= size_bytes && length <= size_bytes - offset) return;
  const uint64_t available = offset < size_bytes ? size_bytes - offset : 0;
  throw TruncatedError("the file ends before the end of the requested range",
                       {.path = uri,
                        .offset = offset,
                        .expected = fmt::format("{} bytes", length),
                        .found = fmt::format("{}", available)});
}

}  // namespace fuelrail
