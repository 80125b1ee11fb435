#include "fuelrail/container/ffrecord/packed_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "fuelrail/base/error.h"
#include "fuelrail/container/ffrecord/ffrecord_container.h"
#include "fuelrail/container/ffrecord/folder_pickle.h"
#include "fuelrail/container/files/folder_scan.h"
#include "fuelrail/container/fingerprint.h"
#include "fuelrail/storage/file_system.h"

namespace fuelrail::ffrecord {
namespace {

// Limits the total length of all files' paths: this many bytes for each byte of the last record,
// plus a constant for small records. The record holds a folder's name once, but the path of each
// file in the folder repeats it.
constexpr uint64_t kMostPathBytes = 64;
constexpr uint64_t kFewPathBytes = uint64_t{1} << 20;

// A packed folder as a file system: paths below the root, and names in sorted order.
class PackedTree {
 public:
  // `record_bytes`: the size of the parsed record. Lifetime: `entries` outlives the tree. Errors:
  // CorruptError for paths that are too long in total.
  PackedTree(const PackedEntries& entries, std::string root, uint64_t record_bytes)
      : root_(std::move(root)),
        entries_(entries),
        paths_left_(kFewPathBytes + kMostPathBytes * record_bytes) {
    add_folder(entries_, 0);
  }

  // As FileSystem::list_names, for `root` and the folders below it.
  std::vector<DirectoryEntry> list(const std::string& uri) const {
    const std::string_view path =
        std::string_view(uri).substr(std::min(uri.size(), root_.size() + 1));
    const Entry* const at = path.empty() ? nullptr : find(path);
    std::vector<DirectoryEntry> names;
    for (const Entry* entry :
         sorted(at == nullptr ? entries_ : std::get<PackedEntries>(at->second))) {
      names.push_back({.name = std::string(entry->first),
                       .is_directory = std::holds_alternative<PackedEntries>(entry->second)});
    }
    return names;
  }

  // The record of the file at a path below the root. Requires: the file exists.
  uint64_t record(const std::string& path) const { return std::get<uint64_t>(find(path)->second); }

 private:
  using Entry = decltype(PackedEntries::entries)::value_type;
  using Entries = std::vector<const Entry*>;  // sorted by name

  // `path_bytes`: the length of the folder's path.
  void add_folder(const PackedEntries& folder, uint64_t path_bytes) {
    Entries& entries = folders_[&folder];
    entries.reserve(folder.entries.size());
    for (const Entry& entry : folder.entries) entries.push_back(&entry);
    std::sort(entries.begin(), entries.end(),
              [](const Entry* a, const Entry* b) { return a->first < b->first; });
    for (const Entry& entry : folder.entries) {
      const uint64_t bytes = path_bytes + 1 + entry.first.size();
      const auto* below = std::get_if<PackedEntries>(&entry.second);
      if (below != nullptr) {
        add_folder(*below, bytes);
      } else if (bytes > paths_left_) {
        throw CorruptError("the packed folder's paths are too long in total",
                           {.remedy = "Pack the folder again"});
      } else {
        paths_left_ -= bytes;
      }
    }
  }

  // Requires: the entry exists.
  const Entry* find(std::string_view path) const {
    const PackedEntries* folder = &entries_;
    while (true) {
      const std::string_view name = path.substr(0, path.find('/'));
      const Entries& entries = sorted(*folder);
      const Entry* const found = *std::lower_bound(
          entries.begin(), entries.end(), name,
          [](const Entry* entry, std::string_view sought) { return entry->first < sought; });
      if (name.size() == path.size()) return found;
      path.remove_prefix(name.size() + 1);
      folder = &std::get<PackedEntries>(found->second);
    }
  }

  const Entries& sorted(const PackedEntries& folder) const { return folders_.at(&folder); }

  std::string root_;
  const PackedEntries& entries_;
  uint64_t paths_left_;
  std::unordered_map<const PackedEntries*, Entries> folders_;
};

class PackedImages final : public Container {
 public:
  PackedImages(std::shared_ptr<const Source> source, RecordTable table,
               files::FolderListing listing, std::vector<uint64_t> records)
      : source_(std::move(source)),
        table_(std::move(table)),
        listing_(std::move(listing)),
        records_(std::move(records)) {}

  uint64_t size() const override { return records_.size(); }
  const Schema& schema() const override { return schema_; }

  Extent extent(uint64_t i) const override {
    files::check_image_length(place(i), table_.length(records_[i]));
    return extent_of(source_, table_, records_[i]);
  }

  void parse(uint64_t i, Bytes framed, Sample& out) const override {
    try {
      check_record(table_, records_[i], framed);
    } catch (Error& error) {
      error.add(place(i).detail());
      throw;
    }
    files::fill_sample(i, framed, listing_.class_of(i), out);
  }

