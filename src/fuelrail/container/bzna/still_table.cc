#include "fuelrail/container/bzna/still_table.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "fuelrail/base/crc32.h"
#include "fuelrail/base/endian.h"
#include "fuelrail/base/error.h"
#include "fuelrail/container/sidecar/sidecar_format.h"

namespace fuelrail::bzna {
namespace {

// The layout of an entry of STIL. A record has two: for `bzna_input` and for `bzna_thumb`.
constexpr size_t kStillBytes = 24;
constexpr size_t kOffsetAt = 0;
constexpr size_t kBytesAt = 8;
constexpr size_t kCrcAt = 12;
constexpr size_t kWidthAt = 16;
constexpr size_t kHeightAt = 18;
constexpr size_t kCodecAt = 20;
constexpr size_t kStillsPerRecord = 2;

// The layout of an entry of CODC: type, coded width and height, length of the parameters; then the
// parameters.
constexpr size_t kCodecHeadBytes = 12;

std::vector<std::byte> codec_entry(const mp4::VideoEntry& entry, Bytes parameters) {
  std::vector<std::byte> bytes;
  append_le(bytes, entry.type.value());
  append_le(bytes, static_cast<uint16_t>(entry.coded.width));
  append_le(bytes, static_cast<uint16_t>(entry.coded.height));
  append_le(bytes, static_cast<uint32_t>(parameters.size()));
  append_bytes(bytes, parameters);
  return bytes;
}

[[noreturn]] void refuse(const Sidecar& sidecar, const std::string& failure,
                         ErrorDetail detail = {}) {
  detail.path = sidecar.uri();
  detail.remedy = kNewSidecar;
  throw CorruptError(failure, std::move(detail));
}

}  // namespace

void StillTableWriter::add(Bytes record, uint64_t offset, const mp4::NestedFile& parsed) {
  add_still(record, offset, parsed.input);
  add_still(record, offset, parsed.thumb);
}

void StillTableWriter::add_still(Bytes record, uint64_t offset,
                                 const std::optional<mp4::Still>& still) {
  const size_t at = stills_.size();
  stills_.resize(at + kStillBytes);
  if (!still || codec_bytes_.size() > frx::kMaxUnblockedBytes) return;  // `add_to` adds nothing
  const Bytes parameters = record.subspan(still->entry.parameters, still->entry.parameters_bytes);
  const std::vector<std::byte> codec = codec_entry(still->entry, parameters);
  const auto [found, is_new] =
      codecs_.try_emplace(std::string(as_text(codec)), static_cast<uint32_t>(codecs_.size()));
  if (is_new) append_bytes(codec_bytes_, codec);
  std::byte* const entry = stills_.data() + at;
  store_le(entry + kOffsetAt, offset + still->offset);
  store_le(entry + kBytesAt, static_cast<uint32_t>(still->bytes));
  store_le(entry + kCrcAt, crc32(record.subspan(still->offset, still->bytes)));
  store_le(entry + kWidthAt, static_cast<uint16_t>(still->visible.width));
  store_le(entry + kHeightAt, static_cast<uint16_t>(still->visible.height));
  store_le(entry + kCodecAt, found->second);
}

void StillTableWriter::add_to(SidecarWriter& sidecar) const {
  std::vector<std::byte> codecs;
  append_le(codecs, static_cast<uint32_t>(codecs_.size()));
  append_bytes(codecs, codec_bytes_);
  if (codecs.size() > frx::kMaxUnblockedBytes) return;
  sidecar.add_section(kCodecsSection, codecs, false);
  sidecar.add_section(kStillsSection, stills_, false);
}

std::optional<StillTable> StillTable::open(const Sidecar& sidecar) {
  StillTable table(sidecar);
  table.stills_ = sidecar.section(kStillsSection);
  if (table.stills_ == nullptr || sidecar.section(kCodecsSection) == nullptr ||
      !sidecar.has_names()) {
    return std::nullopt;
  }
  const uint64_t records = sidecar.records();
  if (table.stills_->size() / (kStillsPerRecord * kStillBytes) != records ||
      table.stills_->size() % (kStillsPerRecord * kStillBytes) != 0) {
    refuse(sidecar, "the sidecar's table of stills has the wrong size",
           {.expected = fmt::format("{} x {} bytes", records, kStillsPerRecord * kStillBytes),
            .found = fmt::format("{} bytes", table.stills_->size())});
  }
  table.read_codecs();
  return table;
}

void StillTable::read_codecs() {
  const std::vector<std::byte> data = sidecar_->section(kCodecsSection)->all();
  Bytes left(data);
  const auto take = [&](uint64_t bytes) {
    if (bytes > left.size()) refuse(*sidecar_, "the sidecar's table of codecs is truncated");
    const Bytes taken = left.first(bytes);
    left = left.subspan(bytes);
    return taken;
  };
  const auto count = load_le<uint32_t>(take(sizeof(uint32_t)).data());
  for (uint32_t i = 0; i < count; ++i) {
    const std::byte* const head = take(kCodecHeadBytes).data();
    StillCodec codec{
        .type = mp4::BoxType(load_le<uint32_t>(head)),
        .coded = {.height = load_le<uint16_t>(head + 6), .width = load_le<uint16_t>(head + 4)}};
    const Bytes parameters = take(load_le<uint32_t>(head + 8));
    codec.parameters.assign(parameters.begin(), parameters.end());
    codecs_.push_back(std::move(codec));
  }
  if (!left.empty()) refuse(*sidecar_, "the sidecar's table of codecs is longer than its entries");
}

StoredStill StillTable::still(uint64_t i, StillKind kind) const {
  std::array<std::byte, kStillBytes> entry;
  stills_->read((i * kStillsPerRecord + static_cast<uint64_t>(kind)) * kStillBytes, entry);
  const StoredStill still{.offset = load_le<uint64_t>(entry.data() + kOffsetAt),
                          .bytes = load_le<uint32_t>(entry.data() + kBytesAt),
                          .crc = load_le<uint32_t>(entry.data() + kCrcAt),
                          .visible = {.height = load_le<uint16_t>(entry.data() + kHeightAt),
                                      .width = load_le<uint16_t>(entry.data() + kWidthAt)},
                          .codec = load_le<uint32_t>(entry.data() + kCodecAt)};
  if (still.bytes == 0) return still;
  const uint64_t file_bytes = sidecar_->identity().size_bytes;
  if (still.offset <= file_bytes && still.bytes <= file_bytes - still.offset &&
      still.codec < codecs_.size()) {
    return still;
  }
  refuse(*sidecar_, "the sidecar's table of stills has an invalid entry",
         {.record = i,
          .expected = fmt::format("a still inside the file's {} bytes, with one of {} codecs",
                                  file_bytes, codecs_.size()),
          .found = fmt::format("{} bytes at offset {}, codec {}", still.bytes, still.offset,
                               still.codec)});
}

}  // namespace fuelrail::bzna
