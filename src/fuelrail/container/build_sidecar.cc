#include "fuelrail/container/build_sidecar.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "fuelrail/base/error.h"
#include "fuelrail/container/formats.h"
#include "fuelrail/storage/file_system.h"

namespace fuelrail {
namespace {

// The record's CRC-32 in the sidecar; empty if that part of the sidecar is damaged.
std::optional<uint32_t> known_crc(const Sidecar& sidecar, uint64_t i) {
  try {
    return sidecar.payload_crc(i);
  } catch (const CorruptError&) {
    return std::nullopt;
  }
}

[[noreturn]] void throw_changed_ends(const std::string& uri, const Sidecar& old) {
  throw CorruptError(
      "the file may be damaged: its first or last 4 KiB changed after its sidecar was built, and "
      "no checksums exist to check its records",
      {.path = uri,
       .remedy = fmt::format("Restore the file; if the change was intended, move {} away and build "
                             "the sidecar again",
                             old.uri())});
}

// Errors: CorruptError if the file's payloads differ from those that the old sidecar was built
// from. If the old sidecar has no checksums, it must at least match both ends of the file.
void refuse_damage(const std::string& uri, const StoredSidecar& stored, const SidecarWriter& now) {
  const Sidecar& old = *stored.sidecar;
  if (!old.has_checksums() || !now.has_checksums()) {
    if (stored.changed.any()) throw_changed_ends(uri, old);
    return;
  }
  const uint64_t both = std::min(old.records(), now.records());
  for (uint64_t i = 0; i < both; ++i) {
    const std::optional<uint32_t> known = known_crc(old, i);
    if (!known || *known == now.payload_crc(i)) continue;
    throw CorruptError(
        "the record's checksum differs from its checksum in the sidecar",
        {.path = uri,
         .record = i,
         .offset = now.has_table() ? std::optional(now.record(i).offset) : std::nullopt,
         .expected = fmt::format("{:#010x}", *known),
         .found = fmt::format("{:#010x}", now.payload_crc(i)),
         .remedy = fmt::format("Restore the file; if the change was intended, "
                               "move {} away and build the sidecar again",
                               old.uri())});
  }
}

}  // namespace

BuiltSidecar build_sidecar(const std::string& uri, const BuildSidecarOptions& options) {
  const FileFormat& format = format_of_file(uri);
  if (!can(format, FormatWork::kIndex)) throw_cannot(FormatWork::kIndex, format, uri);
  return open_with_store(uri, options.warn, [&](const auto& source, SidecarStore& store) {
    const SidecarRecipe recipe =
        given_by_row(uri, [&] { return format.sidecar_recipe(source, options.warn); });
    const auto old = store.find(recipe.rules);
    store.check_replaceable();
    SidecarWriter writer = naming(uri, [&] { return recipe.make(options); });
    if (old) {
      if (!recipe.file_has_checksums) refuse_damage(uri, *old, writer);
      writer.keep_sections_of(*old->sidecar);
    }
    return BuiltSidecar{.location = store.replace(writer).location,
                        .records = writer.records(),
                        .hinted_records = writer.hints().hinted_records()};
  });
}

}  // namespace fuelrail
