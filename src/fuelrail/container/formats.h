// The table of file formats. Each format has a row in the table and its own source folder. Folders
// of files are not in the table, because a folder is not recognized by its name.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

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

// The bytes that every file of a format has at a fixed offset.
struct FileSignature {
  size_t offset = 0;
  std::string_view bytes{};
};

// A value of OpenOptions::schema that a format accepts.
struct FormatSchema {
  std::string_view name{};
  std::string_view meaning{};  // describes such a file: "a packed folder ..."
  std::string_view reader{};   // the Python class for such files; may be empty
};

// What the records that packing writes consist of.
enum class RecordContent : uint8_t {
  kImageRecord,  // header, labels and an encoded image (image_record.h)
  kNestedFile,   // an MP4 file: H.265 stills, label and name (mp4/nested_file.h)
};

// Only `extension` and `name` are required. A command that needs a missing entry reports an error.
struct FileFormat {
  std::string_view extension;  // of file names, in lower case: ".rec"
  std::string_view name;       // "RecordIO"
  FileSignature signature{};
  std::string_view reader{};  // the Python class that reads records of any length; may be empty
  FormatSchema schema{};
  // The values of OpenOptions::track: the smallest images first, and last that of the images in
  // full size.
  std::vector<std::string_view> (*tracks)() = nullptr;
  std::vector<std::string_view> (*splits)() = nullptr;  // the values of OpenOptions::split

  // The index's extension, which replaces `extension`. If given, writers get a sink for an index.
  std::string_view index_extension{};
  bool joined_in_folders = false;           // a folder of such files opens as one container
  bool damage_hides_rest = false;           // only `open_damaged` finds the records after damage
  uint64_t max_payload_bytes = UINT64_MAX;  // limit for written records
  RecordContent content = RecordContent::kImageRecord;

  // None of these functions may return null, or a Salvage or SidecarRecipe with missing parts.

  std::shared_ptr<const Container> (*open)(const std::string& uri,
                                           const OpenOptions& options) = nullptr;

  // Rebuilds a file's sidecar.
  SidecarRecipe (*sidecar_recipe)(std::shared_ptr<const Source> source, const Warn& warn) = nullptr;

  // Creates a writer. `expected`: the exact or approximate number of records. If the data sink is
  // not empty, the writer resumes that file; a file too short to resume is emptied first.
  std::unique_ptr<RecordFileWriter> (*make_writer)(const RecordFileSinks& sinks,
                                                   uint64_t expected) = nullptr;

  // Opens a file for copying its records. `max_payload_bytes`: the longest record that the output
  // accepts.
  std::unique_ptr<RecordStream> (*open_stream)(const std::string& uri, uint64_t max_payload_bytes,
                                               const OpenOptions& options) = nullptr;

  // Opens the readable records of a damaged file and calls `report` for the rest. `progress` is
  // called during the first scan, if one is needed.
  Salvage (*open_damaged)(const std::string& uri, const ReportDamage& report,
                          const OpenOptions& options, const ScanProgress& progress) = nullptr;
};

// The operations that a format may support.
enum class FormatWork : uint8_t { kOpen, kIndex, kWrite, kCopy, kSalvage };
bool can(const FileFormat& format, FormatWork work);

// The rows, in table order.
std::span<const FileFormat* const> all_formats();

// The extensions of the formats that support `work`: ".rec or .ffr".
std::string extensions_for(FormatWork work);

// The extensions of the formats that can be written and whose records have this content: ".bzna".
std::string extensions_with(RecordContent content);

// Everything that can be opened: "a folder of images or of FFRecord files, or a file: RecordIO
// (.rec), ...".
std::string known_formats();

// The format for a file name's extension, in upper or lower case; null if there is none.
const FileFormat* find_format(std::string_view name);

// As find_format, but an unknown extension is an error. Errors: UnsupportedError, with a guess at
// the file's type from its first bytes; those of FileSystem::open.
const FileFormat& format_of_file(const std::string& uri);

// The format of the record file `uri`, whose extension must be in lower case. Errors:
// InvalidArgumentError for any other name, and for a name that is only an extension;
// UnsupportedError if the format does not support `work`. Both errors list the extensions of
// formats that support it.
const FileFormat& format_for(FormatWork work, const std::string& uri);

// Throws UnsupportedError: the format does not support `work`. The error lists the extensions of
// formats that support it.
[[noreturn]] void throw_cannot(FormatWork work, const FileFormat& format, const std::string& uri);

inline bool is_given(const Salvage& salvage) { return salvage.file != nullptr; }
inline bool is_given(const SidecarRecipe& recipe) { return recipe.rules.accept && recipe.make; }
template <typename Pointer>
bool is_given(const Pointer& pointer) {
  return pointer != nullptr;
}
[[noreturn]] void throw_not_given();

// Returns use(). If `use` throws an Error without a path, adds `uri` and `record` to the error.
template <typename Use>
auto naming(const std::string& uri, const Use& use, std::optional<uint64_t> record = {}) {
  try {
    return use();
  } catch (Error& error) {
    if (error.detail().path.empty()) error.add({.path = uri, .record = record});
    throw;
  }
}

// Calls a function of a format's row for this file, and adds the path to its errors as `naming`
// does. Errors: those of the function; StateError if the function returns nothing, which is a bug
// in it.
template <typename Entry>
auto given_by_row(const std::string& uri, const Entry& entry) {
  return naming(uri, [&] {
    auto given = entry();
    if (!is_given(given)) throw_not_given();
    return given;
  });
}

// `X` for `X.rec`. Requires: `uri` has the format's extension.
std::string stem_of(const std::string& uri, const FileFormat& format);

// `X.idx` for `X.rec`. Requires: as for stem_of, and the format has an index.
std::string index_uri_of(const std::string& uri, const FileFormat& format);

// Checks the option `schema`. `format` may be null. Errors: InvalidArgumentError unless `schema` is
// empty or the schema of `format`.
void check_schema(const std::string& uri, const std::string& schema, const FileFormat* format);

// Checks the options `track` and `split`. `format` may be null. Errors: InvalidArgumentError for a
// value that the format does not have.
void check_track_and_split(const std::string& uri, const OpenOptions& options,
                           const FileFormat* format);

// Checks the option `root`. Errors: InvalidArgumentError unless `root` is empty or the name `uri`
// is that of a list of images.
void check_root(const std::string& uri, const std::string& root);

// For tests: adds `row` to the end of the table while the object exists. Lifetime: `row` outlives
// the object. Requires: at most one object at a time; no other thread uses the table while the
// object is constructed or destroyed.
class LentFormat {
 public:
  explicit LentFormat(const FileFormat& row);
  ~LentFormat();
  LentFormat& operator=(LentFormat&&) = delete;
};

}  // namespace fuelrail
