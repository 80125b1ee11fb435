#include "fuelrail/container/sidecar/sidecar_writer.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "fuelrail/base/crc32.h"
#include "fuelrail/base/endian.h"
#include "fuelrail/container/sample_record.h"
#include "fuelrail/container/sidecar/sidecar_format.h"

namespace fuelrail {

using namespace frx;

namespace {

// Whether every writer builds this section itself from the data file. A copy from an old sidecar
// would be a duplicate or out of date.
bool is_made_anew(uint32_t type) {
  return type == kMetaSection || type == kRecordsSection || type == kChecksumsSection ||
         type == kLabelsSection || type == kFieldsSection || type == kHintsSection;
}

}  // namespace

// --- The label summary ---

bool is_integral_label(float label) {
  constexpr float kBeyondInt64 = 9223372036854775808.0f;
  return std::trunc(label) == label && std::fabs(label) < kBeyondInt64;
}

void LabelTally::add(Bytes labels) {
  const auto width = static_cast<int64_t>(labels.size() / sizeof(float));
  width_ = width_.value_or(width) == width ? width : -1;
  for (size_t at = 0; integral_ && at + sizeof(float) <= labels.size(); at += sizeof(float)) {
    integral_ = is_integral_label(load_le<float>(labels.data() + at));
  }
}

LabelSummary LabelTally::summary() const {
  return {.width = width_.value_or(1), .integral = integral_};
}

// --- Hints ---

void HintsBuilder::add(uint64_t record, uint32_t payload_crc, Bytes hints) {
  if (hints.empty() || hints.size() > kMaxHintsBytes) return;
  while (ends_.size() < record * kHintsEndBytes) append_le(ends_, uint64_t{hints_.size()});
  append_le(hints_, payload_crc);
  append_bytes(hints_, hints);
  append_le(ends_, uint64_t{hints_.size()});
  ++hinted_records_;
}

std::vector<std::byte> HintsBuilder::section(uint64_t records) const {
  std::vector<std::byte> data;
  if (hints_.empty()) return data;
  const uint64_t table_bytes = (records + 1) * kHintsEndBytes;
  data.reserve(table_bytes + hints_.size());
  append_le(data, uint64_t{0});
  append_bytes(data, ends_);
  while (data.size() < table_bytes) append_le(data, uint64_t{hints_.size()});
  append_bytes(data, hints_);
  return data;
}

// --- Writing ---

void SidecarWriter::add_record(RecordEntry entry, uint32_t payload_crc) {
  append_le(table_, entry.offset);
  append_le(table_, entry.length);
  if (all_have_checksums_) append_le(checksums_, payload_crc);
  fingerprint_.add(entry.length);
}

void SidecarWriter::add_record(RecordEntry entry) {
  all_have_checksums_ = false;
  checksums_ = {};
  add_record(entry, 0);
}

void SidecarWriter::add_length(uint64_t length, std::optional<uint32_t> payload_crc) {
  has_table_ = false;
  all_have_checksums_ = all_have_checksums_ && payload_crc;
  if (!all_have_checksums_) {
    checksums_ = {};
  } else {
    append_le(checksums_, *payload_crc);
  }
  fingerprint_.add(length);
}

void SidecarWriter::add_name(std::string_view name, bool kept) {
  names_are_kept_ = kept;
  names_ += name;
  append_le(name_ends_, uint64_t{names_.size()});
}

RecordEntry SidecarWriter::record(uint64_t i) const {
  const std::byte* const entry = table_.data() + i * kTableEntryBytes;
  return {.offset = load_le<uint64_t>(entry), .length = load_le<uint64_t>(entry + 8)};
}

uint32_t SidecarWriter::payload_crc(uint64_t i) const {
  return load_le<uint32_t>(checksums_.data() + i * kChecksumBytes);
}

void SidecarWriter::set_classes(const std::vector<std::string>& classes) {
  if (classes.empty()) return;
  std::vector<std::byte> data;
  append_le(data, static_cast<uint32_t>(classes.size()));
  for (const std::string& name : classes) append_le(data, static_cast<uint32_t>(name.size()));
  for (const std::string& name : classes) append_bytes(data, as_bytes(name));
  add_section(kClassesSection, data, true);
}

void SidecarWriter::set_labels(LabelSummary labels) {
  std::vector<std::byte> data;
  append_le(data, labels.width);
  append_le(data, labels.integral ? kIntegralFlag : 0u);
  append_le(data, uint32_t{0});
  add_section(kLabelsSection, data, false);
}

void SidecarWriter::set_payloads(const PayloadKind& kind) {
  if (kind.labels) set_labels(*kind.labels);
  if (kind.samples) add_section(kFieldsSection, descriptors_of(*kind.samples), false);
}

void SidecarWriter::set_field_classes(const FieldClasses& classes) {
  if (classes.empty()) return;
  add_section(kSchemaSection, as_bytes(json_of(classes)), true);
}

void SidecarWriter::set_keys(std::span<const uint64_t> keys) {
  std::vector<std::byte> data;
  data.reserve(keys.size() * kKeyBytes);
  for (const uint64_t key : keys) append_le(data, key);
  add_section(kKeysSection, data, true);
}

void SidecarWriter::add_section(uint32_t type, Bytes data, bool kept) {
  sections_.push_back({type, kept, {data.begin(), data.end()}});
}

void SidecarWriter::keep_sections_of(const Sidecar& old, uint32_t left_out) {
  for (const SidecarSection& section : old.sections()) {
    const bool here = std::any_of(sections_.begin(), sections_.end(),
                                  [&](const Section& s) { return s.type == section.type(); }) ||
                      (section.type() == kNamesSection && !name_ends_.empty());
    if (section.kept() && !here && section.type() != left_out && !is_made_anew(section.type())) {
      add_section(section.type(), section.all(), true);
    }
  }
}

namespace {

// A section as it will be stored in the file.
struct StoredSection {
  uint32_t type = 0;
  uint32_t flags = 0;
  Bytes data;
  uint32_t block_bytes = 0;
  std::vector<std::byte> block_crcs{};

