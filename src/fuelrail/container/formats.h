// The table of file formats. A format is a row here and a folder that has all else of it. A folder
// of files is not in the table: it is told by what it is, not by its name.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "fuelrail/base/error.h"
#include "fuelrail/base/listener.h"
#include "fuelrail/container/build_sidecar.h"
#include "fuelrail/container/container.h"
#include "fuelrail/container/damage.h"
#include "fuelrail/container/open.h"
#include "fuelrail/container/record_file_writer.h"
#include "fuelrail/container/record_stream.h"
#include "fuelrail/container/scan_progress.h"

namespace fuelrail {

// Bytes that every file of a format has in one place.
struct FileSignature {
  size_t offset = 0;
  std::string_view bytes{};
};

// What OpenOptions::schema can say of a file.
struct FormatSchema {
  std::string_view name{};
  std::string_view meaning{};  // what such a file is: "a packed folder ..."
  std::string_view reader{};   // the Python class for such files, where there is one
};

// Required are `extension` and `name`. What else a format does not have is left out; the commands
// that need it then say so.
struct FileFormat {
  std::string_view extension;  // of the file's name, in lower case: ".rec"
  std::string_view name;       // "RecordIO"
  FileSignature signature{};
  std::string_view reader{};  // the Python class that reads any record, where there is one
  FormatSchema schema{};

  // Of the index beside the file, in place of the extension; with it, writers get a sink for it.
  std::string_view index_extension{};
  bool joined_in_folders = false;  // a folder of such files is opened as one container
  bool damage_hides_rest = false;  // records behind damage are found by `open_damaged` only
  uint64_t max_payload_bytes = UINT64_MAX;  // of a record that is written

  // None of the following returns null, nor a Salvage or a recipe without its parts.

  std::shared_ptr<const Container> (*open)(const std::string& uri,
                                           const OpenOptions& options) = nullptr;

  // How the file's sidecar is made anew.
  SidecarRecipe (*sidecar_recipe)(std::shared_ptr<const Source> source, const Warn& warn) = nullptr;

  // `expected`: how many records will come, or nearly. Where the data sink is not empty, the file
  // is resumed; what is too short for that is cut to nothing.
  std::unique_ptr<RecordFileWriter> (*make_writer)(const RecordFileSinks& sinks,
                                                   uint64_t expected) = nullptr;

  // `max_payload_bytes`: how long a record may be where it goes.
  std::unique_ptr<RecordStream> (*open_stream)(const std::string& uri, uint64_t max_payload_bytes,
                                               const OpenOptions& options) = nullptr;

  // What is left of a damaged file; `report` hears of what is not. `progress`: of a first reading,
  // where that takes one.
  Salvage (*open_damaged)(const std::string& uri, const ReportDamage& report,
                          const OpenOptions& options, const ScanProgress& progress) = nullptr;
};

// What can be done with files of a format.
enum class FormatWork : uint8_t { kOpen, kIndex, kWrite, kCopy, kSalvage };
bool can(const FileFormat& format, FormatWork work);

// The rows, in their order.
std::span<const FileFormat* const> all_formats();

// Which formats can, by their extensions: ".rec or .ffr".
std::string extensions_for(FormatWork work);

// What can be opened: "a folder of images or of FFRecord files, or a file: RecordIO (.rec), ...".
std::string known_formats();

// By the name's extension, in either case; null for any other name.
const FileFormat* find_format(std::string_view name);

// The same. Errors: UnsupportedError for any other name, with what the file's first bytes say it
// is; those of FileSystem::open.
const FileFormat& format_of_file(const std::string& uri);

// The format of a record file, by its name with the extension in lower case. Errors:
// InvalidArgumentError for any other name, or one that is nothing but its extension;
// UnsupportedError where files of the format cannot be so used. Both say which can.
const FileFormat& format_for(FormatWork work, const std::string& uri);

// Throws UnsupportedError: files of the format cannot be so used, and which can.
[[noreturn]] void throw_cannot(FormatWork work, const FileFormat& format, const std::string& uri);

inline bool is_given(const Salvage& salvage) { return salvage.file != nullptr; }
inline bool is_given(const SidecarRecipe& recipe) { return recipe.rules.accept && recipe.make; }
template <typename Pointer>
bool is_given(const Pointer& pointer) {
  return pointer != nullptr;
}
[[noreturn]] void throw_not_given();

// Calls `use`, and names this file, and the record, in an error that names no file.
template <typename Use>
auto naming(const std::string& uri, const Use& use, std::optional<uint64_t> record = {}) {
  try {
    return use();
  } catch (Error& error) {
    if (error.detail().path.empty()) error.add({.path = uri, .record = record});
    throw;
  }
}

// What an entry of a row gives for this file, with errors named as above. Errors: the entry's;
// StateError where it breaks its contract and gives nothing.
template <typename Entry>
auto given_by_row(const std::string& uri, const Entry& entry) {
  return naming(uri, [&] {
    auto given = entry();
    if (!is_given(given)) throw_not_given();
    return given;
  });
}

// `X` for `X.rec`. Requires: the URI is one of the format's.
std::string stem_of(const std::string& uri, const FileFormat& format);

// `X.idx` for `X.rec`. Requires: as stem_of, and the format has an index.
std::string index_uri_of(const std::string& uri, const FileFormat& format);

// Errors: InvalidArgumentError unless `schema` is empty or the format's, which may be null.
void check_schema(const std::string& uri, const std::string& schema, const FileFormat* format);

// Errors: InvalidArgumentError for a root of what is no list of images, by its name.
void check_root(const std::string& uri, const std::string& root);

// For tests: as long as it lives, `row` is the table's last. Lifetime: longer than this. Requires:
// one at a time; made and destroyed while no other thread asks for a format.
class LentFormat {
 public:
  explicit LentFormat(const FileFormat& row);
  ~LentFormat();
  LentFormat& operator=(LentFormat&&) = delete;
};

}  // namespace fuelrail
