#include "fuelrail/container/file_identity.h"

#include <algorithm>
#include <vector>

#include "fuelrail/base/crc32.h"

namespace fuelrail {
namespace {

template <typename Read>
FileIdentity identity_of(uint64_t size, const Read& read) {
  std::vector<std::byte> piece(std::min<uint64_t>(size, kIdentityBytes));
  read(0, MutableBytes(piece));
  const uint32_t first = crc32(piece);
  read(size - piece.size(), MutableBytes(piece));
  return {.size_bytes = size, .first_crc = first, .last_crc = crc32(piece)};
}

}  // namespace

FileIdentity identify(const Source& data) {
  return identity_of(data.size_bytes(),
                     [&](uint64_t offset, MutableBytes into) { data.read(offset, into); });
}

FileIdentity identify(Sink& data) {
  return identity_of(data.position(),
                     [&](uint64_t offset, MutableBytes into) { data.read_back(offset, into); });
}

bool shares_an_end(const FileIdentity& was, const FileIdentity& now) {
  if (now.size_bytes > was.size_bytes) return false;
  // The ends of files shorter than 4 KiB are the files, which differ where their sizes do.
  if (now.size_bytes < std::min(was.size_bytes, kIdentityBytes)) return false;
  return now.first_crc == was.first_crc || now.last_crc == was.last_crc;
}

ChangedEnds changed_ends(const FileIdentity& was, const FileIdentity& now) {
  return {.first = was.first_crc != now.first_crc, .last = was.last_crc != now.last_crc};
}

}  // namespace fuelrail