  StoredSection(uint32_t section_type, bool kept, Bytes bytes)
      : type(section_type), flags(kept ? kKeptFlag : 0), data(bytes) {
    if (data.size() <= kMaxUnblockedBytes) return;
    block_bytes = kBlockBytes;
    for (uint64_t at = 0; at < data.size(); at += kBlockBytes) {
      append_le(block_crcs,
                crc32(data.subspan(at, std::min<size_t>(kBlockBytes, data.size() - at))));
    }
  }
};

std::vector<std::byte> header_of(const FileIdentity& identity,
                                 const std::vector<StoredSection>& sections) {
  std::vector<std::byte> directory;
  uint64_t end = kHeaderBytes + sections.size() * kDirectoryEntryBytes;
  for (const StoredSection& section : sections) {
    const uint64_t offset = round_up(end, kSectionAlignment);
    append_le(directory, section.type);
    append_le(directory, section.flags);
    append_le(directory, offset);
    append_le(directory, uint64_t{section.data.size()});
    append_le(directory, section.block_bytes);
    append_le(directory, crc32(section.block_bytes == 0 ? section.data : section.block_crcs));
    end = offset + stored_bytes(section.data.size(), section.block_bytes);
  }
  std::vector<std::byte> header(kHeaderBytes);
  std::memcpy(header.data(), kSignature.data(), kSignature.size());
  store_le(header.data() + kMajorAt, kMajorVersion);
  store_le(header.data() + kMinorAt, kMinorVersion);
  store_le(header.data() + kSectionCountAt, static_cast<uint32_t>(sections.size()));
  store_le(header.data() + kFileSizeAt, end);
  store_le(header.data() + kDataSizeAt, identity.size_bytes);
  store_le(header.data() + kFirstCrcAt, identity.first_crc);
  store_le(header.data() + kLastCrcAt, identity.last_crc);
  const uint32_t crc = crc32(directory, crc32(Bytes(header).first(kHeaderCrcAt)));
  store_le(header.data() + kHeaderCrcAt, crc);
  append_bytes(header, directory);
  return header;
}

}  // namespace

void SidecarWriter::write_to(const FileIdentity& identity, Sink& sink) const {
  std::vector<std::byte> meta;
  append_le(meta, fingerprint_.result().records);
  append_le(meta, fingerprint_.result().bytes);
  append_le(meta, fingerprint_.result().checksum);
  append_le(meta, uint32_t{0});

  std::vector<std::byte> names;
  if (!name_ends_.empty()) {
    append_le(names, uint64_t{0});
    append_bytes(names, name_ends_);
    append_bytes(names, as_bytes(names_));
  }

  const std::vector<std::byte> hints = hints_.section(records());

  std::vector<StoredSection> stored;
  stored.emplace_back(kMetaSection, false, meta);
  for (const Section& section : sections_) {
    stored.emplace_back(section.type, section.kept, section.data);
  }
  if (has_table_) stored.emplace_back(kRecordsSection, false, table_);
  if (has_checksums()) stored.emplace_back(kChecksumsSection, false, checksums_);
  if (!names.empty()) stored.emplace_back(kNamesSection, names_are_kept_, names);
  if (!hints.empty()) stored.emplace_back(kHintsSection, false, hints);

  const uint64_t begin = sink.position();
  const auto pad_to = [&](uint64_t multiple) {
    static constexpr std::array<std::byte, kSectionAlignment> kZeros{};
    const uint64_t at = sink.position() - begin;
    sink.write(Bytes(kZeros).first(round_up(at, multiple) - at));
  };
  sink.write(header_of(identity, stored));
  for (const StoredSection& section : stored) {
    pad_to(kSectionAlignment);
    sink.write(section.data);
    if (section.block_bytes == 0) continue;
    pad_to(kChecksumBytes);
    sink.write(section.block_crcs);
  }
}

}  // namespace fuelrail
