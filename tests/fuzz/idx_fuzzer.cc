// The text of an `.idx`, and the records that it points to.
#include "fuelrail/container/recordio/index_file.h"
#include "fuelrail/testing/collecting_sink.h"
#include "fuelrail/testing/memory_container.h"
#include "fuzzing.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace fuelrail;
  using fuzzing::require;
  using fuzzing::succeeds;
  static const MemoryContainer kContainer("fuzzed.rec", {{{.name = "data"}}},
                                          {{{"a"}, 0}, {{"bb"}, 1}, {{"ccc"}, 2}, {{""}, 3}});
  const Bytes text = fuzzing::as_bytes(data, size);
  std::vector<recordio::IndexEntry> entries;
  if (!succeeds([&] { entries = recordio::parse_index(text, "fuzzed.idx"); })) return 0;
  succeeds([&] {
    const auto records = recordio::resolve_index(entries, kContainer, "fuzzed.idx");
    require(records.size() == entries.size(), "every line names a record");
    for (size_t i = 0; i < records.size(); ++i) {
      require(kContainer.extent(records[i]).offset == entries[i].offset, "the record begins there");
    }
  });
  CollectingSink sink;
  recordio::IndexWriter writer(sink);
  for (const auto& entry : entries) {
    const std::string key(entry.key);
    const bool stands = succeeds([&] { recordio::check_index_key(key, "written.idx"); });
    const bool written = succeeds([&] { writer.add(key, entry.offset); });
    require(stands == written, "a key is refused by both or by none");
    if (!written) return 0;
  }
  const auto again = recordio::parse_index(sink.bytes(), "written.idx");
  require(again.size() == entries.size(), "what is written is read back");
  for (size_t i = 0; i < again.size(); ++i) {
    require(again[i].key == entries[i].key && again[i].offset == entries[i].offset,
            "what is written is read back as it was");
  }
  return 0;
}
