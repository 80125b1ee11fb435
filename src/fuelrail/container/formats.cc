#include "fuelrail/container/formats.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "fuelrail/base/error.h"
#include "fuelrail/container/ffrecord/ffrecord_container.h"
#include "fuelrail/container/ffrecord/packed_folder.h"
#include "fuelrail/container/files/list_container.h"
#include "fuelrail/container/files/list_reader.h"
#include "fuelrail/container/name_end.h"
#include "fuelrail/container/recordio/recordio_container.h"
#include "fuelrail/storage/file_system.h"

namespace fuelrail {
namespace {

template <auto open>
std::shared_ptr<const Container> opened(const std::string& uri, const OpenOptions& options) {
  return open(uri, options);
}

std::shared_ptr<const Container> opened_ffrecord(const std::string& uri,
                                                 const OpenOptions& options) {
  if (options.schema == ffrecord::kClassFolders) return ffrecord::open_packed_images(uri, options);
  return ffrecord::open_ffrecord(uri, options);
}

constexpr std::array kFormats{
    FileFormat{".rec", "RecordIO", opened<recordio::open_recordio>, recordio::sidecar_recipe, {}},
    FileFormat{".ffr", "FFRecord", opened_ffrecord, ffrecord::sidecar_recipe,
               ffrecord::kClassFolders},
    FileFormat{".lst", "list of images", opened<files::open_list>, nullptr, {}},
    FileFormat{".csv", "list of images", opened<files::open_list>, nullptr, {}},
    FileFormat{".tsv", "list of images", opened<files::open_list>, nullptr, {}},
};

const FileFormat* format_by_name(std::string_view name) {
  const auto found = std::ranges::find_if(kFormats, [&](const FileFormat& format) {
    return ends_with_ignoring_case(name, format.extension);
  });
  return found == kFormats.end() ? nullptr : &*found;
}

// What a file that is opened by mistake is, told by its first bytes, and what to do with it.
struct Signature {
  size_t offset;
  std::string_view bytes;
  const char* name;
  const char* remedy;
};
using namespace std::string_view_literals;
constexpr const char* kOpenFolder = "Open the folder that holds its class folder, not the image";
constexpr const char* kUnpack = "Unpack it, and open the folder";
constexpr const char* kRename = "Give it a name that ends in .ffr, if it is an FFRecord file";
constexpr const char* kPack = "Pack its images into a .rec or .ffr file";
constexpr std::array kSignatures{
    Signature{0, "\x0A\x23\xD7\xCE"sv, "a RecordIO file", "Give it a name that ends in .rec"},
    Signature{0, "\xFF\xD8\xFF"sv, "a JPEG image", kOpenFolder},
    Signature{0, "\x89PNG\r\n\x1A\n"sv, "a PNG image", kOpenFolder},
    Signature{0, "GIF8"sv, "a GIF image", kOpenFolder},
    Signature{8, "WEBP"sv, "a WebP image", kOpenFolder},
    Signature{0, "\x1F\x8B"sv, "a gzip archive", kUnpack},
    Signature{0, "PK\x03\x04"sv, "a zip archive", kUnpack},
    Signature{257, "ustar"sv, "a tar archive", kUnpack},
    Signature{0, "\x28\xB5\x2F\xFD"sv, "a Zstandard archive", kUnpack},
    Signature{0, "\x89HDF\r\n\x1A\n"sv, "an HDF5 file", kPack},
    Signature{0, "PAR1"sv, "a Parquet file", kPack},
    Signature{0, "ARROW1"sv, "an Arrow file", kPack},
    Signature{4, "ftyp"sv, "an ISO media file", kPack},
};

// "RecordIO (.rec), FFRecord (.ffr) or list of images (.lst, .csv, .tsv)"
std::string known_formats() {
  std::vector<std::string> texts;
  std::string_view last;
  for (const FileFormat& format : kFormats) {
    if (format.name == last) {
      texts.back() += fmt::format(", {}", format.extension);
    } else {
      texts.push_back(fmt::format("{} ({}", format.name, format.extension));
    }
    last = format.name;
  }
  const std::string list = std::exchange(texts.back(), {});
  texts.pop_back();
  return fmt::format("a folder of images or of FFRecord files, or a file: {}) or {})",
                     fmt::join(texts, "), "), list);
}

// Fuelrail's and MXNet's own files beside a record file.
const char* remedy_for_companion(const std::string& uri) {
  if (ends_with_ignoring_case(uri, ".frx")) return "Open the file that it belongs to";
  if (ends_with_ignoring_case(uri, ".idx")) return "Open the .rec file that it belongs to";
  return nullptr;
}

bool is_text(std::string_view head) {
  return std::all_of(head.begin(), head.end(), [](char c) {
    return static_cast<unsigned char>(c) >= 0x20 || c == '\n' || c == '\r' || c == '\t';
  });
}

[[noreturn]] void refuse_format(const std::string& uri, const Source& source) {
  constexpr uint64_t kHeadBytes = 512;
  std::string head(std::min(source.size_bytes(), kHeadBytes), '\0');
  source.read(0, std::as_writable_bytes(std::span(head)));

  std::string found = "a file whose first bytes are not known";
  const char* remedy = remedy_for_companion(uri);
  const auto signature =
      std::find_if(kSignatures.begin(), kSignatures.end(), [&](const Signature& candidate) {
        return head.compare(std::min(candidate.offset, head.size()), candidate.bytes.size(),
                            candidate.bytes) == 0;
      });
  if (head.empty()) {
    found = "an empty file";
  } else if (signature != kSignatures.end()) {
    found = signature->name;
    if (remedy == nullptr) remedy = signature->remedy;
  } else if (is_text(head)) {
    found = "a text file";
  } else if (remedy == nullptr) {
    remedy = kRename;
  }
  throw UnsupportedError(
      "this is no format that fuelrail opens",
      {.path = uri, .expected = known_formats(), .found = found, .remedy = remedy ? remedy : ""});
}

}  // namespace

bool has_format_name(std::string_view name) { return format_by_name(name) != nullptr; }

const FileFormat& format_of_file(const std::string& uri) {
  if (const FileFormat* format = format_by_name(uri)) return *format;
  refuse_format(uri, *file_system_for(uri).open(uri));
}

void check_schema(const std::string& uri, const std::string& schema, std::string_view known) {
  if (schema.empty() || schema == known) return;
  if (known.empty()) {
    throw InvalidArgumentError("only .ffr files take a schema",
                               {.path = uri, .found = schema, .remedy = "Leave the schema out"});
  }
  throw InvalidArgumentError(
      "there is no such schema",
      {.path = uri, .found = schema, .remedy = suggest(schema, {std::string(known)})});
}

void check_root(const std::string& uri, const std::string& root) {
  if (root.empty() || is_list_name(uri)) return;
  throw InvalidArgumentError("a root is for a list of images, and this is none",
                             {.path = uri, .found = root, .remedy = "Leave the root out"});
}

bool is_ffrecord_name(std::string_view name) { return ends_with_ignoring_case(name, ".ffr"); }

}  // namespace fuelrail
