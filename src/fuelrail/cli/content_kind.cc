#include "fuelrail/cli/content_kind.h"

#include <algorithm>

#include "fuelrail/cli/opening.h"
#include "fuelrail/cli/signals.h"
#include "fuelrail/cli/text.h"
#include "fuelrail/container/ffrecord/ffrecord_container.h"
#include "fuelrail/container/ffrecord/packed_folder.h"

namespace fuelrail::cli {
namespace {

constexpr uint64_t kRecordsPerLook = 4096;  // for an interrupt

}  // namespace

RecordSizes sizes_of(const Container& container) {
  if (container.size() == 0) return {};
  RecordSizes sizes{.smallest = UINT64_MAX};
  uint64_t total = 0;
  for (uint64_t i = 0; i < container.size(); ++i) {
    if (i % kRecordsPerLook == 0) throw_if_interrupted();
    const uint64_t length = container.extent(i).length;
    sizes.smallest = std::min(sizes.smallest, length);
    sizes.largest = std::max(sizes.largest, length);
    total += length;
  }
  sizes.mean = total / container.size();
  return sizes;
}

ContentKind kind_of(const Container& container) {
  ContentKind kind{.opaque = !container.schema().has("image")};
  if (!kind.opaque) return kind;
  kind.ffrecord = true;
  for (const RecordFile* file : record_files_of(container)) {
    const auto* found = dynamic_cast<const ffrecord::FfrecordContainer*>(file);
    kind.ffrecord = kind.ffrecord && found != nullptr;
    if (found == nullptr || !ffrecord::is_packed_folder(*found->source(), found->table())) continue;
    ++kind.packed_folders;
    kind.packed_files += found->size() - 1;
  }
  return kind;
}

std::string content_text(const ContentKind& kind) {
  if (kind.packed_folders == 0) return "opaque bytes: whatever the writer put in";
  return counted(kind.packed_folders, "packed folder") + " of " +
         counted(kind.packed_files, "file") + ", and the list of their names; here opaque bytes";
}

std::vector<std::pair<std::string, std::string>> readers_of(const ContentKind& kind) {
  if (kind.packed_folders == 0) {
    return {{"read by",
             std::string("loaders with fields=[\"data\"], fuelrail.open(...)[i].data, ") +
                 (kind.ffrecord ? "fuelrail.ffrecord.FileReader, " : "") + "'fuelrail cat'"}};
  }
  return {{"read by", "fuelrail.ffrecord.PackedFolder"},
          {"as images",
           "--schema class_folders; fuelrail.open(..., schema=\"class_folders\"): where "
           "each class has its sub-folder"}};
}

}  // namespace fuelrail::cli
