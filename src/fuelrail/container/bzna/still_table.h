// The tables of stills in the sidecar of a `.bzna` file (docs/formats/frx.md, sections STIL and
// CODC): the location of each bitstream, its checksum, its visible size and its codec. With them, a
// reader reads only the bitstream that it needs.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "fuelrail/base/box.h"
#include "fuelrail/base/bytes.h"
#include "fuelrail/container/sidecar/sidecar.h"
#include "fuelrail/container/sidecar/sidecar_writer.h"
#include "fuelrail/mp4/boxes.h"
#include "fuelrail/mp4/nested_file.h"

namespace fuelrail::bzna {

inline constexpr uint32_t kStillsSection = section_type("STIL");
inline constexpr uint32_t kCodecsSection = section_type("CODC");

// The stills of a record that a caller can choose from.
enum class StillKind : uint8_t { kInput, kThumb };

// How a still is encoded.
struct StillCodec {
  mp4::BoxType type{};  // of its sample entry: "hvc1"
  Size coded{};
  std::vector<std::byte> parameters{};  // the content of `hvcC` or `avcC`; empty: none
};

struct StoredStill {
  uint64_t offset = 0;  // in the file
  uint32_t bytes = 0;   // 0: the record does not have this still
  uint32_t crc = 0;     // CRC-32 of the bitstream
  Size visible{};
  uint32_t codec = 0;  // its number in StillTable::codecs
};

// Collects the tables record by record. Memory: 48 bytes per record.
class StillTableWriter {
 public:
  // `record`: the record's bytes, which begin at `offset` in the file. `parsed`: its content.
  void add(Bytes record, uint64_t offset, const mp4::NestedFile& parsed);

  // Adds the two sections. If the codecs do not fit into a section without blocks (1 MiB, about
  // 8,000 codecs; a file usually has fewer than 10), no section is added. Call once.
  void add_to(SidecarWriter& sidecar) const;

 private:
  void add_still(Bytes record, uint64_t offset, const std::optional<mp4::Still>& still);

  std::vector<std::byte> stills_;
  std::map<std::string, uint32_t> codecs_;  // the bytes of an entry in the section -> its number
  std::vector<std::byte> codec_bytes_;
};

// The tables of an opened sidecar. Immutable. Threads: any number at once. Lifetime: the sidecar
// outlives it.
class StillTable {
 public:
  // Empty if the sidecar lacks one of the two sections. Errors: CorruptError for sections that
  // contradict each other.
  static std::optional<StillTable> open(const Sidecar& sidecar);

  const std::vector<StillCodec>& codecs() const { return codecs_; }

  // Requires: i < records(). Errors: CorruptError for a damaged sidecar, and for a still that is
  // outside the file or has a codec that the sidecar does not have; those of the source.
  StoredStill still(uint64_t i, StillKind kind) const;

 private:
  explicit StillTable(const Sidecar& sidecar) : sidecar_(&sidecar) {}
  void read_codecs();

  const Sidecar* sidecar_;
  const SidecarSection* stills_ = nullptr;
  std::vector<StillCodec> codecs_;
};

}  // namespace fuelrail::bzna
