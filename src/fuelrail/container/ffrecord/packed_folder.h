// A folder in an FFRecord file, as the original's `pack_folder` writes it: a record a file, and a
// last one that says the files' names (docs/formats/ffrecord.md).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "fuelrail/base/bytes.h"
#include "fuelrail/container/container.h"
#include "fuelrail/container/open.h"

namespace fuelrail::ffrecord {

inline constexpr char kFolderMark[] = "piouhjgbr";  // begins the last record

// A folder's entries, in the order in which they were written.
struct PackedEntries {
  using Entry = std::variant<uint64_t, PackedEntries>;  // a file's record, or a folder
  std::vector<std::pair<std::string, Entry>> entries;
};

// From the last record: the mark, then a pickle of nested OrderedDicts of str to int. The pickle is
// read by a parser that knows these three types and no other: nothing of it is ever called. Depth
// at most 256. Errors: CorruptError for what is no packed folder, names the forbidden class or the
// opcode, has a name twice, or a number that is no record below `records`.
PackedEntries parse_packed_folder(Bytes last_record, uint64_t records);

// A packed folder of class folders as a container of images, exactly as files/files_container.h
// makes one of the folder itself: the same order, labels, class names, ids and warnings. Errors:
// those of parse_packed_folder and of a folder without images.
std::shared_ptr<const Container> open_packed_images(const std::string& uri,
                                                    const OpenOptions& options = {});

}  // namespace fuelrail::ffrecord
