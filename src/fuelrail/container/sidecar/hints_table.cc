#include "fuelrail/container/sidecar/hints_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "fuelrail/base/endian.h"
#include "fuelrail/container/sidecar/sidecar_format.h"

namespace fuelrail {

using namespace frx;

namespace {

constexpr size_t kEntriesAtOnce = size_t{32} << 10;

constexpr const char* kNewHints =
    "Run 'fuelrail index' on the data file, which makes the entry points anew";

}  // namespace

CorruptError HintsTable::with_remedy(const CorruptError& error) {
  ErrorDetail detail = error.detail();
  detail.remedy = kNewHints;
  return CorruptError(error.failure(), detail);
}

HintsTable::HintsTable(const SidecarSection& section, uint64_t records, const std::string& uri)
    : section_(section), records_(records), uri_(uri) {
  if (section.size() / kHintsEndBytes <= records) {
    throw CorruptError(
        "the sidecar's table of entry points is truncated",
        {.path = uri,
         .expected = fmt::format("at least {} x {} bytes", records + 1, kHintsEndBytes),
         .found = fmt::format("{} bytes", section.size()),
         .remedy = kNewHints});
  }
  if (section.size() > kMaxWholeHintsBytes) return;
  std::vector<std::byte> memory(kEntriesAtOnce * kHintsEndBytes);
  for (uint64_t at = 0; at < section.size(); at += memory.size()) {  // checks the blocks
    section.read(at, MutableBytes(memory).first(std::min(memory.size(), section.size() - at)));
  }
  for_each_range([this](uint64_t i, uint64_t begin, uint64_t end) { check_range(i, begin, end); });
}

// Errors: CorruptError if the record's hints cannot be at these offsets.
void HintsTable::check_range(uint64_t i, uint64_t begin, uint64_t end) const {
  const uint64_t room = section_.size() - (records_ + 1) * kHintsEndBytes;
  const uint64_t bytes = end - begin;
  if (begin <= end && end <= room &&
      (bytes == 0 || (bytes > kChecksumBytes && bytes - kChecksumBytes <= kMaxHintsBytes))) {
    return;
  }
  throw CorruptError("the sidecar's table of entry points has an invalid entry",
                     {.path = uri_,
                      .record = i,
                      .expected = fmt::format("at most {} bytes, inside {}", kMaxHintsBytes, room),
                      .found = fmt::format("bytes {} to {}", begin, end),
                      .remedy = kNewHints});
}

template <typename Take>
void HintsTable::for_each_range(const Take& take) const {
  std::vector<std::byte> memory(kEntriesAtOnce * kHintsEndBytes);
  uint64_t before = 0;
  for (uint64_t i = 0; i <= records_;) {
    const uint64_t entries = std::min<uint64_t>(kEntriesAtOnce, records_ + 1 - i);
    section_.read(i * kHintsEndBytes, MutableBytes(memory).first(entries * kHintsEndBytes));
    for (uint64_t k = 0; k < entries; ++k, ++i) {
      const auto end = load_le<uint64_t>(memory.data() + k * kHintsEndBytes);
      if (i > 0) take(i - 1, before, end);
      before = end;
    }
  }
}

Bytes HintsTable::hints(uint64_t i, uint32_t payload_crc, std::vector<std::byte>& storage) const {
  std::array<std::byte, 2 * kHintsEndBytes> ends;
  section_.read(i * kHintsEndBytes, ends);
  const auto begin = load_le<uint64_t>(ends.data());
  const auto end = load_le<uint64_t>(ends.data() + kHintsEndBytes);
  check_range(i, begin, end);
  if (begin == end) return {};
  storage.resize(end - begin);
  section_.read((records_ + 1) * kHintsEndBytes + begin, storage);
  if (load_le<uint32_t>(storage.data()) != payload_crc) {
    throw CorruptError("the entry points in the sidecar are those of another payload",
                       {.path = uri_, .record = i, .remedy = kNewHints});
  }
  return Bytes(storage).subspan(kChecksumBytes);
}

uint64_t HintsTable::hinted_records() const {
  uint64_t hinted = 0;
  for_each_range([&](uint64_t, uint64_t begin, uint64_t end) { hinted += begin != end; });
  return hinted;
}

}  // namespace fuelrail
