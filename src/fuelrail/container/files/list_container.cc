#include "fuelrail/container/files/list_container.h"

#include <span>
#include <utility>
#include <vector>

#include "fuelrail/base/error.h"
#include "fuelrail/container/files/file_records.h"
#include "fuelrail/container/files/image_list.h"
#include "fuelrail/container/image_record.h"
#include "fuelrail/storage/file_system.h"

namespace fuelrail::files {
namespace {

class ListContainer final : public FileRecords {
 public:
  ListContainer(const std::string& uri, std::string root, std::string absolute_root,
                ImageList listing, const LabelSummary& labels)
      : FileRecords(uri, listing.size()),
        root_(std::move(root)),
        absolute_root_(std::move(absolute_root)),
        listing_(std::move(listing)),
        schema_(image_schema(labels)) {}

  const Schema& schema() const override { return schema_; }
  const std::vector<std::string>& classes() const override { return classes_; }
  const char* format() const override { return "list"; }

 private:
  FileSystem& file_system(uint64_t i) const override { return file_system_for(opened_uri(i)); }
  std::string shown_uri(uint64_t i) const override { return listed_uri(listing_.path(i), root_); }
  std::string opened_uri(uint64_t i) const override {
    return listed_uri(listing_.path(i), absolute_root_);
  }
  void fill(uint64_t i, Bytes encoded, Sample& out) const override {
    fill_image_sample(schema_, listing_.id(i), encoded, std::as_bytes(listing_.labels(i)), out);
  }

  std::string root_;           // as it was given: for people
  std::string absolute_root_;  // for opening files
  ImageList listing_;
  Schema schema_;
  std::vector<std::string> classes_;
};

}  // namespace

std::shared_ptr<const Container> open_list(const std::string& uri, const OpenOptions& options) {
  constexpr uint64_t kAskEveryLines = 1024;
  const std::string text = read_list_text(uri);
  ImageListReader reader(text, uri);
  ImageList listing;
  listing.reserve(text);
  LabelTally tally;
  for (ListedLine line; reader.next(line); listing.add(line)) {
    if (listing.size() % kAskEveryLines == 0 && options.keep_going && !options.keep_going()) {
      throw StateError("interrupted", {.path = uri});
    }
    file_system_for(std::string(line.path));  // a file system that there is
    tally.add(std::as_bytes(std::span(line.labels)));
  }
  if (listing.size() == 0) {
    throw CorruptError("the list names no image",
                       {.path = uri, .expected = "id TAB label [TAB label ...] TAB path"});
  }
  std::string root = root_of_list(uri, options.root);
  std::string absolute = file_system_for(root).absolute(root);
  return std::make_shared<ListContainer>(uri, std::move(root), std::move(absolute),
                                         std::move(listing), tally.summary());
}

}  // namespace fuelrail::files
