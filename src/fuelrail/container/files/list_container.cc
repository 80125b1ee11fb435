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
  const std::vector<std::string>& classes() const override { return listing_.classes(); }
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

  std::string root_;           // as given by the user, for messages
  std::string absolute_root_;  // for opening files
  ImageList listing_;
  Schema schema_;
};

}  // namespace

std::shared_ptr<const Container> open_list(const std::string& uri, const OpenOptions& options) {
  ImageList listing = read_image_list(
      uri, {.classes = options.classes, .warn = options.warn, .keep_going = options.keep_going});
  LabelTally tally;
  for (uint64_t i = 0; i < listing.size(); ++i) {
    file_system_for(std::string(listing.path(i)));  // checks that the file system exists
    tally.add(std::as_bytes(listing.labels(i)));
  }
  if (listing.size() == 0) {
    throw CorruptError("the list has no images", {.path = uri, .expected = "one image per line"});
  }
  std::string root = root_of_list(uri, options.root);
  std::string absolute = file_system_for(root).absolute(root);
  return std::make_shared<ListContainer>(uri, std::move(root), std::move(absolute),
                                         std::move(listing), tally.summary());
}

}  // namespace fuelrail::files
