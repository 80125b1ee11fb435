#include "fuelrail/container/sidecar.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "fuelrail/base/crc32.h"
#include "fuelrail/base/endian.h"
#include "fuelrail/base/error.h"
#include "fuelrail/container/sidecar_format.h"

namespace fuelrail {

using namespace frx;

namespace {

constexpr const char* kRemedy = "Move the sidecar away, and make a new one with 'fuelrail index'";

[[noreturn]] void throw_corrupt(const std::string& failure, const std::string& uri,
                                ErrorDetail detail = {}) {
  detail.path = uri;
  detail.remedy = kRemedy;
  throw CorruptError(failure, detail);
}

std::string name_of_type(uint32_t type) {
  std::array<std::byte, 4> letters;
  store_le(letters.data(), type);
  return fmt::format("{:?}", as_text(letters));
}

void check_crc(Bytes data, uint32_t expected, const std::string& what, const std::string& uri) {
  const uint32_t found = crc32(data);
  if (found == expected) return;
  throw_corrupt(
      fmt::format("{} of the sidecar is damaged: its checksum is wrong", what), uri,
      {.expected = fmt::format("{:#010x}", expected), .found = fmt::format("{:#010x}", found)});
}

}  // namespace

// --- One section ---

void SidecarSection::check_block(uint64_t block) const {
  const uint64_t begin = block * block_bytes_;
  const uint64_t length = std::min<uint64_t>(block_bytes_, data_.size() - begin);
  check_crc(data_.subspan(begin, length),
            load_le<uint32_t>(block_crcs_.data() + block * kChecksumBytes),
            fmt::format("block {} of section {}", block, name_of_type(type_)), *uri_);
}

Bytes SidecarSection::range(uint64_t offset, uint64_t length) const {
  if (offset > data_.size() || length > data_.size() - offset) {
    throw_corrupt(fmt::format("section {} of the sidecar is too short", name_of_type(type_)), *uri_,
                  {.expected = fmt::format("{} bytes at {}", length, offset),
                   .found = fmt::format("{} bytes in all", data_.size())});
  }
  if (block_bytes_ != 0 && length != 0) {
    const uint64_t last = (offset + length - 1) / block_bytes_;
    for (uint64_t block = offset / block_bytes_; block <= last; ++block) check_block(block);
  }
  return data_.subspan(offset, length);
}

void SidecarSection::verify() const {
  check_crc(block_bytes_ == 0 ? data_ : block_crcs_, crc_,
            fmt::format("section {}", name_of_type(type_)), *uri_);
  all();
}

// --- Reading ---

std::unique_ptr<Sidecar> Sidecar::open(MappedBytes file, const std::string& uri) {
  std::unique_ptr<Sidecar> sidecar(new Sidecar(std::move(file), uri));
  sidecar->read_header();
  sidecar->read_directory();
  sidecar->read_meta();
  sidecar->read_labels();
  sidecar->read_classes();
  sidecar->table_ = sidecar->entries_section(kRecordsSection, kTableEntryBytes);
  sidecar->checksums_ = sidecar->entries_section(kChecksumsSection, kChecksumBytes);
  sidecar->keys_ = sidecar->entries_section(kKeysSection, kKeyBytes);
  return sidecar;
}

Sidecar::Sidecar(MappedBytes file, const std::string& uri) : uri_(uri), file_(std::move(file)) {}

void Sidecar::read_header() {
  const Bytes bytes = file_.bytes;
  const std::string_view found = as_text(bytes.first(std::min(bytes.size(), kSignature.size())));
  if (found != kSignature.substr(0, found.size())) {
    throw_corrupt("this is not a sidecar: its signature is wrong", uri_, {.offset = 0});
  }
  if (bytes.size() < kHeaderBytes) {
    throw TruncatedError("the sidecar ends inside its header",
                         {.path = uri_,
                          .expected = fmt::format("{} bytes", kHeaderBytes),
                          .found = fmt::format("{}", bytes.size()),
                          .remedy = kRemedy});
  }
  const auto major = load_le<uint16_t>(bytes.data() + kMajorAt);
  if (major != kMajorVersion) {
    throw UnsupportedError("the sidecar has a version that this fuelrail does not read",
                           {.path = uri_,
                            .expected = fmt::format("{}", kMajorVersion),
                            .found = fmt::format("{}", major),
                            .remedy = "Use a newer fuelrail"});
  }
  const auto size = load_le<uint64_t>(bytes.data() + kFileSizeAt);
  const ErrorDetail sizes{.path = uri_,
                          .expected = fmt::format("{} bytes", size),
                          .found = fmt::format("{}", bytes.size()),
                          .remedy = kRemedy};
  if (bytes.size() < size) throw TruncatedError("the sidecar ends too early", sizes);
  if (bytes.size() > size) throw CorruptError("the sidecar is longer than it says", sizes);
  identity_ = {.size_bytes = load_le<uint64_t>(bytes.data() + kDataSizeAt),
               .first_crc = load_le<uint32_t>(bytes.data() + kFirstCrcAt),
               .last_crc = load_le<uint32_t>(bytes.data() + kLastCrcAt)};
}

void Sidecar::read_directory() {
  const Bytes bytes = file_.bytes;
  const auto count = load_le<uint32_t>(bytes.data() + kSectionCountAt);
  uint64_t end = kHeaderBytes + uint64_t{count} * kDirectoryEntryBytes;
  if (count > kMaxSections || end > bytes.size()) {
    throw_corrupt("the sidecar's directory is too long", uri_, {.found = fmt::format("{}", count)});
  }
  const Bytes directory = bytes.subspan(kHeaderBytes, end - kHeaderBytes);
  const uint32_t crc = crc32(directory, crc32(bytes.first(kHeaderCrcAt)));
  if (crc != load_le<uint32_t>(bytes.data() + kHeaderCrcAt)) {
    throw_corrupt("the sidecar's header is damaged: its checksum is wrong", uri_);
  }

  // Leaves no byte between two pieces of the file unchecked.
  const auto skip_zeros = [&](uint64_t to) {
    if (to > bytes.size()) throw_corrupt("a section passes the sidecar's end", uri_);
    const Bytes gap = bytes.subspan(end, to - end);
    if (std::any_of(gap.begin(), gap.end(), [](std::byte b) { return b != std::byte{0}; })) {
      throw_corrupt("the sidecar's padding is not zero", uri_, {.offset = end});
    }
    end = to;
  };
  for (uint32_t i = 0; i < count; ++i) {
    const std::byte* entry = directory.data() + size_t{i} * kDirectoryEntryBytes;
    const auto offset = load_le<uint64_t>(entry + kOffsetAt);
    const auto length = load_le<uint64_t>(entry + kLengthAt);
    skip_zeros(round_up(end, kSectionAlignment));
    SidecarSection section;
    section.type_ = load_le<uint32_t>(entry + kTypeAt);
    section.kept_ = (load_le<uint32_t>(entry + kFlagsAt) & kKeptFlag) != 0;
    section.block_bytes_ = load_le<uint32_t>(entry + kBlockBytesAt);
    section.crc_ = load_le<uint32_t>(entry + kCrcAt);
    section.uri_ = &uri_;
    if (offset != end || length > bytes.size() - end ||
        stored_bytes(length, section.block_bytes_) > bytes.size() - end) {
      throw_corrupt(
          fmt::format("section {} of the sidecar is misplaced", name_of_type(section.type_)), uri_,
          {.expected = fmt::format("offset {}, at most {} bytes", end, bytes.size() - end),
           .found = fmt::format("offset {}, {} bytes", offset, length)});
    }
    if (this->section(section.type_) != nullptr) {
      throw_corrupt(fmt::format("the sidecar has section {} twice", name_of_type(section.type_)),
                    uri_);
    }
    section.data_ = bytes.subspan(offset, length);
    end += length;
    if (section.block_bytes_ != 0) {
      skip_zeros(round_up(end, kChecksumBytes));
      section.block_crcs_ =
          bytes.subspan(end, blocks_of(length, section.block_bytes_) * kChecksumBytes);
      end += section.block_crcs_.size();
    } else {
      section.verify();
    }
    sections_.push_back(section);
  }
  if (end != bytes.size()) throw_corrupt("the sidecar does not end with its last section", uri_);
}

void Sidecar::read_meta() {
  const SidecarSection* meta = section(kMetaSection);
  if (meta == nullptr) throw_corrupt("the sidecar has no META section", uri_);
  const Bytes bytes = meta->range(0, kMetaBytes);
  fingerprint_ = {.records = load_le<uint64_t>(bytes.data()),
                  .bytes = load_le<uint64_t>(bytes.data() + 8),
                  .checksum = load_le<uint32_t>(bytes.data() + 16)};
}

bool Sidecar::same_contents(const Sidecar& other) const {
  const Bytes mine = file_.bytes.first(kHeaderBytes);
  const Bytes others = other.file_.bytes.first(kHeaderBytes);
  return std::equal(mine.begin(), mine.end(), others.begin(), others.end());
}

void Sidecar::read_labels() {
  const SidecarSection* labels = section(kLabelsSection);
  if (labels == nullptr) return;
  const Bytes bytes = labels->range(0, kLabelsBytes);
  const auto width = load_le<int64_t>(bytes.data());
  if (width < -1) {
    throw_corrupt("the sidecar's label width is negative", uri_,
                  {.found = fmt::format("{}", width)});
  }
  if (width > kMaxLabels) {
    throw_corrupt(
        "the sidecar's label width is more than a record can hold", uri_,
        {.expected = fmt::format("at most {}", kMaxLabels), .found = fmt::format("{}", width)});
  }
  const auto flags = load_le<uint32_t>(bytes.data() + 8);
  labels_ = {.width = width, .integral = (flags & kIntegralFlag) != 0};
}

void Sidecar::read_classes() {
  const SidecarSection* classes = section(kClassesSection);
  if (classes == nullptr) return;
  const Bytes bytes = classes->all();
  const uint64_t count = load_le<uint32_t>(classes->range(0, 4).data());
  const Bytes lengths = classes->range(4, count * 4);
  uint64_t at = 4 + count * 4;
  classes_.reserve(count);
  for (uint64_t i = 0; i < count; ++i) {
    const auto length = load_le<uint32_t>(lengths.data() + i * 4);
    classes_.emplace_back(as_text(classes->range(at, length)));
    at += length;
  }
  if (at != bytes.size())
    throw_corrupt("the sidecar's class names do not fill their section", uri_);
}

const SidecarSection* Sidecar::entries_section(uint32_t type, uint64_t entry_bytes) const {
  const SidecarSection* entries = section(type);
  if (entries == nullptr) return nullptr;
  if (entries->size() % entry_bytes != 0 || entries->size() / entry_bytes != records()) {
    throw_corrupt(fmt::format("section {} of the sidecar has a wrong size", name_of_type(type)),
                  uri_,
                  {.expected = fmt::format("{} entries of {} bytes", records(), entry_bytes),
                   .found = fmt::format("{} bytes", entries->size())});
  }
  return entries;
}

const SidecarSection* Sidecar::section(uint32_t type) const {
  const auto found = std::find_if(sections_.begin(), sections_.end(),
                                  [type](const SidecarSection& s) { return s.type() == type; });
  return found == sections_.end() ? nullptr : &*found;
}

RecordEntry Sidecar::record(uint64_t i) const {
  const Bytes bytes = table_->range(i * kTableEntryBytes, kTableEntryBytes);
  const RecordEntry entry{.offset = load_le<uint64_t>(bytes.data()),
                          .length = load_le<uint64_t>(bytes.data() + 8)};
  if (entry.offset > identity_.size_bytes || entry.length > identity_.size_bytes - entry.offset) {
    throw_corrupt("the sidecar names a record that is not inside its file", uri_,
                  {.record = i,
                   .expected = fmt::format("at most {} bytes", identity_.size_bytes),
                   .found = fmt::format("{} bytes at {}", entry.length, entry.offset)});
  }
  return entry;
}

uint32_t Sidecar::payload_crc(uint64_t i) const {
  return load_le<uint32_t>(checksums_->range(i * kChecksumBytes, kChecksumBytes).data());
}

uint64_t Sidecar::key(uint64_t i) const {
  return load_le<uint64_t>(keys_->range(i * kKeyBytes, kKeyBytes).data());
}

void Sidecar::verify() const {
  for (const SidecarSection& section : sections_) section.verify();
  if (table_ == nullptr) return;
  FingerprintBuilder builder;
  for (uint64_t i = 0; i < records(); ++i) builder.add(record(i).length);
  const Fingerprint& found = builder.result();
  if (found == fingerprint_) return;
  throw_corrupt("the sidecar's fingerprint is not that of its record table", uri_,
                {.expected = to_string(fingerprint_), .found = to_string(found)});
}

}  // namespace fuelrail
