// Corrects the checksums of damaged FFRecord files (docs/formats/ffrecord.md). Otherwise hardly any
// change gets past the checksum of the table.
#pragma once

#include <vector>

#include "fuelrail/base/crc32.h"
#include "fuelrail/base/endian.h"
#include "fuelrail/container/ffrecord/record_table.h"
#include "fuelrail/storage/memory/memory_file_system.h"
#include "fuzzing.h"

namespace fuelrail::fuzzing {

// The same table and records with correct checksums; the table's own checksum stays absent if it
// was absent. Returns the input unchanged if it has no valid table.
inline std::vector<std::byte> mended_ffrecord(Bytes file) {
  using namespace ffrecord;
  std::vector<std::byte> bytes = copied(file);
  const auto source = memory_source("fuzzed", bytes);
  succeeds([&] {
    const RecordTable table = RecordTable::read(*source, false);
    for (uint64_t i = 0; i < table.size(); ++i) {
      store_le(bytes.data() + kHeadBytes + 4 * i,
               crc32(file.subspan(table.offset(i), table.length(i))));
    }
    if (!table.has_checksum()) return;
    const Bytes covered = Bytes(bytes).subspan(4, table_bytes(table.size()) - 4);
    store_le(bytes.data(), crc32(covered));
  });
  return bytes;
}

}  // namespace fuelrail::fuzzing
