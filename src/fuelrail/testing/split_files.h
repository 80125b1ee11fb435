// Files for input splits, in their own directory, and helpers that read a whole split.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "fuelrail/base/bytes.h"
#include "fuelrail/container/recordio/framing.h"
#include "fuelrail/container/recordio/record_writer.h"
#include "fuelrail/split/input_split.h"
#include "fuelrail/testing/collecting_sink.h"
#include "fuelrail/testing/temporary_directory.h"

namespace fuelrail {

inline const std::string kMagicText = "\x0a\x23\xd7\xce";

// A RecordIO file's bytes.
inline std::string framed_records(const std::vector<std::string>& payloads) {
  CollectingSink sink;
  recordio::RecordWriter writer(sink);
  for (const std::string& payload : payloads) writer.append(as_bytes(payload));
  return std::string(as_text(sink.bytes()));
}

// A directory with files; its URI list has them in the order of writing.
class SplitDirectory {
 public:
  const std::string& add(const std::string& name, std::string_view contents) {
    write_file(directory_ / name, contents);
    paths_.push_back(directory_ / name);
    return paths_.back();
  }
  const std::string& add_records(const std::string& name,
                                 const std::vector<std::string>& payloads) {
    return add(name, framed_records(payloads));
  }
  std::string operator/(std::string_view name) const { return directory_ / name; }
  const std::string& path() const { return directory_.path(); }
  std::string list() const {
    std::string list;
    for (const std::string& path : paths_) list += (list.empty() ? "" : ";") + path;
    return list;
  }

 private:
  TemporaryDirectory directory_;
  std::vector<std::string> paths_;
};

// The rest of the pass.
inline std::vector<std::string> records_left(split::InputSplit& split) {
  std::vector<std::string> records;
  while (const auto record = split.next_record()) records.emplace_back(as_text(*record));
  return records;
}

inline std::vector<std::string> records_in(const split::InputSplit& split, Bytes chunk) {
  std::vector<std::string> records;
  for (const auto& record : split.records_of(chunk)) records.emplace_back(as_text(record));
  return records;
}

// "0", "1", ...
inline std::vector<std::string> numbered_records(int count) {
  std::vector<std::string> records;
  for (int i = 0; i < count; ++i) records.push_back(std::to_string(i));
  return records;
}

// The index of a file of records.
inline std::string index_of(const std::string& file) {
  std::string index;
  int key = 0;
  for (size_t at = 0; at < file.size();) {
    index += std::to_string(key++) + "\t" + std::to_string(at) + "\n";
    std::vector<std::byte> assembled;
    at += static_cast<size_t>(
        recordio::unframe(as_bytes(std::string_view(file).substr(at)), assembled).framed_bytes);
  }
  return index;
}

}  // namespace fuelrail
