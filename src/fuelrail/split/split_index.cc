#include "fuelrail/split/split_index.h"

#include <fmt/format.h>

#include <algorithm>

#include "fuelrail/base/error.h"
#include "fuelrail/container/recordio/index_file.h"

namespace fuelrail::split {
namespace {

[[noreturn]] void throw_other_index(const std::string& uri, const std::string& expected,
                                    const std::string& found) {
  throw CorruptError("the index does not belong to these data",
                     {.path = uri,
                      .expected = expected,
                      .found = found,
                      .remedy = "Make it anew for them (of several files: one index of all, with "
                                "offsets that count on)"});
}

}  // namespace

std::vector<uint64_t> read_split_index(const std::string& uri, const SplitFiles& files) {
  const uint64_t total_bytes = files.total_bytes();
  const recordio::IndexText text = recordio::read_index(files.source(0), uri);
  std::vector<uint64_t> places;
  for (const recordio::IndexEntry& entry : recordio::parse_index(text.bytes, text.uri)) {
    places.push_back(entry.offset);
  }
  std::sort(places.begin(), places.end());
  if (places.empty()) throw_other_index(uri, "an entry a record", "an empty index");
  if (places.front() != 0) {
    throw_other_index(uri, "an entry with offset 0", fmt::format("{} first", places.front()));
  }
  if (places.back() >= total_bytes) {
    throw_other_index(uri, fmt::format("offsets below {}", total_bytes),
                      fmt::format("{}", places.back()));
  }
  const auto twice = std::adjacent_find(places.begin(), places.end());
  if (twice != places.end()) {
    throw_other_index(uri, "each offset once", fmt::format("{} twice", *twice));
  }
  return places;
}

}  // namespace fuelrail::split
