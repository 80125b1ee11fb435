#include "fuelrail/pack/source/pack_source.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "fuelrail/base/error.h"
#include "fuelrail/container/formats.h"
#include "fuelrail/container/image_record.h"
#include "fuelrail/pack/source/container_source.h"
#include "fuelrail/pack/source/open_source.h"
#include "fuelrail/storage/file_system.h"

namespace fuelrail::pack {
namespace {

std::string what_can_be_packed(const ListRules& rules) {
  return fmt::format(
      "a folder with one sub-folder per class, or a list of images whose name ends in {}",
      rules.of_mxnet ? ".lst" : ".lst, .csv or .tsv");
}

// The remedy for a file in which a schema may find images, and for annotations.
std::string remedy_for_schema(const std::string& uri) {
  if (uri.ends_with(".json") || uri.ends_with(".jsonl")) {
    return "If the source is a file of annotations, use 'fuelrail pack --from coco', or --from "
           "jsonl";
  }
  const FileFormat* format = find_format(uri);
  if (format == nullptr || format->schema.name.empty()) return "";
  return fmt::format("If the source is {}, convert it with --schema {} (in Python `schema=\"{}\"`)",
                     format->schema.meaning, format->schema.name, format->schema.name);
}

class ListSource final : public PackSource {
 public:
  ListSource(ImageList images, std::string root)
      : images_(std::move(images)), root_(std::move(root)) {}

  uint64_t size() const override { return images_.size(); }
  const std::vector<std::string>& classes() const override { return images_.classes(); }
  uint64_t id(uint64_t i) const override { return images_.id(i); }
  std::string path(uint64_t i) const override { return listed_uri(images_.path(i), root_); }
  std::string description(uint64_t i) const override {
    return fmt::format("{} {} {}", images_.id(i), fmt::join(images_.labels(i), " "), path(i));
  }

  uint64_t with_several_labels() const override {
    uint64_t images = 0;
    for (uint64_t i = 0; i < size(); ++i) images += images_.labels(i).size() > 1 ? 1 : 0;
    return images;
  }

  void read(uint64_t i, SourceImage& out) const override {
    const std::shared_ptr<const Source> source = open_listed(i);
    check_record_length(source->size_bytes());
    out.storage.resize(source->size_bytes());
    source->read(0, out.storage);
    out.id = images_.id(i);
    out.name = base_name(path(i));
    out.encoded = out.storage;
    const std::span<const float> labels = images_.labels(i);
    out.labels.assign(labels.begin(), labels.end());
  }

 private:
  std::shared_ptr<const Source> open_listed(uint64_t i) const {
    const std::string from = path(i);
    try {
      return file_system_for(from).open(from);
    } catch (NotFoundError& error) {
      if (from != images_.path(i)) {
        error.add({.remedy = fmt::format("If the list's paths are not relative to {}, give the "
                                         "folder that they are relative to (root, --root)",
                                         root_.empty() ? "the current folder" : root_)});
      }
      throw;
    }
  }

  ImageList images_;
  std::string root_;
};

std::unique_ptr<PackSource> open_any(const std::string& uri, const std::string& root,
                                     const OpenOptions& options, const ListRules& rules) {
  const std::optional<FileInfo> info = file_system_for(uri).stat(uri);
  if (!info) {
    throw NotFoundError(
        "the source does not exist",
        {.path = uri, .expected = what_can_be_packed(rules), .remedy = "Check the path"});
  }
  if (info->is_directory) {
    if (!root.empty()) {
      throw InvalidArgumentError("`root` can be given only for a list of images",
                                 {.path = uri, .found = "a folder", .remedy = "Omit `root`"});
    }
    std::shared_ptr<const Container> folder = open_input(uri, options);
    if (std::string_view(folder->format()) != "folder") {
      throw InvalidArgumentError(
          "the source is already packed",
          {.path = uri,
           .expected = "a folder with one sub-folder per class, or a list of images",
           .found = fmt::format("a folder of {} files", folder->format()),
           .remedy = "Convert the folder's files one by one with 'fuelrail convert'"});
    }
    return source_of_images(std::move(folder));
  }
  if (rules.of_mxnet ? !uri.ends_with(".lst") : !is_list_name(uri)) {
    throw InvalidArgumentError(
        "the source cannot be packed",
        {.path = uri, .expected = what_can_be_packed(rules), .remedy = remedy_for_schema(uri)});
  }
  ImageList images = read_image_list(uri, rules);
  if (const std::string found = repeated_ids(images); !found.empty() && options.warn) {
    options.warn(uri + ": " + found);
  }
  return std::make_unique<ListSource>(std::move(images), root_of_list(uri, root));
}

}  // namespace

void check_record_length(uint64_t bytes, const char* thing) {
  if (bytes <= kMaxImageRecordBytes) return;
  throw UnsupportedError(fmt::format("the {} is too long for a record", thing),
                         {.expected = fmt::format("at most {} bytes", kMaxImageRecordBytes),
                          .found = fmt::to_string(bytes)});
}

std::unique_ptr<PackSource> open_pack_source(const std::string& uri, const std::string& root,
                                             const OpenOptions& options, const ListRules& rules) {
  std::unique_ptr<PackSource> source = open_any(uri, root, options, rules);
  if (source->size() == 0) throw CorruptError("the source has no images", {.path = uri});
  return source;
}

}  // namespace fuelrail::pack
