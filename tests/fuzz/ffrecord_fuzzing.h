// Makes damaged FFRecord files believable (docs/formats/ffrecord.md): else hardly a change gets
// past the checksum of the table.
#pragma once

#include <vector>

#include "fuelrail/base/crc32.h"
#include "fuelrail/base/endian.h"
#include "fuelrail/container/ffrecord/record_table.h"
#include "fuelrail/storage/memory/memory_file_system.h"
#include "fuzzing.h"

namespace fuelrail::fuzzing {

// The same table and records, with the checksums that they should have; without the table's own
// where it had none. As it is, where the table is none.
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
