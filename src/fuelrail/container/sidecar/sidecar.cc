#include "fuelrail/container/sidecar/sidecar.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "fuelrail/base/crc32.h"
#include "fuelrail/base/endian.h"
#include "fuelrail/base/error.h"
#include "fuelrail/container/class_names.h"
#include "fuelrail/container/sample_record.h"
#include "fuelrail/storage/read_batch.h"

namespace fuelrail {

using namespace frx;

namespace {

// The first read includes the directory.
static_assert(Sidecar::kHeadReadBytes >=
              kHeaderBytes + uint64_t{kMaxSections} * kDirectoryEntryBytes);

// The limit for data that stays in memory from the opening on: small sections, checksums of blocks.
constexpr uint64_t kMaxResidentBytes = uint64_t{256} << 20;

[[noreturn]] void throw_corrupt(const std::string& failure, const std::string& uri,
                                ErrorDetail detail = {}) {
  detail.path = uri;
  detail.remedy = kNewSidecar;
  throw CorruptError(failure, detail);
}

// The ranges of a section with blocks that are read at opening.
std::vector<SidecarSection::Range> early_ranges(const SidecarSection::Header& header) {
  if (header.type == kRecordsSection) {
    const auto ends = SidecarSection::ends_of(header);
    return {ends.begin(), ends.end()};
  }
  const bool whole = header.type == kHintsSection && header.size <= kMaxWholeHintsBytes;
  return whole ? SidecarSection::groups_of(header) : std::vector<SidecarSection::Range>{};
}

}  // namespace

// --- Reading ---

// An entry of the directory, with the offsets of its bytes.
struct Sidecar::PlacedSection {
  SidecarSection::Header header;
  uint64_t begin = 0;       // of the data
  uint64_t crcs_begin = 0;  // of the blocks' checksums, if there are blocks
  uint64_t end = 0;         // of the section

  bool has_blocks() const { return header.block_bytes != 0; }
  uint64_t data_end() const { return begin + header.size; }

  // Decodes and checks an entry of the directory. Requires: the section before ends at
  // `end_before`, which is in the file.
  static PlacedSection of(const std::byte* entry, uint64_t end_before, uint64_t file_bytes,
                          const std::string& uri);
};

// The bytes of the file that are needed at opening: everything except most blocks.
class Sidecar::File {
 public:
  File(std::shared_ptr<const Source> source, std::vector<std::byte> head)
      : source_(std::move(source)) {
    if (head.empty()) {
      head.resize(std::min(source_->size_bytes(), kHeadReadBytes));
      source_->read(0, head);
    }
    pieces_.push_back({0, std::move(head)});
  }

  const std::shared_ptr<const Source>& source() const { return source_; }
  uint64_t size() const { return source_->size_bytes(); }
  Bytes head() const { return pieces_.front().bytes; }

  // Requests bytes for read_wanted. Call in file order; adjacent ranges become one piece.
  void want(uint64_t begin, uint64_t end) {
    begin = std::max<uint64_t>(begin, head().size());
    if (begin >= end) return;
    if (wanted_.empty() || wanted_.back().end != begin) wanted_.push_back({begin, begin});
    wanted_.back().end = end;
  }

  // As `want`, for bytes that are not blocks, of which there is a limit.
  void want_resident(uint64_t begin, uint64_t end) {
    want(begin, end);
    resident_bytes_ += end - begin;
    if (resident_bytes_ <= kMaxResidentBytes) return;
    throw_corrupt("the sidecar's small sections and checksums are too long in total",
                  source_->uri(), {.expected = fmt::format("at most {} bytes", kMaxResidentBytes)});
  }

  // Reads all requested bytes in parallel.
  void read_wanted() {
    std::vector<ReadRequest> requests;
    for (const Range& range : wanted_) {
      pieces_.push_back({range.begin, std::vector<std::byte>(range.end - range.begin)});
    }
    for (size_t i = 1; i < pieces_.size(); ++i) {
      requests.push_back(
          {.source = source_.get(), .offset = pieces_[i].begin, .into = pieces_[i].bytes});
    }
    read_all(requests);
  }

  // Requires: the bytes were requested and read, or are in the head.
  std::vector<std::byte> bytes(uint64_t begin, uint64_t length) const {
    std::vector<std::byte> found;
    found.reserve(length);
    for (const Piece& piece : pieces_) {  // the head and at most one other piece
      const uint64_t end = piece.begin + piece.bytes.size();
      if (found.size() == length || begin < piece.begin || begin >= end) continue;
      const uint64_t count = std::min(length - found.size(), end - begin);
      const Bytes part = Bytes(piece.bytes).subspan(begin - piece.begin, count);
      found.insert(found.end(), part.begin(), part.end());
      begin += count;
    }
    return found;
  }