  Place place(uint64_t i) const override {
    return {source_->uri(), records_[i], table_.offset(records_[i])};
  }
  const std::vector<std::string>& classes() const override { return listing_.classes; }
  const char* format() const override { return "packed folder"; }
  bool verifies_checksums() const override { return true; }

 private:
  Fingerprint make_fingerprint(const std::function<bool()>&) const override {
    FingerprintBuilder builder;
    for (const uint64_t record : records_) builder.add(table_.length(record));
    return builder.result();
  }

  std::shared_ptr<const Source> source_;
  RecordTable table_;
  files::FolderListing listing_;
  std::vector<uint64_t> records_;  // per image
  Schema schema_ = files::image_folder_schema();
};

[[noreturn]] void throw_no_packed_folder(const std::string& found) {
  throw CorruptError("the file is not a packed folder",
                     {.expected = fmt::format("a last record that begins with {:?}", kFolderMark),
                      .found = found,
                      .remedy = "To read its records, open it without a schema"});
}

void check_mark(Bytes last_record) {
  const std::string_view begin = as_text(last_record).substr(0, kFolderMark.size());
  if (begin != kFolderMark) throw_no_packed_folder(fmt::format("{:?}", begin));
}

// The first bytes of the last record, at most the mark's length. Requires: there is a record.
std::vector<std::byte> begin_of_last(const Source& source, const RecordTable& table) {
  const uint64_t last = table.size() - 1;
  std::vector<std::byte> begin(std::min<uint64_t>(table.length(last), kFolderMark.size()));
  source.read(table.offset(last), begin);
  return begin;
}

// Checks the mark before allocating memory, because the last record may have any content and
// length.
std::vector<std::byte> read_last_record(const Source& source, const RecordTable& table) {
  if (table.size() == 0) throw_no_packed_folder("no records");
  const uint64_t last = table.size() - 1;
  check_mark(begin_of_last(source, table));
  if (table.length(last) > kDefaultMaxRecordBytes) {
    throw CorruptError(
        "the packed folder's last record, which holds the file names, is too long",
        {.expected = fmt::format("at most {} bytes", kDefaultMaxRecordBytes),
         .found = fmt::format("{}", table.length(last)),
         .remedy = "Restore the file, or open it without a schema to read its records"});
  }
  std::vector<std::byte> bytes(table.length(last));
  source.read(table.offset(last), bytes);
  check_record(table, last, bytes);
  return bytes;
}

// `last_record` receives the bytes that the names are views of.
PackedStructure read_structure(const Source& source, const RecordTable& table,
                               std::vector<std::byte>& last_record) {
  try {
    last_record = read_last_record(source, table);
    return parse_packed_folder(last_record, table.size() - 1);
  } catch (Error& error) {
    error.add({.path = source.uri()});
    if (table.size() > 0) {
      error.add({.record = table.size() - 1, .offset = table.offset(table.size() - 1)});
    }
    throw;
  }
}

PackedTree tree_of(const PackedStructure& structure, const std::string& uri,
                   uint64_t record_bytes) {
  try {
    return {structure.root, uri, record_bytes};
  } catch (CorruptError& error) {
    error.add({.path = uri});
    throw;
  }
}

}  // namespace

bool is_packed_folder(const Source& source, const RecordTable& table) {
  return table.size() > 0 && as_text(begin_of_last(source, table)) == kFolderMark;
}

PackedStructure parse_packed_folder(Bytes last_record, uint64_t records) {
  check_mark(last_record);
  return parse_folder_pickle(last_record.subspan(kFolderMark.size()), records);
}

std::shared_ptr<const Container> open_packed_images(const std::string& uri,
                                                    const OpenOptions& options) {
  std::shared_ptr<const Source> source = file_system_for(uri).open(uri);
  RecordTable table = RecordTable::read(*source, true, options.warn);
  std::vector<std::byte> last_record;
  const PackedStructure structure = read_structure(*source, table, last_record);
  const PackedTree tree = tree_of(structure, uri, last_record.size());
  files::FolderListing listing = files::scan_folder(
      [&tree](const std::string& folder) { return tree.list(folder); }, uri, options);
  std::vector<uint64_t> records;
  records.reserve(listing.names.size());
  for (uint64_t i = 0; i < listing.names.size(); ++i) {
    records.push_back(
        tree.record(join_uri(listing.classes[listing.class_of(i)], std::string(listing.names[i]))));
  }
  listing.names = {};  // no longer needed: the records are known
  return std::make_shared<PackedImages>(std::move(source), std::move(table), std::move(listing),
                                        std::move(records));
}

}  // namespace fuelrail::ffrecord
