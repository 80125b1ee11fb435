// The URI of an InputSplit, and the files that it selects.
#include <string>
#include <string_view>

#include "fuelrail/split/split_uri.h"
#include "fuelrail/storage/memory/memory_file_system.h"
#include "fuzzing.h"

namespace {

using namespace fuelrail;
using fuzzing::require;
using fuzzing::succeeds;

// Longer patterns find no new errors, and matching them may take forever.
constexpr size_t kMaxItemBytes = 24;

void make_files() {
  FileSystem& files = memory_file_system();
  files.make_directory("memory://uri/d/e");
  for (const char* name : {"a", "b.rec", "c1", "c2", "d/f", "d/e/g", "a.frx", "empty"}) {
    const auto sink = files.create(std::string("memory://uri/") + name);
    if (std::string_view(name) != "empty") sink->write(as_bytes(name));
    sink->commit();
  }
}

// Rebuilds the URI from its parts.
std::string composed(const split::SplitUri& uri) {
  std::string text;
  for (const std::string& item : uri.items) text += (text.empty() ? "" : ";") + item;
  char separator = '?';
  for (const auto& [key, value] : uri.arguments) {
    text += separator + key + "=" + value;
    separator = '&';
  }
  if (!uri.cache.empty()) text += "#" + uri.cache;
  return text;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const bool made = (make_files(), true);
  require(made, "there are files");
  const std::string text(reinterpret_cast<const char*>(data), size);
  split::SplitUri uri;
  if (!succeeds([&] { uri = split::parse_split_uri(text); })) return 0;
  require(!uri.items.empty(), "a list has an item");
  const std::string again = composed(uri);
  const split::SplitUri same = split::parse_split_uri(again);
  require(same.items == uri.items && same.arguments == uri.arguments && same.cache == uri.cache,
          "written again, it is the same");
  for (std::string& item : uri.items) {
    require(!item.empty(), "an item is not empty");
    if (item.size() > kMaxItemBytes) return 0;
    item = "memory://uri/" + item;
  }
  for (const bool recurse : {false, true}) {
    succeeds([&] {
      const auto files = find_split_files(uri, recurse).files;
      require(!files.empty(), "files are found, or an error says why not");
      for (const FileInfo& file : files) {
        require(file.size_bytes > 0 && !file.is_directory, "a file has something in it");
      }
    });
  }
  return 0;
}
