#include "fuelrail/container/file_identity.h"

#include <algorithm>
#include <vector>

#include "fuelrail/base/crc32.h"

namespace fuelrail {
namespace {

template <typename Read>
FileIdentity identity_by(uint64_t size, const Read& read) {
  std::vector<std::byte> first(std::min<uint64_t>(size, kIdentityBytes));
  std::vector<std::byte> last(first.size());
  read(0, MutableBytes(first));
  read(size - last.size(), MutableBytes(last));
  return identity_of_ends(size, first, last);
}

}  // namespace

FileIdentity identity_of_ends(uint64_t size_bytes, Bytes first, Bytes last) {
  return {.size_bytes = size_bytes, .first_crc = crc32(first), .last_crc = crc32(last)};
}

FileIdentity identify(const Source& data) {
  return identity_by(data.size_bytes(),
                     [&](uint64_t offset, MutableBytes into) { data.read(offset, into); });
}

FileIdentity identify(Sink& data) {
  return identity_by(data.position(),
                     [&](uint64_t offset, MutableBytes into) { data.read_back(offset, into); });
}

ChangedEnds changed_ends(const FileIdentity& was, const FileIdentity& now) {
  // In a file shorter than 4 KiB, both ends are the whole file, which differs if its size does.
  const bool both =
      was.size_bytes != now.size_bytes && std::min(was.size_bytes, now.size_bytes) < kIdentityBytes;
  return {.first = both || was.first_crc != now.first_crc,
          .last = both || was.last_crc != now.last_crc};
}

}  // namespace fuelrail
