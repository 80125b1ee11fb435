// FFRecord files for tests, made from the format's page alone: nothing of the writer is used, so
// that reader and writer are held against a third.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "fuelrail/base/bytes.h"
#include "fuelrail/base/crc32.h"

namespace fuelrail::ffrecord {

inline const std::string kGolden = std::string(FUELRAIL_SOURCE_DIR) + "/tests/golden/ffrecord/";

template <typename T>
std::string little_endian(T value) {
  std::string bytes(sizeof value, '\0');
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

// The bytes of a file with this table, whatever it says, and these bytes behind.
inline std::string file_of(int64_t count, const std::vector<uint32_t>& crcs,
                           const std::vector<int64_t>& offsets, std::string_view behind) {
  std::string table = little_endian(count);
  for (const uint32_t crc : crcs) table += little_endian(crc);
  for (const int64_t offset : offsets) table += little_endian(offset);
  return little_endian(crc32(as_bytes(table))) + table + std::string(behind);
}

inline std::string file_of(const std::vector<std::string>& records) {
  std::vector<uint32_t> crcs;
  std::vector<int64_t> offsets;
  std::string behind;
  for (const std::string& record : records) {
    crcs.push_back(crc32(as_bytes(record)));
    offsets.push_back(static_cast<int64_t>(12 + 12 * records.size() + behind.size()));
    behind += record;
  }
  return file_of(static_cast<int64_t>(records.size()), crcs, offsets, behind);
}

}  // namespace fuelrail::ffrecord
