// Corrects the checksums of damaged sidecars (docs/formats/frx.md). Otherwise hardly any change
// gets past them.
#pragma once

#include <algorithm>
#include <vector>

#include "fuelrail/base/crc32.h"
#include "fuelrail/base/endian.h"
#include "fuelrail/container/fingerprint.h"
#include "fuelrail/container/sidecar/sidecar.h"
#include "fuelrail/container/sidecar/sidecar_format.h"
#include "fuzzing.h"

namespace fuelrail::fuzzing {

// The directory's entries that are inside the file; none if the file ends before the directory.
inline std::vector<std::byte*> directory_of(std::vector<std::byte>& sidecar) {
  using namespace frx;
  std::vector<std::byte*> entries;
  if (sidecar.size() < kHeaderBytes) return entries;
  const uint64_t sections = load_le<uint32_t>(sidecar.data() + kSectionCountAt);
  if (sections > (sidecar.size() - kHeaderBytes) / kDirectoryEntryBytes) return entries;
  for (uint64_t i = 0; i < sections; ++i) {
    entries.push_back(sidecar.data() + kHeaderBytes + i * kDirectoryEntryBytes);
  }
  return entries;
}

// A section's data; empty if it is not inside the file.
inline MutableBytes data_of(std::vector<std::byte>& sidecar, const std::byte* entry) {
  const auto offset = load_le<uint64_t>(entry + frx::kOffsetAt);
  const auto length = load_le<uint64_t>(entry + frx::kLengthAt);
  if (offset > sidecar.size() || length > sidecar.size() - offset) return {};
  return MutableBytes(sidecar).subspan(offset, length);
}

// Corrects every checksum that is inside the file, and the stored file size.
inline void mend_checksums(std::vector<std::byte>& sidecar) {
  using namespace frx;
  if (sidecar.size() < kHeaderBytes) return;
  store_le<uint64_t>(sidecar.data() + kFileSizeAt, sidecar.size());
  const std::vector<std::byte*> entries = directory_of(sidecar);
  for (std::byte* entry : entries) {
    const Bytes data = data_of(sidecar, entry);
    const uint64_t block = load_le<uint32_t>(entry + kBlockBytesAt);
    if (block == 0) {
      store_le(entry + kCrcAt, crc32(data));
      continue;
    }
    const uint64_t blocks = (data.size() + block - 1) / block;
    const uint64_t crcs = round_up(load_le<uint64_t>(entry + kOffsetAt) + data.size(), 4);
    if (crcs > sidecar.size() || blocks > (sidecar.size() - crcs) / kChecksumBytes) continue;
    for (uint64_t b = 0; b < blocks; ++b) {
      const Bytes part = data.subspan(b * block, std::min(block, data.size() - b * block));
      store_le(sidecar.data() + crcs + kChecksumBytes * b, crc32(part));
    }
    store_le(entry + kCrcAt, crc32(Bytes(sidecar).subspan(crcs, kChecksumBytes * blocks)));
  }
  const uint32_t header = crc32(Bytes(sidecar).first(kHeaderCrcAt));
  const size_t directory_bytes = entries.size() * kDirectoryEntryBytes;
  const Bytes directory = Bytes(sidecar).subspan(kHeaderBytes, directory_bytes);
  store_le(sidecar.data() + kHeaderCrcAt, crc32(directory, header));
}

// Changes the sidecar to belong to `data`, with the fingerprint of its own table.
inline void mend_identity(std::vector<std::byte>& sidecar, const Source& data) {
  using namespace frx;
  if (sidecar.size() < kHeaderBytes) return;
  const FileIdentity identity = identify(data);
  store_le(sidecar.data() + kDataSizeAt, identity.size_bytes);
  store_le(sidecar.data() + kFirstCrcAt, identity.first_crc);
  store_le(sidecar.data() + kLastCrcAt, identity.last_crc);
  MutableBytes meta;
  Bytes table;
  for (const std::byte* entry : directory_of(sidecar)) {
    const auto type = load_le<uint32_t>(entry + kTypeAt);
    if (type == kMetaSection) meta = data_of(sidecar, entry);
    if (type == kRecordsSection) table = data_of(sidecar, entry);
  }
  if (meta.size() < kMetaBytes) return;
  FingerprintBuilder builder;
  for (; table.size() >= kTableEntryBytes; table = table.subspan(kTableEntryBytes)) {
    builder.add(load_le<uint64_t>(table.data() + 8));
  }
  store_le(meta.data() + 8, builder.result().bytes);
  store_le(meta.data() + 16, builder.result().checksum);
}

}  // namespace fuelrail::fuzzing
