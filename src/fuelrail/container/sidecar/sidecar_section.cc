#include "fuelrail/container/sidecar/sidecar_section.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "fuelrail/base/crc32.h"
#include "fuelrail/base/endian.h"
#include "fuelrail/base/error.h"
#include "fuelrail/container/sidecar/sidecar_format.h"

namespace fuelrail {

using namespace frx;

std::string name_of_section(uint32_t type) {
  std::array<std::byte, 4> letters;
  store_le(letters.data(), type);
  return fmt::format("{:?}", as_text(letters));
}

namespace {

// Tables are used at random positions. On slow storage, reading this much takes as long as reading
// one block.
constexpr uint64_t kStretchBytes = uint64_t{256} << 10;

// Kept in place of a stretch that has a damaged block.
constexpr std::byte kDamaged{};

uint64_t stretch_bytes(const SidecarSection::Header& header) {
  return std::max<uint64_t>(kStretchBytes / header.block_bytes, 1) * header.block_bytes;
}

void check_section_crc(Bytes data, uint32_t expected, const std::string& what,
                       const std::string& uri) {
  const uint32_t found = crc32(data);
  if (found == expected) return;
  throw CorruptError(fmt::format("the checksum of {} of the sidecar is wrong", what),
                     {.path = uri,
                      .expected = fmt::format("{:#010x}", expected),
                      .found = fmt::format("{:#010x}", found),
                      .remedy = kNewSidecar});
}

}  // namespace

SidecarSection::SidecarSection(const Header& header, std::vector<std::byte> data,
                               const std::string& uri)
    : header_(header), uri_(uri), data_(std::move(data)) {
  check_section_crc(data_, header.crc, fmt::format("section {}", name_of_section(header.type)),
                    uri_);
}

SidecarSection::SidecarSection(const Header& header, std::shared_ptr<const Source> file,
                               uint64_t offset, std::vector<std::byte> block_crcs,
                               std::atomic<int64_t>* left)
    : header_(header),
      uri_(file->uri()),
      file_(std::move(file)),
      offset_(offset),
      block_crcs_(std::move(block_crcs)),
      left_(left) {
  check_section_crc(block_crcs_, header.crc,
                    fmt::format("section {}", name_of_section(header.type)), uri_);
  kept_ = std::make_unique<std::atomic<const std::byte*>[]>(stretches());
}

SidecarSection::~SidecarSection() {
  if (kept_ == nullptr) return;
  for (uint64_t i = 0; i < stretches(); ++i) {
    const std::byte* const kept = kept_[i].load(std::memory_order_relaxed);
    if (kept != &kDamaged) delete[] kept;
  }
}

uint64_t SidecarSection::stretches() const {
  return (header_.size + stretch_bytes(header_) - 1) / stretch_bytes(header_);
}

std::array<SidecarSection::Range, 2> SidecarSection::ends_of(const Header& header) {
  const uint64_t bytes = stretch_bytes(header);
  const uint64_t last = header.size == 0 ? 0 : (header.size - 1) / bytes * bytes;
  return {Range{0, std::min(bytes, last)}, Range{last, header.size}};
}

std::vector<SidecarSection::Range> SidecarSection::groups_of(const Header& header) {
  std::vector<Range> groups;
  for (uint64_t begin = 0; begin < header.size; begin += stretch_bytes(header)) {
    groups.push_back({begin, std::min(begin + stretch_bytes(header), header.size)});
  }
  return groups;
}

void SidecarSection::keep(const Range& range, Bytes bytes) {
  if (bytes.empty() || left_->load(std::memory_order_relaxed) < std::ssize(bytes)) return;
  try {
    check_blocks(range.begin / header_.block_bytes, bytes);
  } catch (const CorruptError&) {
    return;
  }
  auto memory = std::make_unique_for_overwrite<std::byte[]>(bytes.size());
  std::memcpy(memory.get(), bytes.data(), bytes.size());
  keep_memory(range.begin / stretch_bytes(header_), std::move(memory));
}

// Fills `into` with the blocks from `first` on. Requires: `into` ends at the end of a block.
void SidecarSection::read_blocks(uint64_t first, MutableBytes into) const {
  file_->read(offset_ + first * header_.block_bytes, into);
  check_blocks(first, into);
}

void SidecarSection::check_blocks(uint64_t first, Bytes bytes) const {
  for (uint64_t block = first; !bytes.empty(); ++block) {
    const Bytes one = bytes.first(std::min<size_t>(header_.block_bytes, bytes.size()));
    check_section_crc(one, load_le<uint32_t>(block_crcs_.data() + block * kChecksumBytes),
                      fmt::format("block {} of section {}", block, name_of_section(header_.type)),
                      uri_);
    bytes = bytes.subspan(one.size());
  }
}

// Null if the limit on kept bytes is reached, or if a block of the stretch is damaged.
const std::byte* SidecarSection::stretch(uint64_t number) const {
  const std::byte* const kept = kept_[number].load(std::memory_order_acquire);
  if (kept == &kDamaged) return nullptr;
  return kept != nullptr ? kept : keep_stretch(number);
}

const std::byte* SidecarSection::keep_stretch(uint64_t number) const {
  const uint64_t begin = number * stretch_bytes(header_);
  const auto bytes = static_cast<int64_t>(std::min(stretch_bytes(header_), header_.size - begin));
  if (left_->load(std::memory_order_relaxed) < bytes) return nullptr;
  auto memory = std::make_unique_for_overwrite<std::byte[]>(static_cast<size_t>(bytes));
  try {
    read_blocks(begin / header_.block_bytes, {memory.get(), static_cast<size_t>(bytes)});
  } catch (const CorruptError&) {  // the other blocks are usable
    return note_damaged(number);
  } catch (const TruncatedError&) {
    return note_damaged(number);
  }
  return keep_memory(number, std::move(memory));
}

// From now on, the stretch's blocks are read one by one, because reading the whole stretch for each
// entry would be slow.
const std::byte* SidecarSection::note_damaged(uint64_t number) const {
  const std::byte* unread = nullptr;
  kept_[number].compare_exchange_strong(unread, &kDamaged, std::memory_order_relaxed);
  return nullptr;
}

const std::byte* SidecarSection::keep_memory(uint64_t number,
                                             std::unique_ptr<std::byte[]> memory) const {
  const std::byte* other = nullptr;  // kept meanwhile by another thread
  if (!kept_[number].compare_exchange_strong(other, memory.get(), std::memory_order_acq_rel)) {
    return other == &kDamaged ? nullptr : other;
  }
  const uint64_t begin = number * stretch_bytes(header_);
  const uint64_t bytes = std::min(stretch_bytes(header_), header_.size - begin);
  left_->fetch_sub(static_cast<int64_t>(bytes), std::memory_order_relaxed);
  return memory.release();
}

void SidecarSection::copy_from_blocks(uint64_t offset, MutableBytes into) const {
  const uint64_t first = offset / header_.block_bytes;
  const uint64_t begin = first * header_.block_bytes;
  const uint64_t end = std::min(round_up(offset + into.size(), header_.block_bytes), header_.size);
  std::vector<std::byte> blocks(end - begin);
  read_blocks(first, blocks);
  std::memcpy(into.data(), blocks.data() + (offset - begin), into.size());
}

void SidecarSection::read(uint64_t offset, MutableBytes into) const {
  if (offset > header_.size || into.size() > header_.size - offset) {
    throw CorruptError(
        fmt::format("section {} of the sidecar is too short", name_of_section(header_.type)),
        {.path = uri_,
         .expected = fmt::format("{} bytes at offset {}", into.size(), offset),
         .found = fmt::format("{} bytes in all", header_.size),
         .remedy = kNewSidecar});
  }
  if (header_.block_bytes == 0) {
    if (!into.empty()) std::memcpy(into.data(), data_.data() + offset, into.size());
    return;
  }
  while (!into.empty()) {
    const uint64_t number = offset / stretch_bytes(header_);
    const uint64_t within = offset - number * stretch_bytes(header_);
    const auto part = into.first(std::min<uint64_t>(into.size(), stretch_bytes(header_) - within));
    if (const std::byte* const bytes = stretch(number)) {
      std::memcpy(part.data(), bytes + within, part.size());
    } else {
      copy_from_blocks(offset, part);
    }
    offset += part.size();
    into = into.subspan(part.size());
  }
}

std::vector<std::byte> SidecarSection::all() const {
  std::vector<std::byte> bytes(header_.size);
  read(0, bytes);
  return bytes;
}

void SidecarSection::verify() const {
  if (header_.block_bytes == 0) return;
  std::vector<std::byte> memory(std::min(stretch_bytes(header_), header_.size));
  for (uint64_t begin = 0; begin < header_.size; begin += stretch_bytes(header_)) {
    const uint64_t bytes = std::min(stretch_bytes(header_), header_.size - begin);
    read_blocks(begin / header_.block_bytes, MutableBytes(memory).first(bytes));
  }
}

}  // namespace fuelrail
