#include "fuelrail/container/sidecar.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "fuelrail/base/crc32.h"
#include "fuelrail/base/endian.h"
#include "fuelrail/base/error.h"

namespace fuelrail {
namespace {

// All of this is frozen: docs/formats/frx.md.
constexpr std::string_view kSignature(
    "\x89"
    "FRX\r\n\x1a\n");
constexpr uint16_t kMajorVersion = 1;
constexpr uint16_t kMinorVersion = 0;
constexpr size_t kHeaderBytes = 64;
constexpr size_t kMajorAt = 8;
constexpr size_t kMinorAt = 10;
constexpr size_t kSectionCountAt = 12;
constexpr size_t kFileSizeAt = 16;
constexpr size_t kDataSizeAt = 24;
constexpr size_t kFirstCrcAt = 32;
constexpr size_t kLastCrcAt = 36;
constexpr size_t kHeaderCrcAt = 60;

constexpr size_t kDirectoryEntryBytes = 32;
constexpr size_t kTypeAt = 0;
constexpr size_t kFlagsAt = 4;
constexpr size_t kOffsetAt = 8;
constexpr size_t kLengthAt = 16;
constexpr size_t kBlockBytesAt = 24;
constexpr size_t kCrcAt = 28;
constexpr uint32_t kKeptFlag = 1;
constexpr uint32_t kMaxSections = 4096;

constexpr size_t kSectionAlignment = 64;
constexpr uint64_t kMaxUnblockedBytes = uint64_t{1} << 20;
constexpr uint32_t kBlockBytes = 4096;

constexpr size_t kMetaBytes = 24;
constexpr size_t kLabelsBytes = 16;
constexpr uint32_t kIntegralFlag = 1;
constexpr int64_t kMaxLabels = (int64_t{1} << 27) - 1;  // float32 in a payload below 2^29 bytes
constexpr size_t kTableEntryBytes = 16;
constexpr size_t kChecksumBytes = 4;

constexpr size_t kIdentityBytes = 4096;
constexpr const char* kRemedy = "Move the sidecar away, and make a new one with 'fuelrail index'";

constexpr uint64_t round_up(uint64_t value, uint64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

constexpr uint64_t blocks_of(uint64_t length, uint32_t block_bytes) {
  return block_bytes == 0 ? 0 : (length + block_bytes - 1) / block_bytes;
}

// Data, and for a section of blocks their checksums behind it.
constexpr uint64_t stored_bytes(uint64_t length, uint32_t block_bytes) {
  if (block_bytes == 0) return length;
  return round_up(length, kChecksumBytes) + blocks_of(length, block_bytes) * kChecksumBytes;
}

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

template <typename T>
void append_le(std::vector<std::byte>& out, T value) {
  out.resize(out.size() + sizeof value);
  store_le(out.data() + out.size() - sizeof value, value);
}

void append_bytes(std::vector<std::byte>& out, Bytes bytes) {
  out.insert(out.end(), bytes.begin(), bytes.end());
}

}  // namespace

// --- What the sidecar says ---

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

FileIdentity identify(const Source& data) {
  const uint64_t size = data.size_bytes();
  std::vector<std::byte> piece(std::min<uint64_t>(size, kIdentityBytes));
  data.read(0, piece);
  const uint32_t first = crc32(piece);
  data.read(size - piece.size(), piece);
  return {.size_bytes = size, .first_crc = first, .last_crc = crc32(piece)};
}

void IdentifyingSink::write(Bytes bytes) {
  inner_.write(bytes);
  append_bytes(first_, bytes.first(std::min(bytes.size(), kIdentityBytes - first_.size())));
  append_bytes(last_, bytes.last(std::min(bytes.size(), kIdentityBytes)));
  if (last_.size() >= 2 * kIdentityBytes) {
    last_.erase(last_.begin(), last_.end() - ptrdiff_t{kIdentityBytes});
  }
}

FileIdentity IdentifyingSink::identity() const {
  const Bytes last(last_);
  return {.size_bytes = inner_.position(),
          .first_crc = crc32(first_),
          .last_crc = crc32(last.last(std::min(last.size(), kIdentityBytes)))};
}

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

void SidecarWriter::set_classes(const std::vector<std::string>& classes) {
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

void SidecarWriter::add_section(uint32_t type, Bytes data, bool kept) {
  sections_.push_back({type, kept, {data.begin(), data.end()}});
}

void SidecarWriter::keep_sections_of(const Sidecar& old) {
  for (const SidecarSection& section : old.sections()) {
    const bool here = std::any_of(sections_.begin(), sections_.end(),
                                  [&](const Section& s) { return s.type == section.type(); });
    if (section.kept() && !here) add_section(section.type(), section.all(), true);
  }
}

namespace {

// A section on its way to the file.
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

  std::vector<StoredSection> stored;
  stored.emplace_back(kMetaSection, false, meta);
  for (const Section& section : sections_) {
    stored.emplace_back(section.type, section.kept, section.data);
  }
  stored.emplace_back(kRecordsSection, false, table_);
  if (all_have_checksums_) stored.emplace_back(kChecksumsSection, false, checksums_);

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
