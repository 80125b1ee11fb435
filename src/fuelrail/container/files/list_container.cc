#include "fuelrail/container/files/list_container.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "fuelrail/base/error.h"
#include "fuelrail/container/files/file_records.h"
#include "fuelrail/container/files/folder_scan.h"
#include "fuelrail/container/files/image_list.h"
#include "fuelrail/container/image_record.h"
#include "fuelrail/storage/file_system.h"

namespace fuelrail::files {
namespace {

struct Listing {
  std::vector<uint64_t> ids;
  Names paths;                // as they are written
  std::vector<float> labels;  // of all lines, one after the other
  std::vector<uint64_t> label_ends;
  LabelTally tally;

  void add(const ListedLine& line) {
    ids.push_back(line.id);
    paths.add(line.path);
    labels.insert(labels.end(), line.labels.begin(), line.labels.end());
    label_ends.push_back(labels.size());
    tally.add(std::as_bytes(std::span(line.labels)));
  }
  Bytes labels_of(uint64_t i) const {
    const uint64_t begin = i == 0 ? 0 : label_ends[i - 1];
    return std::as_bytes(std::span(labels).subspan(begin, label_ends[i] - begin));
  }
};

class ListContainer final : public FileRecords {
 public:
  ListContainer(const std::string& uri, std::string root, std::string absolute_root,
                Listing listing)
      : FileRecords(uri, listing.ids.size()),
        root_(std::move(root)),
        absolute_root_(std::move(absolute_root)),
        listing_(std::move(listing)),
        schema_(image_schema(listing_.tally.summary())) {}

  const Schema& schema() const override { return schema_; }
  const std::vector<std::string>& classes() const override { return classes_; }
  const char* format() const override { return "list"; }

 private:
  FileSystem& file_system(uint64_t i) const override { return file_system_for(opened_uri(i)); }
  std::string shown_uri(uint64_t i) const override { return listed_uri(listing_.paths[i], root_); }
  std::string opened_uri(uint64_t i) const override {
    return listed_uri(listing_.paths[i], absolute_root_);
  }
  void fill(uint64_t i, Bytes encoded, Sample& out) const override {
    fill_image_sample(schema_, listing_.ids[i], encoded, listing_.labels_of(i), out);
  }

  std::string root_;           // as it was given: for people
  std::string absolute_root_;  // for opening files
  Listing listing_;
  Schema schema_;
  std::vector<std::string> classes_;
};

}  // namespace

std::shared_ptr<const Container> open_list(const std::string& uri, const OpenOptions& options) {
  constexpr uint64_t kAskEveryLines = 1024;
  const std::string text = read_list_text(uri);
  ImageListReader reader(text, uri);
  Listing listing;
  for (ListedLine line; reader.next(line); listing.add(line)) {
    if (listing.ids.size() % kAskEveryLines == 0 && options.keep_going && !options.keep_going()) {
      throw StateError("interrupted", {.path = uri});
    }
    file_system_for(std::string(line.path));  // a file system that there is
  }
  if (listing.ids.empty()) {
    throw CorruptError("the list names no image",
                       {.path = uri, .expected = "id TAB label [TAB label ...] TAB path"});
  }
  listing.paths.shrink_to_fit();
  std::string root = root_of_list(uri, options.root);
  std::string absolute = file_system_for(root).absolute(root);
  return std::make_shared<ListContainer>(uri, std::move(root), std::move(absolute),
                                         std::move(listing));
}

}  // namespace fuelrail::files