 private:
  struct Range {
    uint64_t begin = 0;
    uint64_t end = 0;
  };
  struct Piece {
    uint64_t begin = 0;
    std::vector<std::byte> bytes;
  };

  std::shared_ptr<const Source> source_;
  std::vector<Piece> pieces_;
  std::vector<Range> wanted_;
  uint64_t resident_bytes_ = 0;
};

std::unique_ptr<Sidecar> Sidecar::open(std::shared_ptr<const Source> file,
                                       std::vector<std::byte> head) {
  std::unique_ptr<Sidecar> sidecar(new Sidecar(file->uri()));
  File reading(std::move(file), std::move(head));
  sidecar->read_header(reading);
  sidecar->read_sections(reading);
  sidecar->read_meta();
  sidecar->read_labels();
  sidecar->read_fields();
  sidecar->read_classes();
  sidecar->read_field_classes();
  sidecar->table_ = sidecar->entries_section(kRecordsSection, kTableEntryBytes);
  sidecar->checksums_ = sidecar->entries_section(kChecksumsSection, kChecksumBytes);
  sidecar->keys_ = sidecar->entries_section(kKeysSection, kKeyBytes);
  sidecar->names_ = sidecar->names_section();
  sidecar->read_hints();
  return sidecar;
}

void Sidecar::read_header(const File& file) {
  const Bytes bytes = file.head();
  const std::string_view found = as_text(bytes.first(std::min(bytes.size(), kSignature.size())));
  if (found != kSignature.substr(0, found.size())) {
    throw_corrupt("the file is not a sidecar: its signature is wrong", uri_, {.offset = 0});
  }
  if (bytes.size() < kHeaderBytes) {
    throw TruncatedError("the sidecar is truncated inside its header",
                         {.path = uri_,
                          .expected = fmt::format("{} bytes", kHeaderBytes),
                          .found = fmt::format("{}", bytes.size()),
                          .remedy = kNewSidecar});
  }
  std::copy_n(bytes.begin(), kHeaderBytes, header_.begin());
  const auto major = load_le<uint16_t>(bytes.data() + kMajorAt);
  if (major != kMajorVersion) {
    throw UnsupportedError("the sidecar's format version is not supported",
                           {.path = uri_,
                            .expected = fmt::format("{}", kMajorVersion),
                            .found = fmt::format("{}", major),
                            .remedy = "Use a newer fuelrail"});
  }
  const auto size = load_le<uint64_t>(bytes.data() + kFileSizeAt);
  const ErrorDetail sizes{.path = uri_,
                          .expected = fmt::format("{} bytes", size),
                          .found = fmt::format("{}", file.size()),
                          .remedy = kNewSidecar};
  if (file.size() < size) throw TruncatedError("the sidecar is truncated", sizes);
  if (file.size() > size) throw CorruptError("the sidecar is longer than its header says", sizes);
  identity_ = {.size_bytes = load_le<uint64_t>(bytes.data() + kDataSizeAt),
               .first_crc = load_le<uint32_t>(bytes.data() + kFirstCrcAt),
               .last_crc = load_le<uint32_t>(bytes.data() + kLastCrcAt)};
}

namespace {

// Checks the directory's checksum. Returns: its entries, one after the other.
Bytes checked_directory(Bytes head, uint64_t file_bytes, const std::string& uri) {
  const auto count = load_le<uint32_t>(head.data() + kSectionCountAt);
  const uint64_t bytes = uint64_t{count} * kDirectoryEntryBytes;
  if (count > kMaxSections || bytes > file_bytes - kHeaderBytes) {
    throw_corrupt("the sidecar's header declares too many sections", uri,
                  {.found = fmt::format("{}", count)});
  }
  const Bytes directory = head.subspan(kHeaderBytes, bytes);
  if (crc32(directory, crc32(head.first(kHeaderCrcAt))) !=
      load_le<uint32_t>(head.data() + kHeaderCrcAt)) {
    throw_corrupt("the checksum of the sidecar's header is wrong", uri);
  }
  return directory;
}

// Whether a section's block size is valid.
bool has_right_blocks(const SidecarSection::Header& section) {
  if (section.block_bytes == 0) return section.size <= kMaxUnblockedBytes;
  return section.block_bytes >= kLeastBlockBytes && section.block_bytes <= kMostBlockBytes;
}

void check_zeros(const std::vector<std::byte>& gap, uint64_t offset, const std::string& uri) {
  if (std::any_of(gap.begin(), gap.end(), [](std::byte b) { return b != std::byte{0}; })) {
    throw_corrupt("the sidecar's padding is not zero", uri, {.offset = offset});
  }
}

}  // namespace

Sidecar::PlacedSection Sidecar::PlacedSection::of(const std::byte* entry, uint64_t end_before,
                                                  uint64_t file_bytes, const std::string& uri) {
  PlacedSection section{.header = {.type = load_le<uint32_t>(entry + kTypeAt),
                                   .kept = (load_le<uint32_t>(entry + kFlagsAt) & kKeptFlag) != 0,
                                   .size = load_le<uint64_t>(entry + kLengthAt),
                                   .block_bytes = load_le<uint32_t>(entry + kBlockBytesAt),
                                   .crc = load_le<uint32_t>(entry + kCrcAt)},
                        .begin = load_le<uint64_t>(entry + kOffsetAt)};
  const SidecarSection::Header& header = section.header;
  const uint64_t begin = round_up(end_before, kSectionAlignment);
  const uint64_t left = file_bytes - std::min(begin, file_bytes);
  if (section.begin != begin || begin > file_bytes || header.size > left ||
      stored_bytes(header.size, header.block_bytes) > left) {
    throw_corrupt(fmt::format("section {} of the sidecar has an invalid offset or length",
                              name_of_section(header.type)),
                  uri,
                  {.expected = fmt::format("offset {}, at most {} bytes", begin, left),
                   .found = fmt::format("offset {}, {} bytes", section.begin, header.size)});
  }
  if (!has_right_blocks(header)) {
    throw_corrupt(
        fmt::format("section {} of the sidecar has an invalid block size",
                    name_of_section(header.type)),
        uri,
        {.expected = fmt::format("{} to {} bytes", kLeastBlockBytes, kMostBlockBytes),
         .found = fmt::format("{} in a section of {} bytes", header.block_bytes, header.size)});
  }
  section.end = begin + stored_bytes(header.size, header.block_bytes);
  section.crcs_begin = section.end - blocks_of(header.size, header.block_bytes) * kChecksumBytes;
  return section;
}

void Sidecar::read_sections(File& file) {
  const Bytes directory = checked_directory(file.head(), file.size(), uri_);
  std::vector<PlacedSection> placed;
  uint64_t end = kHeaderBytes + directory.size();
  for (size_t at = 0; at < directory.size(); at += kDirectoryEntryBytes) {
    const PlacedSection section = PlacedSection::of(directory.data() + at, end, file.size(), uri_);
    file.want_resident(end, section.has_blocks() ? section.begin : section.data_end());
    if (section.has_blocks()) {
      for (const auto& [from, to] : early_ranges(section.header)) {
        file.want(section.begin + from, section.begin + to);
      }
      file.want_resident(section.data_end(), section.end);
    }
    end = section.end;
    placed.push_back(section);
  }
  if (end != file.size()) throw_corrupt("the sidecar has extra bytes after its last section", uri_);
  file.read_wanted();

  end = kHeaderBytes + directory.size();
  for (const PlacedSection& section : placed) {  // also checks every byte between sections
    check_zeros(file.bytes(end, section.begin - end), end, uri_);
    end = section.end;
    const uint32_t type = section.header.type;
    if (this->section(type) != nullptr) {
      throw_corrupt(fmt::format("the sidecar has section {} twice", name_of_section(type)), uri_);
    }
    try {
      read_section(file, section);
    } catch (const CorruptError& error) {
      if (type != kHintsSection) throw;
      hints_refusal_ = HintsTable::with_remedy(error).what();
    }
  }
}

void Sidecar::read_section(const File& file, const PlacedSection& section) {
  const SidecarSection::Header& header = section.header;
  if (!section.has_blocks()) {
    sections_.emplace_back(header, file.bytes(section.begin, header.size), uri_);
    return;
  }
  check_zeros(file.bytes(section.data_end(), section.crcs_begin - section.data_end()),
              section.data_end(), uri_);
  sections_.emplace_back(header, file.source(), section.begin,
                         file.bytes(section.crcs_begin, section.end - section.crcs_begin),
                         header.type == kHintsSection ? &may_keep_hints_ : &may_keep_);
  for (const SidecarSection::Range& range : early_ranges(header)) {
    sections_.back().keep(range, file.bytes(section.begin + range.begin, range.end - range.begin));
  }
}

void Sidecar::read_meta() {
  const SidecarSection* meta = section(kMetaSection);
  if (meta == nullptr) throw_corrupt("the sidecar has no META section", uri_);
  std::array<std::byte, kMetaBytes> bytes;
  meta->read(0, bytes);
  fingerprint_ = {.records = load_le<uint64_t>(bytes.data()),
                  .bytes = load_le<uint64_t>(bytes.data() + 8),
                  .checksum = load_le<uint32_t>(bytes.data() + 16)};
}

namespace {

// Labels of sample records are given by class name too, so each name must stand for one class.
void check_classes_of(const std::string& field, const std::vector<std::string>& classes,
                      const std::string& uri) {
  try {
    check_class_names(classes);
  } catch (const InvalidArgumentError& error) {
    throw_corrupt(fmt::format("the sidecar's class names of the field '{}' are invalid: {}", field,
                              error.failure()),
                  uri, error.detail());
  }
}

}  // namespace

bool Sidecar::same_contents(const Sidecar& other) const { return header_ == other.header_; }

void Sidecar::read_labels() {
  const SidecarSection* labels = section(kLabelsSection);
  if (labels == nullptr) return;
  std::array<std::byte, kLabelsBytes> bytes;
  labels->read(0, bytes);
  const auto width = load_le<int64_t>(bytes.data());
  if (width < -1) {
    throw_corrupt("the sidecar's label width is negative", uri_,
                  {.found = fmt::format("{}", width)});
  }
  if (width > kMaxLabels) {
    throw_corrupt(
        "the sidecar's label width is too large", uri_,
        {.expected = fmt::format("at most {}", kMaxLabels), .found = fmt::format("{}", width)});
  }
  const auto flags = load_le<uint32_t>(bytes.data() + 8);
  payloads_.labels = {.width = width, .integral = (flags & kIntegralFlag) != 0};
}

void Sidecar::read_fields() {
  const SidecarSection* fields = section(kFieldsSection);
  if (fields == nullptr) return;
  if (payloads_.labels) throw_corrupt("the sidecar describes both image and sample records", uri_);
  try {
    payloads_.samples = schema_of(fields->all());
  } catch (Error& error) {
    error.add({.path = uri_, .remedy = kNewSidecar});
    throw;
  }
}

void Sidecar::read_field_classes() {
  const SidecarSection* names = section(kSchemaSection);
  if (names == nullptr) return;
  try {
    field_classes_ = parse_field_classes(as_text(names->all()));
  } catch (Error& error) {
    error.add({.path = uri_, .remedy = kNewSidecar});
    throw;
  }
  for (const auto& [field, classes] : field_classes_) check_classes_of(field, classes, uri_);
}

void Sidecar::read_classes() {
  const SidecarSection* classes = section(kClassesSection);
  if (classes == nullptr) return;
  const std::vector<std::byte> data = classes->all();
  const Bytes bytes(data);
  const auto require = [&](uint64_t wanted) {
    if (wanted > bytes.size()) throw_corrupt("the sidecar's class names are truncated", uri_);
  };
  require(4);
  const uint64_t count = load_le<uint32_t>(bytes.data());
  uint64_t at = 4 + count * 4;
  require(at);
  classes_.reserve(count);
  for (uint64_t i = 0; i < count; ++i) {
    const auto length = load_le<uint32_t>(bytes.data() + 4 + i * 4);
    require(at + length);
    classes_.emplace_back(as_text(bytes.subspan(at, length)));
    at += length;
  }
  if (at != bytes.size())
    throw_corrupt("the sidecar's class names are shorter than their section", uri_);
  if (payloads_.samples) check_classes_of("label", classes_, uri_);
}

const SidecarSection* Sidecar::entries_section(uint32_t type, uint64_t entry_bytes) const {
  const SidecarSection* entries = section(type);
  if (entries == nullptr) return nullptr;
  if (entries->size() % entry_bytes != 0 || entries->size() / entry_bytes != records()) {
    throw_corrupt(
        fmt::format("section {} of the sidecar has the wrong size", name_of_section(type)), uri_,
        {.expected = fmt::format("{} x {} bytes", records(), entry_bytes),
         .found = fmt::format("{} bytes", entries->size())});
  }
  return entries;
}

const SidecarSection* Sidecar::names_section() const {
  const SidecarSection* names = section(kNamesSection);
  if (names == nullptr || names->size() / kNameEndBytes > records()) return names;
  throw_corrupt("the sidecar's table of names is truncated", uri_,
                {.expected = fmt::format("at least {} x {} bytes", records() + 1, kNameEndBytes),
                 .found = fmt::format("{} bytes", names->size())});
}

void Sidecar::read_hints() {
  const SidecarSection* hints = section(kHintsSection);
  if (hints == nullptr) return;
  try {
    hints_.emplace(*hints, records(), uri_);
  } catch (const CorruptError& error) {
    hints_refusal_ = HintsTable::with_remedy(error).what();
  }
}

const SidecarSection* Sidecar::section(uint32_t type) const {
  const auto found = std::find_if(sections_.begin(), sections_.end(),
                                  [type](const SidecarSection& s) { return s.type() == type; });
  return found == sections_.end() ? nullptr : &*found;
}

RecordEntry Sidecar::record(uint64_t i) const {
  RecordEntry entry;
  read_records(i, {&entry, 1});
  return entry;
}

void Sidecar::read_records(uint64_t begin, std::span<RecordEntry> into) const {
  std::array<std::byte, kMostAtOnce * kTableEntryBytes> memory;
  const MutableBytes bytes = MutableBytes(memory).first(into.size() * kTableEntryBytes);
  table_->read(begin * kTableEntryBytes, bytes);
  for (size_t k = 0; k < into.size(); ++k) {
    const std::byte* const at = bytes.data() + k * kTableEntryBytes;
    const RecordEntry& entry =
        into[k] = {.offset = load_le<uint64_t>(at), .length = load_le<uint64_t>(at + 8)};
    if (entry.offset <= identity_.size_bytes &&
        entry.length <= identity_.size_bytes - entry.offset) {
      continue;
    }
    throw_corrupt(
        "the sidecar's record table has a record outside the file", uri_,
        {.record = begin + k,
         .expected = fmt::format("a record inside the file's {} bytes", identity_.size_bytes),
         .found = fmt::format("{} bytes at offset {}", entry.length, entry.offset)});
  }
}

uint32_t Sidecar::payload_crc(uint64_t i) const {
  std::array<std::byte, kChecksumBytes> bytes;
  checksums_->read(i * kChecksumBytes, bytes);
  return load_le<uint32_t>(bytes.data());
}

uint64_t Sidecar::key(uint64_t i) const {
  std::array<std::byte, kKeyBytes> bytes;
  keys_->read(i * kKeyBytes, bytes);
  return load_le<uint64_t>(bytes.data());
}

void Sidecar::append_name(uint64_t i, std::vector<std::byte>& out) const {
  std::array<std::byte, 2 * kNameEndBytes> ends;
  names_->read(i * kNameEndBytes, ends);
  const auto begin = load_le<uint64_t>(ends.data());
  const auto end = load_le<uint64_t>(ends.data() + kNameEndBytes);
  const uint64_t table_bytes = (records() + 1) * kNameEndBytes;
  const uint64_t room = names_->size() - table_bytes;
  if (begin > end || end > room) {
    throw_corrupt("the sidecar's table of names has an invalid entry", uri_,
                  {.record = i,
                   .expected = fmt::format("a name inside the names' {} bytes", room),
                   .found = fmt::format("bytes {} to {}", begin, end)});
  }
  const size_t at = out.size();
  out.resize(at + (end - begin));
  names_->read(table_bytes + begin, MutableBytes(out).subspan(at));
}

std::string Sidecar::name(uint64_t i) const {
  std::vector<std::byte> name;
  append_name(i, name);
  return std::string(as_text(name));
}

void Sidecar::verify() const {
  if (!hints_refusal_.empty()) throw CorruptError(hints_refusal_);
  for (const SidecarSection& section : sections_) {
    try {
      section.verify();
    } catch (const CorruptError& error) {
      if (section.type() != kHintsSection) throw;
      throw HintsTable::with_remedy(error);
    }
  }
  if (table_ == nullptr) return;
  FingerprintBuilder builder;
  for (uint64_t i = 0; i < records(); ++i) builder.add(record(i).length);
  const Fingerprint& found = builder.result();
  if (found == fingerprint_) return;
  throw_corrupt("the sidecar's fingerprint does not match its record table", uri_,
                {.expected = to_string(fingerprint_), .found = to_string(found)});
}

}  // namespace fuelrail
