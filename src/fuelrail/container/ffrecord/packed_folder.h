// A folder in an FFRecord file, as the original's `pack_folder` writes it: a record a file, and a
// last one that says the files' names (docs/formats/ffrecord.md).
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "fuelrail/base/bytes.h"
#include "fuelrail/container/container.h"
#include "fuelrail/container/ffrecord/record_table.h"
#include "fuelrail/container/open.h"

namespace fuelrail::ffrecord {

inline constexpr std::string_view kFolderMark = "piouhjgbr";  // begins the last record

// OpenOptions::schema of open_packed_images.
inline constexpr std::string_view kClassFolders = "class_folders";

inline constexpr int kMaxFolderDepth = 256;
inline constexpr size_t kMaxNameBytes = 1024;

// A folder's entries, in the order in which they were written. Names are UTF-8, as Python writes
// it: surrogates, which stand for the bytes of a name that is none, are encoded too.
struct PackedEntries {
  using Entry = std::variant<uint64_t, PackedEntries>;  // a file's record, or a folder
  std::vector<std::pair<std::string_view, Entry>> entries;
};

// Lifetime: names are views into the record that it was parsed from, and into `unescaped`.
struct PackedStructure {
  PackedEntries root;
  std::deque<std::string> unescaped;  // names that are not in the record as they are
};

// Whether the last record begins with the mark. Errors: the source's.
bool is_packed_folder(const Source& source, const RecordTable& table);

// From the last record: the mark, then a pickle of nested OrderedDicts of str to int, by any of
// Python's protocols 0 to 5. It is read by a parser that knows these three types and no other:
// nothing of it is ever called. Errors: CorruptError for what is no packed folder; names the
// forbidden class or the opcode. So does a name that no file can have, one that is there twice, a
// number that is no record below `records`, more files than that, a folder in two places or in
// itself, and folders or marks nested deeper than kMaxFolderDepth.
//
// Memory: at most 32 bytes for each byte of the record and of the table of `records`, whatever
// stands in it. (A test measures: 24 at most, and 5 for what `pack_folder` writes.)
PackedStructure parse_packed_folder(Bytes last_record, uint64_t records);

// A packed folder of class folders as a container of images, as files/files_container.h makes one
// of the folder itself: the same order, labels, class names, ids, fingerprint and warnings. A place
// is the FFRecord file and the record in it. Checksums are verified. Errors: those of
// RecordTable::read, of reading and of parse_packed_folder; those of open_files for a folder of
// another layout.
std::shared_ptr<const Container> open_packed_images(const std::string& uri,
                                                    const OpenOptions& options = {});

}  // namespace fuelrail::ffrecord
