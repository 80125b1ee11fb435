#include "fuelrail/container/recordio/index_keys.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "fuelrail/base/error.h"
#include "fuelrail/base/parse_number.h"
#include "fuelrail/storage/file_system.h"

namespace fuelrail::recordio {
namespace {

std::string shown(std::string_view key) { return fmt::format("{:?}", key.substr(0, 60)); }

[[noreturn]] void refuse_keys(const std::string& uri, const std::string& found) {
  throw UnsupportedError(
      "the keys of the index cannot be used as record keys",
      {.path = uri,
       .expected =
           "one entry for each record, in the order of the records, and a whole number below 2^64 "
           "as each key",
       .found = found,
       .remedy = "Move the index away; a record's key is then its key in the sidecar, else its "
                 "image's id, else its number"});
}

}  // namespace

std::vector<uint64_t> keys_of(const RecordFile& file, const IndexText& index) {
  std::vector<uint64_t> keys;
  IndexReader entries(index.bytes, index.uri);
  while (const std::optional<IndexEntry> entry = entries.next()) {
    const auto refuse = [&](const std::string& found) {
      refuse_keys(index.uri, fmt::format("{} in line {}", found, entry->line));
    };
    if (keys.size() == file.size()) refuse("an extra entry");
    if (entry->offset != file.sidecar().record(keys.size()).offset) {
      refuse("the wrong offset");
    }
    const std::optional<uint64_t> key = parse_number<uint64_t>(entry->key);
    if (!key || fmt::to_string(*key) != entry->key) refuse("the key " + shown(entry->key));
    keys.push_back(*key);
  }
  if (keys.size() < file.size()) refuse_keys(index.uri, "fewer entries than records");
  return keys;
}

KeysByOffset::KeysByOffset(const std::string& uri, const Warn& warn) {
  if (!is_file(uri)) return;
  try {
    const std::vector<std::byte> text = read_whole(*file_system_for(uri).open(uri));
    IndexReader entries(text, uri);
    while (const auto entry = entries.next()) {
      const std::optional<uint64_t> key = parse_number<uint64_t>(entry->key);
      if (!key) {
        throw CorruptError("an index key is not a whole number",
                           {.path = uri, .found = shown(entry->key)});
      }
      keys_.emplace_back(entry->offset, *key);
    }
  } catch (const CorruptError& error) {
    keys_.clear();
    if (warn) warn(fmt::format("the output does not keep the keys of the index: {}", error.what()));
  }
  std::sort(keys_.begin(), keys_.end());
}

uint64_t KeysByOffset::at(uint64_t offset, uint64_t wanted) {
  const auto found = std::lower_bound(keys_.begin(), keys_.end(), std::pair{offset, uint64_t{0}});
  if (found != keys_.end() && found->first == offset) return found->second;
  if (keys_.empty()) return wanted;
  if (taken_.empty()) {
    for (const auto& [of, key] : keys_) taken_.insert(key);
    above_ = *taken_.rbegin();
  }
  while (!taken_.insert(wanted).second) wanted = ++above_;
  return wanted;
}

}  // namespace fuelrail::recordio
