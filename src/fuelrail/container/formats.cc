#include "fuelrail/container/formats.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "fuelrail/base/image_format.h"
#include "fuelrail/container/bzna/bzna_container.h"
#include "fuelrail/container/ffrecord/ffrecord_container.h"
#include "fuelrail/container/files/list_container.h"
#include "fuelrail/container/files/list_reader.h"
#include "fuelrail/container/name_end.h"
#include "fuelrail/container/recordio/recordio_container.h"
#include "fuelrail/storage/file_system.h"

namespace fuelrail {
namespace {

constexpr FileFormat list_of_images(std::string_view extension) {
  return {.extension = extension, .name = "list of images", .open = files::open_list};
}
constexpr FileFormat kLst = list_of_images(".lst");
constexpr FileFormat kCsv = list_of_images(".csv");
constexpr FileFormat kTsv = list_of_images(".tsv");

// The last entry is for LentFormat.
std::array<const FileFormat*, 7> table{
    &recordio::kFormat, &ffrecord::kFormat, &bzna::kFormat, &kLst, &kCsv, &kTsv, nullptr};

struct Ability {
  FormatWork work;
  const char* participle;
  bool (*has)(const FileFormat& format);
};
constexpr std::array kAbilities{
    Ability{FormatWork::kOpen, "opened",
            [](const FileFormat& format) { return format.open != nullptr; }},
    Ability{FormatWork::kIndex, "indexed",
            [](const FileFormat& format) { return format.sidecar_recipe != nullptr; }},
    Ability{FormatWork::kWrite, "written",
            [](const FileFormat& format) { return format.make_writer != nullptr; }},
    Ability{FormatWork::kCopy, "copied record by record",
            [](const FileFormat& format) { return format.open_stream != nullptr; }},
    Ability{FormatWork::kSalvage, "recovered",
            [](const FileFormat& format) { return format.open_damaged != nullptr; }},
};
const Ability& ability(FormatWork work) {
  return *std::find_if(kAbilities.begin(), kAbilities.end(),
                       [work](const Ability& ability) { return ability.work == work; });
}

// Lists of images are not record files.
bool is_record_format(const FileFormat& format) {
  return std::any_of(kAbilities.begin(), kAbilities.end(), [&](const Ability& ability) {
    return ability.work != FormatWork::kOpen && ability.has(format);
  });
}

// "a", "a or b", "a, b or c".
std::string alternatives(std::vector<std::string> texts) {
  if (texts.empty()) return "none";
  const std::string last = std::exchange(texts.back(), {});
  texts.pop_back();
  return texts.empty() ? last : fmt::format("{} or {}", fmt::join(texts, ", "), last);
}

// A file of a different kind that was opened by mistake: its first bytes, its name, and the remedy.
struct Stranger {
  FileSignature signature;
  const char* name;
  const char* remedy;  // null: pack its images
};
using namespace std::string_view_literals;
constexpr const char* kOpenFolder = "Open the folder that contains its class folder, not the image";
constexpr const char* kUnpack = "Unpack it and open the folder";
constexpr std::array kStrangers{
    Stranger{{0, "GIF8"sv}, "a GIF image", kOpenFolder},
    Stranger{{0, "\x1F\x8B"sv}, "a gzip archive", kUnpack},
    Stranger{{0, "PK\x03\x04"sv}, "a zip archive", kUnpack},
    Stranger{{257, "ustar"sv}, "a tar archive", kUnpack},
    Stranger{{0, "\x28\xB5\x2F\xFD"sv}, "a Zstandard archive", kUnpack},
    Stranger{{0, "\x89HDF\r\n\x1A\n"sv}, "an HDF5 file", nullptr},
    Stranger{{0, "PAR1"sv}, "a Parquet file", nullptr},
    Stranger{{0, "ARROW1"sv}, "an Arrow file", nullptr},
    Stranger{{4, "ftyp"sv}, "an ISO media file", nullptr},
};

bool has_signature(std::string_view head, const FileSignature& signature) {
  return !signature.bytes.empty() && head.compare(std::min(signature.offset, head.size()),
                                                  signature.bytes.size(), signature.bytes) == 0;
}

// A guess at a file's type from its first bytes, and the remedy.
struct Guess {
  std::string what{};
  std::string remedy{};
};

// For companions of record files: fuelrail's sidecars and MXNet's indices.
std::string remedy_for_companion(const std::string& uri) {
  if (ends_with_ignoring_case(uri, ".frx")) return "Open the file that it belongs to";
  for (const FileFormat* format : all_formats()) {
    if (format->index_extension.empty()) continue;
    if (!ends_with_ignoring_case(uri, format->index_extension)) continue;
    return fmt::format("Open the {} file that it belongs to", format->extension);
  }
  return "";
}

bool is_text(std::string_view head) {
  return std::all_of(head.begin(), head.end(), [](char c) {
    return static_cast<unsigned char>(c) >= 0x20 || c == '\n' || c == '\r' || c == '\t';
  });
}

Guess guess(std::string_view head) {
  if (head.empty()) return {.what = "an empty file"};
  std::string unsigned_formats;
  for (const FileFormat* format : all_formats()) {
    const std::string rename =
        fmt::format("Rename it so that its name ends in {}", format->extension);
    if (has_signature(head, format->signature)) {
      return {.what = fmt::format("a file in the {} format", format->name), .remedy = rename};
    }
    if (!is_record_format(*format) || !format->signature.bytes.empty()) continue;
    unsigned_formats += fmt::format("{}{}, if it is in the {} format",
                                    unsigned_formats.empty() ? "" : "; ", rename, format->name);
  }
  const bool text = is_text(head);  // may begin with "BM" like a BMP
  if (const ImageFormat* image = announced_format(as_bytes(head)); image != nullptr && !text) {
    return {fmt::format("a {} image", image->title), kOpenFolder};
  }
  for (const Stranger& stranger : kStrangers) {
    if (!has_signature(head, stranger.signature)) continue;
    if (stranger.remedy != nullptr) return {stranger.name, stranger.remedy};
    return {stranger.name,
            fmt::format("Pack its images into a {} file", extensions_for(FormatWork::kWrite))};
  }
  if (text) return {.what = "a text file"};
  return {.what = "a file of an unknown format", .remedy = unsigned_formats};
}

[[noreturn]] void refuse_format(const std::string& uri, const Source& source) {
  constexpr uint64_t kHeadBytes = 512;
  std::string head(std::min(source.size_bytes(), kHeadBytes), '\0');
  source.read(0, std::as_writable_bytes(std::span(head)));
  Guess found = guess(head);
  if (std::string remedy = remedy_for_companion(uri); !remedy.empty()) found.remedy = remedy;
  throw UnsupportedError(
      "fuelrail cannot open files of this format",
      {.path = uri, .expected = known_formats(), .found = found.what, .remedy = found.remedy});
}

}  // namespace

std::span<const FileFormat* const> all_formats() {
  return std::span(table).first(table.back() == nullptr ? table.size() - 1 : table.size());
}

bool can(const FileFormat& format, FormatWork work) { return ability(work).has(format); }

std::string extensions_for(FormatWork work) {
  std::vector<std::string> extensions;
  for (const FileFormat* format : all_formats()) {
    if (can(*format, work)) extensions.emplace_back(format->extension);
  }
  return alternatives(std::move(extensions));
}

std::string extensions_with(RecordContent content) {
  std::vector<std::string> extensions;
  for (const FileFormat* format : all_formats()) {
    if (can(*format, FormatWork::kWrite) && format->content == content) {
      extensions.emplace_back(format->extension);
    }
  }
  return alternatives(std::move(extensions));
}

std::string known_formats() {
  std::vector<std::string> files, folders;
  std::string_view last;
  for (const FileFormat* format : all_formats()) {
    if (format->open == nullptr) continue;
    if (format->joined_in_folders) folders.push_back(fmt::format("of {} files", format->name));
    if (format->name == last) {
      files.back().insert(files.back().size() - 1, fmt::format(", {}", format->extension));
    } else {
      files.push_back(fmt::format("{} ({})", format->name, format->extension));
    }
    last = format->name;
  }
  folders.insert(folders.begin(), "of images");
  return fmt::format("a folder {}, or a file: {}", alternatives(folders), alternatives(files));
}

const FileFormat* find_format(std::string_view name) {
  for (const FileFormat* format : all_formats()) {
    if (!format->extension.empty() && ends_with_ignoring_case(name, format->extension)) {
      return format;
    }
  }
  return nullptr;
}

const FileFormat& format_of_file(const std::string& uri) {
  if (const FileFormat* format = find_format(uri)) return *format;
  refuse_format(uri, *file_system_for(uri).open(uri));
}

const FileFormat& format_for(FormatWork work, const std::string& uri) {
  const FileFormat* format = find_format(uri);
  if (format == nullptr || !is_record_format(*format) || !uri.ends_with(format->extension) ||
      base_name(uri) == format->extension) {
    throw InvalidArgumentError(
        "this is not the name of a record file",
        {.path = uri, .expected = fmt::format("a name that ends in {}", extensions_for(work))});
  }
  if (!can(*format, work)) throw_cannot(work, *format, uri);
  return *format;
}

void throw_cannot(FormatWork work, const FileFormat& format, const std::string& uri) {
  throw UnsupportedError(fmt::format("files of this format cannot be {}", ability(work).participle),
                         {.path = uri,
                          .expected = fmt::format("the format {}", extensions_for(work)),
                          .found = std::string(format.name)});
}

void throw_not_given() {
  throw StateError("the code for this file's format returned nothing",
                   {.remedy = "Report this as a bug: the file is not at fault"});
}

std::string stem_of(const std::string& uri, const FileFormat& format) {
  return uri.substr(0, uri.size() - format.extension.size());
}

std::string index_uri_of(const std::string& uri, const FileFormat& format) {
  return stem_of(uri, format).append(format.index_extension);
}

void check_schema(const std::string& uri, const std::string& schema, const FileFormat* format) {
  if (schema.empty() || (format != nullptr && schema == format->schema.name)) return;
  if (format != nullptr && !format->schema.name.empty()) {
    throw InvalidArgumentError("unknown schema",
                               {.path = uri,
                                .found = schema,
                                .remedy = suggest(schema, {std::string(format->schema.name)})});
  }
  std::vector<std::string> with_schemas;
  for (const FileFormat* other : all_formats()) {
    if (!other->schema.name.empty()) with_schemas.emplace_back(other->extension);
  }
  throw InvalidArgumentError(
      fmt::format("a schema can be given only for {} files", alternatives(std::move(with_schemas))),
      {.path = uri, .found = "the schema " + schema, .remedy = "Omit the schema"});
}

namespace {

// Checks an option that chooses a part of a file. `values_of`: the function in the format's row.
void check_choice(const std::string& uri, std::string_view option, const std::string& value,
                  const FileFormat* format,
                  std::vector<std::string_view> (*FileFormat::*values_of)()) {
  if (value.empty()) return;
  if (format != nullptr && format->*values_of != nullptr) {
    const std::vector<std::string_view> values = (format->*values_of)();
    if (std::find(values.begin(), values.end(), value) != values.end()) return;
    throw InvalidArgumentError(fmt::format("unknown {}", option),
                               {.path = uri,
                                .expected = alternatives({values.begin(), values.end()}),
                                .found = fmt::format("'{}'", value)});
  }
  std::vector<std::string> with_option;
  for (const FileFormat* other : all_formats()) {
    if (other->*values_of != nullptr) with_option.emplace_back(other->extension);
  }
  throw InvalidArgumentError(fmt::format("`{}` can be given only for {} files", option,
                                         alternatives(std::move(with_option))),
                             {.path = uri,
                              .found = fmt::format("the {} '{}'", option, value),
                              .remedy = fmt::format("Omit `{}`", option)});
}

}  // namespace

void check_track_and_split(const std::string& uri, const OpenOptions& options,
                           const FileFormat* format) {
  check_choice(uri, "track", options.track, format, &FileFormat::tracks);
  check_choice(uri, "split", options.split, format, &FileFormat::splits);
}

void check_root(const std::string& uri, const std::string& root) {
  if (root.empty() || is_list_name(uri)) return;
  throw InvalidArgumentError("`root` can be given only for a list of images",
                             {.path = uri, .found = root, .remedy = "Omit `root`"});
}

LentFormat::LentFormat(const FileFormat& row) { table.back() = &row; }
LentFormat::~LentFormat() { table.back() = nullptr; }

}  // namespace fuelrail
