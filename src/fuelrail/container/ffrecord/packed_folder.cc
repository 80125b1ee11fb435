#include "fuelrail/container/ffrecord/packed_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "fuelrail/base/error.h"
#include "fuelrail/container/ffrecord/ffrecord_container.h"
#include "fuelrail/container/ffrecord/folder_pickle.h"
#include "fuelrail/container/ffrecord/record_table.h"
#include "fuelrail/container/files/folder_scan.h"
#include "fuelrail/container/fingerprint.h"
#include "fuelrail/storage/file_system.h"

namespace fuelrail::ffrecord {
namespace {

// A packed folder as a file system has it: paths below the root, and names in order.
class PackedTree {
 public:
  PackedTree(PackedEntries entries, std::string root)
      : root_(std::move(root)), entries_(std::move(entries)) {
    add_folder("", entries_);
  }

  // As FileSystem::list_names, of `root` and what is below it.
  std::vector<DirectoryEntry> list(const std::string& uri) const {
    std::vector<DirectoryEntry> names;
    for (const auto& [name, entry] : folder(uri.size() == root_.size() ? "" : below_root(uri))) {
      names.push_back({.name = name, .is_directory = std::holds_alternative<PackedEntries>(entry)});
    }
    return names;
  }

  // Of the file at a path below the root. Requires: there is one.
  uint64_t record(const std::string& path) const {
    const size_t slash = path.rfind('/');
    const bool at_root = slash == std::string::npos;
    const Entries& entries = folder(at_root ? "" : path.substr(0, slash));
    const std::string_view name = std::string_view(path).substr(at_root ? 0 : slash + 1);
    const auto found = std::lower_bound(
        entries.begin(), entries.end(), name,
        [](const auto& entry, std::string_view sought) { return entry.first < sought; });
    return std::get<uint64_t>(found->second);
  }

 private:
  using Entries = decltype(PackedEntries::entries);

  void add_folder(const std::string& path, PackedEntries& folder) {
    std::sort(folder.entries.begin(), folder.entries.end(),
              [](const auto& a, const auto& b) { return a.first < b.first; });
    folders_[path] = &folder.entries;
    for (auto& [name, entry] : folder.entries) {
      auto* below = std::get_if<PackedEntries>(&entry);
      if (below != nullptr) add_folder(path.empty() ? name : join_uri(path, name), *below);
    }
  }

  const Entries& folder(const std::string& path) const { return *folders_.at(path); }
  std::string below_root(const std::string& uri) const { return uri.substr(root_.size() + 1); }

  std::string root_;
  PackedEntries entries_;
  std::unordered_map<std::string, const Entries*> folders_;  // by path below the root
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
      const Place at = place(i);
      error.add({.path = at.path, .record = at.record, .offset = at.offset});
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
  std::vector<uint64_t> records_;  // of each image
  Schema schema_ = files::image_folder_schema();
};

[[noreturn]] void throw_no_packed_folder(const std::string& found) {
  throw CorruptError("the file is no packed folder",
                     {.expected = fmt::format("a last record that begins with {:?}", kFolderMark),
                      .found = found,
                      .remedy = "Open it without a schema, as records"});
}

void check_mark(Bytes last_record) {
  const std::string_view begin = as_text(last_record).substr(0, kFolderMark.size());
  if (begin != kFolderMark) throw_no_packed_folder(fmt::format("{:?}", begin));
}

// As many bytes as the mark has, or all. Requires: there is a record.
std::vector<std::byte> begin_of_last(const Source& source, const RecordTable& table) {
  const uint64_t last = table.size() - 1;
  std::vector<std::byte> begin(std::min<uint64_t>(table.length(last), kFolderMark.size()));
  source.read(table.offset(last), begin);
  return begin;
}

// The mark is looked at before anything is allocated: the last record may be anything.
std::vector<std::byte> read_last_record(const Source& source, const RecordTable& table) {
  if (table.size() == 0) throw_no_packed_folder("no record");
  const uint64_t last = table.size() - 1;
  check_mark(begin_of_last(source, table));
  std::vector<std::byte> bytes(table.length(last));
  source.read(table.offset(last), bytes);
  check_record(table, last, bytes);
  return bytes;
}

PackedEntries read_structure(const Source& source, const RecordTable& table) {
  try {
    return parse_packed_folder(read_last_record(source, table),
                               table.size() == 0 ? 0 : table.size() - 1);
  } catch (Error& error) {
    error.add({.path = source.uri()});
    if (table.size() > 0) {
      error.add({.record = table.size() - 1, .offset = table.offset(table.size() - 1)});
    }
    throw;
  }
}

}  // namespace

bool is_packed_folder(const Source& source, const RecordTable& table) {
  return table.size() > 0 && as_text(begin_of_last(source, table)) == kFolderMark;
}

PackedEntries parse_packed_folder(Bytes last_record, uint64_t records) {
  check_mark(last_record);
  return parse_folder_pickle(last_record.subspan(kFolderMark.size()), records);
}

std::shared_ptr<const Container> open_packed_images(const std::string& uri,
                                                    const OpenOptions& options) {
  std::shared_ptr<const Source> source = file_system_for(uri).open(uri);
  RecordTable table = RecordTable::read(*source, true, options.warn);
  const PackedTree tree(read_structure(*source, table), uri);
  files::FolderListing listing = files::scan_folder(
      [&tree](const std::string& folder) { return tree.list(folder); }, uri, options);
  std::vector<uint64_t> records;
  records.reserve(listing.names.size());
  for (uint64_t i = 0; i < listing.names.size(); ++i) {
    records.push_back(
        tree.record(join_uri(listing.classes[listing.class_of(i)], std::string(listing.names[i]))));
  }
  listing.names = {};  // the records say it all
  return std::make_shared<PackedImages>(std::move(source), std::move(table), std::move(listing),
                                        std::move(records));
}

}  // namespace fuelrail::ffrecord
