// InputSplit over files of any bytes: every part of every type, in chunks of any size.
#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fuelrail/base/endian.h"
#include "fuelrail/container/recordio/framing.h"
#include "fuelrail/container/recordio/record_reader.h"
#include "fuelrail/split/input_split.h"
#include "fuelrail/storage/memory/memory_file_system.h"
#include "fuzzing.h"

namespace {

using namespace fuelrail;
using fuzzing::require;
using fuzzing::succeeds;

using Records = std::vector<std::string>;

// The first bytes of an input select how it is read; the rest are the files.
struct Setting {
  size_t files = 1;
  uint64_t nsplit = 1;
  uint64_t chunk_bytes = 8;
  uint64_t batch = 1;
  uint64_t shuffle_parts = 0;
  bool shuffle = false;
  uint8_t left_out = 0;  // skipped index entries
};
constexpr size_t kSettingBytes = 6;

Setting setting_of(const uint8_t* data) {
  return {.files = 1 + size_t{data[0]} % 3,
          .nsplit = 1 + uint64_t{data[1]} % 6,
          .chunk_bytes = 1 + uint64_t{data[2]} * 3,
          .batch = 1 + uint64_t{data[3]} % 9,
          .shuffle_parts = uint64_t{data[4]} % 4,
          .shuffle = data[4] >= 128,
          .left_out = data[5]};
}

void put(const std::string& uri, Bytes bytes) {
  const auto sink = memory_file_system().create(uri);
  sink->write(bytes);
  sink->commit();
}

// The input's files, and their list.
struct Files {
  std::vector<Bytes> contents;
  std::string list;

  // Cut at multiples of a word, so that RecordIO's records can be whole.
  Files(Bytes all, size_t count) {
    const size_t each = (all.size() / count + 3) / 4 * 4;
    for (size_t i = 0; i < count; ++i) {
      const Bytes one = all.subspan(std::min(i * each, all.size()));
      contents.push_back(i + 1 < count ? one.first(std::min(each, one.size())) : one);
      const std::string uri = "memory://split/" + std::to_string(i);
      put(uri, contents.back());
      list += (i == 0 ? "" : ";") + uri;
    }
  }
};

Records lines_of(const Files& files) {
  Records lines;
  for (const Bytes file : files.contents) {
    std::string line;
    for (const char c : std::string(as_text(file)) + "\n") {
      if (c != '\n' && c != '\r') {
        line += c;
      } else if (!line.empty()) {
        lines.push_back(std::move(line));
        line.clear();
      }
    }
  }
  return lines;
}

// Whether the magic occurs only before parts of records, as in the output of every writer. A split
// searches for the magic, and may mistake one inside a payload for the start of a record.
bool magic_is_escaped(Bytes file) {
  for (size_t at = 0; at + recordio::kHeadBytes <= file.size();) {
    const uint64_t payload = load_le<uint32_t>(file.data() + at + 4) & recordio::kMaxPayloadBytes;
    const size_t end =
        std::min<uint64_t>(at + recordio::kHeadBytes + (payload + 3) / 4 * 4, file.size());
    for (at += recordio::kHeadBytes; at + 4 <= end; at += 4) {
      if (load_le<uint32_t>(file.data() + at) == recordio::kMagic) return false;
    }
    at = end;
  }
  return true;
}

// The records and their offsets over all files; empty if one is damaged.
std::optional<Records> records_of(const Files& files, std::vector<uint64_t>& places) {
  Records records;
  uint64_t begin = 0;
  for (const Bytes file : files.contents) {
    recordio::RecordReader reader(memory_source("file", fuzzing::copied(file)));
    const bool clean = succeeds([&] {
      while (const auto record = reader.next()) {
        places.push_back(begin + record->offset);
        records.emplace_back(as_text(record->payload));
      }
    });
    if (!clean || !magic_is_escaped(file)) return std::nullopt;
    begin += file.size();
  }
  return records;
}

Records records_left(split::InputSplit& split) {
  Records records;
  while (const auto record = split.next_record()) records.emplace_back(as_text(*record));
  return records;
}

// All parts, one after the other. Each is read a second time, in batches or in chunks.
Records all_parts(const Files& files, split::InputSplitOptions options, const Setting& setting) {
  Records all;
  std::optional<split::InputSplit> moved;
  for (options.part = 0; options.part < options.nsplit; ++options.part) {
    split::InputSplit split(files.list, options);
    const Records records = records_left(split);
    require(!split.next_record() && !split.next_chunk(), "the end stays the end");
    split.before_first();
    Records again;
    const bool batches = setting.left_out % 2 == 0;
    while (const auto chunk = batches ? split.next_batch(setting.batch) : split.next_chunk()) {
      const auto found = split.records_of(*chunk);
      require(!batches || found.size() <= setting.batch, "a batch has what was asked for");
      for (const auto& record : found) again.emplace_back(as_text(record));
    }
    const bool in_order = !options.shuffle && options.shuffle_parts == 0;
    require(!in_order || again == records, "a second pass gives the same");
    require(again.size() == records.size(), "a second pass gives as much");
    all.insert(all.end(), records.begin(), records.end());
  }
  return all;
}

void check_all(const Files& files, const split::InputSplitOptions& options, const Setting& setting,
               const std::optional<Records>& expected) {
  Records all;
  const bool clean = succeeds([&] { all = all_parts(files, options, setting); });
  if (!expected) return;
  require(clean, "undamaged files are read");
  Records sorted = *expected;
  if (options.shuffle || options.shuffle_parts != 0) {
    std::sort(all.begin(), all.end());
    std::sort(sorted.begin(), sorted.end());
  }
  require(all == sorted, "every record comes once");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size <= kSettingBytes) return 0;
  const Setting setting = setting_of(data);
  memory_file_system().make_directory("memory://split");
  const Files files(fuzzing::as_bytes(data + kSettingBytes, size - kSettingBytes), setting.files);
  split::InputSplitOptions options{.type = split::SplitType::kText,
                                   .nsplit = setting.nsplit,
                                   .shuffle_parts = setting.shuffle_parts,
                                   .batch_size = setting.batch,
                                   .chunk_bytes = setting.chunk_bytes};
  check_all(files, options, setting, lines_of(files));

  options.type = split::SplitType::kRecordIo;
  std::vector<uint64_t> places;
  const std::optional<Records> records = records_of(files, places);
  check_all(files, options, setting, records);

  options.type = split::SplitType::kIndexedRecordIo;
  options.shuffle_parts = 0;
  options.shuffle = setting.shuffle;
  options.index_uri = "memory://split/idx";
  std::string index;
  for (size_t i = 0; i < places.size(); ++i) {
    if (i > 0 && (setting.left_out >> (i % 8)) % 2 != 0) continue;
    index += std::to_string(i) + "\t" + std::to_string(places[i]) + "\n";
  }
  put(options.index_uri, as_bytes(index));
  check_all(files, options, setting, places.empty() ? std::nullopt : records);
  return 0;
}
