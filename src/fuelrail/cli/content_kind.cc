#include "fuelrail/cli/content_kind.h"

#include <fmt/format.h>

#include <algorithm>

#include "fuelrail/cli/opening.h"
#include "fuelrail/cli/signals.h"
#include "fuelrail/cli/text.h"
#include "fuelrail/container/formats.h"

namespace fuelrail::cli {
namespace {

constexpr uint64_t kRecordsPerLook = 4096;  // between two checks for an interrupt

}  // namespace

RecordSizes sizes_of(const Container& container) {
  if (container.size() == 0) return {};
  RecordSizes sizes{.smallest = UINT64_MAX};
  uint64_t total = 0;
  for (uint64_t i = 0; i < container.size(); ++i) {
    if (i % kRecordsPerLook == 0) throw_if_interrupted();
    const uint64_t length = container.record_extent(i).length;
    sizes.smallest = std::min(sizes.smallest, length);
    sizes.largest = std::max(sizes.largest, length);
    total += length;
  }
  sizes.mean = total / container.size();
  return sizes;
}

ContentKind kind_of(const Container& container) {
  ContentKind kind{.opaque = is_opaque(container)};
  if (!kind.opaque) return kind;
  const std::vector<const RecordFile*> files = record_files_of(container);
  for (const RecordFile* file : files) {
    const FileFormat* format = find_format(file->uri());
    if (format == nullptr) continue;
    const auto packed = naming(file->uri(), [&] { return file->packed_files(); });
    const std::string_view reader = packed ? format->schema.reader : format->reader;
    if (file == files.front()) kind.reader = reader;
    if (kind.reader != reader) kind.reader.clear();
    if (!packed) continue;
    kind.schema = format->schema.name;
    ++kind.packed_folders;
    kind.packed_files += *packed;
  }
  return kind;
}

std::string content_text(const ContentKind& kind) {
  if (kind.packed_folders == 0) return "opaque bytes: data of any kind";
  return counted(kind.packed_folders, "packed folder") + " of " +
         counted(kind.packed_files, "file") +
         ", and the list of their names; read here as opaque bytes";
}

std::vector<std::pair<std::string, std::string>> readers_of(const ContentKind& kind) {
  const std::string reader = kind.reader.empty() ? "" : kind.reader + ", ";
  if (kind.packed_folders == 0) {
    return {{"read by", "loaders with fields=[\"data\"], fuelrail.open(...)[i].data, " + reader +
                            "'fuelrail cat'"}};
  }
  return {
      {"read by", reader + "'fuelrail cat'"},
      {"as images",
       fmt::format(
           "--schema {0}, in Python fuelrail.open(..., schema=\"{0}\"), if each class has its own "
           "sub-folder",
           kind.schema)}};
}

}  // namespace fuelrail::cli
