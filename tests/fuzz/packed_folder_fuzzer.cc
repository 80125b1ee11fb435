// The pickle in a packed folder.
#include <set>
#include <string>

#include "fuelrail/base/endian.h"
#include "fuelrail/container/ffrecord/packed_folder.h"
#include "fuzzing.h"

namespace {

using namespace fuelrail;
using ffrecord::PackedEntries;
using fuzzing::require;

constexpr uint64_t kRecords = 100'000;

template <typename T>
std::string little_endian(T value) {
  std::string bytes(sizeof value, '\0');
  store_le(reinterpret_cast<std::byte*>(bytes.data()), value);
  return bytes;
}

// Checks the folder, and returns it as a pickle.
std::string checked(const PackedEntries& folder, int depth) {
  require(depth <= ffrecord::kMaxFolderDepth, "folders are not nested too deep");
  std::set<std::string> names;
  std::string pickle = "ccollections\nOrderedDict\n)R(";
  for (const auto& [name, entry] : folder.entries) {
    require(names.insert(name).second, "names are there once");
    require(!name.empty() && name != "." && name != ".." &&
                name.size() <= ffrecord::kMaxNameBytes &&
                name.find_first_of(std::string_view("/\0", 2)) == std::string::npos,
            "names are names");
    pickle += "X" + little_endian(static_cast<uint32_t>(name.size())) + name;
    if (const auto* record = std::get_if<uint64_t>(&entry)) {
      require(*record < kRecords, "files are there");
      pickle += "J" + little_endian(static_cast<int32_t>(*record));
    } else {
      pickle += checked(std::get<PackedEntries>(entry), depth + 1);
    }
  }
  return pickle + "u";
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string record =
      std::string(ffrecord::kFolderMark) + std::string(as_text(fuzzing::as_bytes(data, size)));
  std::string pickle;
  if (!fuzzing::succeeds([&] {
        pickle = checked(ffrecord::parse_packed_folder(as_bytes(record), kRecords), 1);
      })) {
    return 0;
  }
  const std::string again = std::string(ffrecord::kFolderMark) + pickle + ".";
  require(checked(ffrecord::parse_packed_folder(as_bytes(again), kRecords), 1) == pickle,
          "what is written is read back");
  return 0;
}
