// The pickle of a packed folder: parsed alone, and as part of a file that is opened as images.
#include <algorithm>
#include <memory>
#include <set>
#include <string>

#include "fuelrail/base/endian.h"
#include "fuelrail/container/ffrecord/file_writer.h"
#include "fuelrail/container/ffrecord/packed_folder.h"
#include "fuelrail/container/fingerprint.h"
#include "fuelrail/storage/memory/memory_file_system.h"
#include "fuzzing.h"

namespace {

using namespace fuelrail;
using ffrecord::PackedEntries;
using fuzzing::require;

constexpr uint64_t kRecords = 100'000;
constexpr uint64_t kFiles = 24;  // in the file that is opened as images
constexpr const char* kUri = "memory://packed.ffr";

template <typename T>
std::string little_endian(T value) {
  std::string bytes(sizeof value, '\0');
  store_le(reinterpret_cast<std::byte*>(bytes.data()), value);
  return bytes;
}

// Checks the folder and returns it as a pickle.
std::string checked(const PackedEntries& folder, int depth) {
  require(depth <= ffrecord::kMaxFolderDepth, "folders are not nested too deep");
  std::set<std::string_view> names;
  std::string pickle = "ccollections\nOrderedDict\n)R(";
  for (const auto& [name, entry] : folder.entries) {
    require(names.insert(name).second, "names are there once");
    require(!name.empty() && name != "." && name != ".." &&
                name.size() <= ffrecord::kMaxNameBytes &&
                name.find_first_of(std::string_view("/\0", 2)) == std::string::npos,
            "names are names");
    pickle += "X" + little_endian(static_cast<uint32_t>(name.size())) + std::string(name);
    if (const auto* record = std::get_if<uint64_t>(&entry)) {
      require(*record < kRecords, "files are there");
      pickle += "J" + little_endian(static_cast<int32_t>(*record));
    } else {
      pickle += checked(std::get<PackedEntries>(entry), depth + 1);
    }
  }
  return pickle + "u";
}

// The number of files in the folder and below it.
uint64_t files_in(const PackedEntries& folder) {
  uint64_t files = 0;
  for (const auto& [name, entry] : folder.entries) {
    const auto* below = std::get_if<PackedEntries>(&entry);
    files += below == nullptr ? 1 : files_in(*below);
  }
  return files;
}

// Record i is i bytes long.
void put_file(const std::string& last_record) {
  const std::unique_ptr<Sink> sink = memory_file_system().create(kUri);
  ffrecord::FileWriter writer(*sink, kFiles + 1);
  for (uint64_t i = 0; i < kFiles; ++i) writer.append(as_bytes(std::string(i, 'x')));
  writer.append(as_bytes(last_record));
  writer.finish();
  sink->commit();
}

void check_images(const std::string& last_record) {
  put_file(last_record);
  std::shared_ptr<const Container> container;
  if (!fuzzing::succeeds([&] { container = ffrecord::open_packed_images(kUri); })) return;
  const auto& classes = container->classes();
  require(std::ranges::is_sorted(classes) && std::ranges::adjacent_find(classes) == classes.end(),
          "classes are in order, and there once");
  const auto folder = ffrecord::parse_packed_folder(as_bytes(last_record), kFiles);
  require(container->size() > 0 && container->size() <= files_in(folder.root),
          "images are its files");
  std::vector<std::byte> framed;
  Sample sample;
  FingerprintBuilder fingerprint;
  int64_t label = 0;
  for (uint64_t i = 0; i < container->size(); ++i) {
    read_sample(*container, i, framed, sample);
    const uint64_t record = container->place(i).record;
    require(record < kFiles && sample.fields[0].bytes.size() == record, "an image is its record");
    const auto next = load_le<int64_t>(sample.fields[1].bytes.data());
    require(next >= label && static_cast<uint64_t>(next) < classes.size(),
            "images are in the order of their classes");
    label = next;
    fingerprint.add(record);
  }
  require(container->fingerprint() == fingerprint.result(), "a fingerprint is of the lengths");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string record =
      std::string(ffrecord::kFolderMark) + std::string(as_text(fuzzing::as_bytes(data, size)));
  check_images(record);
  std::string pickle;
  if (!fuzzing::succeeds([&] {
        pickle = checked(ffrecord::parse_packed_folder(as_bytes(record), kRecords).root, 1);
      })) {
    return 0;
  }
  const std::string again = std::string(ffrecord::kFolderMark) + pickle + ".";
  require(checked(ffrecord::parse_packed_folder(as_bytes(again), kRecords).root, 1) == pickle,
          "what is written is read back");
  return 0;
}
