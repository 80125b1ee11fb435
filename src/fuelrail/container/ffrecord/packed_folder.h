// A folder in an FFRecord file, in the form that the original FFRecord library's `pack_folder`
// writes: one record per file, and a last record with the files' names (docs/formats/ffrecord.md).
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

inline constexpr std::string_view kFolderMark = "piouhjgbr";  // the first bytes of the last record

// The OpenOptions::schema for open_packed_images.
inline constexpr std::string_view kClassFolders = "class_folders";

inline constexpr int kMaxFolderDepth = 256;
inline constexpr size_t kMaxNameBytes = 1024;

// A folder's entries, in the order of writing. Names are UTF-8 with Python's surrogates: in a name
// that was not valid UTF-8, a surrogate stands for each invalid byte and is encoded like any other
// character.
struct PackedEntries {
  using Entry = std::variant<uint64_t, PackedEntries>;  // a file's record, or a folder
  std::vector<std::pair<std::string_view, Entry>> entries;
};

// Lifetime: names are views into the parsed record and into `unescaped`.
struct PackedStructure {
  PackedEntries root;
  std::deque<std::string> unescaped;  // names that the record holds in escaped form
};

// Whether the last record begins with kFolderMark. Errors: those of the source.
bool is_packed_folder(const Source& source, const RecordTable& table);

// Parses the last record: the mark, then a pickle of nested OrderedDicts of str to int, in any of
// Python's protocols 0 to 5. The parser knows only these three types and never calls anything.
// Errors: CorruptError for any other content, with the forbidden class or opcode; for an invalid or
// repeated name, a record number that is not below `records`, more files than records, a folder in
// two places or inside itself, and folders or marks nested deeper than kMaxFolderDepth.
//
// Memory: at most 32 bytes for each byte of the record and of the table of `records`, for any
// content. (A test measures at most 24, and 5 for the output of `pack_folder`.)
PackedStructure parse_packed_folder(Bytes last_record, uint64_t records);

// Opens a packed folder with one sub-folder per class as a container of images. The container has
// the same order, labels, class names, ids, fingerprint and warnings as the one that
// files/files_container.h creates for the original folder. An image's place is its record in the
// FFRecord file. Checksums are verified. Errors: those of RecordTable::read, of reading and of
// parse_packed_folder; those of open_files for a folder with a different layout.
std::shared_ptr<const Container> open_packed_images(const std::string& uri,
                                                    const OpenOptions& options = {});

}  // namespace fuelrail::ffrecord
