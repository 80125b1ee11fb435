// FFRecord files for tests, built only from the format's page and without the writer's code, as an
// independent check of reader and writer.
#pragma once

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "fuelrail/base/bytes.h"
#include "fuelrail/base/crc32.h"
#include "fuelrail/testing/temporary_directory.h"

namespace fuelrail::ffrecord {

inline const std::string kGolden = std::string(FUELRAIL_SOURCE_DIR) + "/tests/golden/ffrecord/";

template <typename T>
std::string little_endian(T value) {
  std::string bytes(sizeof value, '\0');
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

// The bytes of a file with this table, valid or not, followed by these bytes.
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

// Python's pickle (protocol 2) of a name, a number, and an empty OrderedDict.
inline std::string pickled(std::string_view name) {
  return "X" + little_endian(static_cast<uint32_t>(name.size())) + std::string(name);
}
inline std::string pickled(size_t number) {
  return "J" + little_endian(static_cast<int32_t>(number));
}
inline const std::string kPickledFolder = "ccollections\nOrderedDict\n)R";

// Packs a folder on disk as the original does.
class PackedFolderFile {
 public:
  explicit PackedFolderFile(const std::string& folder) {
    const std::string structure = add(folder);
    records_.push_back("piouhjgbr\x80\x02" + structure + ".");
  }
  std::string contents() const { return file_of(records_); }

 private:
  // Returns: the folder's part of the pickle.
  std::string add(const std::string& folder) {
    std::string pairs;
    for (const std::string& name : names_in(folder)) {
      pairs += pickled(name);
      const std::string path = folder + "/" + name;
      if (std::filesystem::is_directory(path)) {
        pairs += add(path);
      } else {
        pairs += pickled(records_.size());
        records_.push_back(file_contents(path));
      }
    }
    return kPickledFolder + "(" + pairs + "u";
  }

  std::vector<std::string> records_;
};

}  // namespace fuelrail::ffrecord
