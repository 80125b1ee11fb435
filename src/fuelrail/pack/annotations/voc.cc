#include "fuelrail/pack/annotations/voc.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <span>
#include <sstream>
#include <utility>
#include <vector>

#include "fuelrail/base/crc32.h"
#include "fuelrail/base/error.h"
#include "fuelrail/container/class_names.h"
#include "fuelrail/container/files/image_list.h"
#include "fuelrail/pack/annotations/file_tree.h"
#include "fuelrail/pack/annotations/voc_file.h"
#include "fuelrail/pack/image/image_reader.h"
#include "fuelrail/pack/source/source_values.h"
#include "fuelrail/storage/file_system.h"

namespace fuelrail::pack {
namespace {

using Stems = std::map<std::string, std::string>;  // the files of a folder by name
constexpr uint16_t kUncounted = 255;
constexpr const char* kWithoutClass = "-1";  // in the list of a class

struct VocRow {  // an object
  std::array<float, 4> box{};
  uint32_t label = 0;
  bool is_difficult = false;
  bool is_truncated = false;
};

struct VocImage {
  std::string name;  // without extension
  std::string file;  // in JPEGImages
  std::optional<Size> size;
  uint32_t annotation_crc = 0;
  uint64_t rows_end = 0;
};

bool is_folder(const std::string& uri) {
  const std::optional<FileInfo> info = file_system_for(uri).stat(uri);
  return info && info->is_directory;
}

Stems images_in(const std::string& folder, const VocOptions& options) {
  if (!is_folder(folder)) return {};
  return images_by_stem(folder, options.warn, options.keep_going);
}

std::vector<std::string> names_in_set(const std::string& root, const std::string& set) {
  const std::string path = set.find('/') == set.npos ? "Main/" + set : set;
  const std::string uri = join_uri(join_uri(root, "ImageSets"), path + ".txt");
  const std::string text = read_list_text(uri);
  std::vector<std::string> names;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string line = text.substr(at, end - at);
    std::istringstream words(line);
    std::string name, mark;
    words >> name >> mark;
    if (!name.empty() && mark != kWithoutClass) names.push_back(name);
    at = end + 1;
  }
  if (names.empty()) throw CorruptError("the image set is empty", {.path = uri});
  return names;
}

std::vector<std::string> names_of_annotations(const std::string& folder) {
  std::vector<std::string> names;
  for (const DirectoryEntry& entry : file_system_for(folder).list_names(folder)) {
    if (!entry.name.starts_with('.') && entry.name.ends_with(".xml")) {
      names.push_back(stem_of(entry.name));
    }
  }
  return names;
}

FieldSpec row_field(std::string name, DType dtype) {
  FieldSpec field{
      .name = std::move(name), .kind = FieldKind::kTensor, .dtype = dtype, .shape = {-1}};
  field.rows = 2;  // boxes
  return field;
}

FieldSpec mask_field(std::string name) {
  FieldSpec field{.name = std::move(name), .kind = FieldKind::kImage, .role = Role::kMask};
  field.of = 0;
  field.detail = kUncounted;
  return field;
}

class VocSource final : public SampleSource {
 public:
  VocSource(const std::string& root, const VocOptions& options) : root_(root) {
    find_images(options);
    number_classes_of(options);
    masks_ = masks_in("SegmentationClass", options);
    instances_ = masks_in("SegmentationObject", options);
    make_schema();
  }

  const Schema& schema() const override { return schema_; }
  const ClassNames& classes() const override { return classes_; }
  uint64_t size() const override { return images_.size(); }
  std::string path(uint64_t i) const override {
    return join_uri(join_uri(root_, "JPEGImages"), images_[i].file);
  }
  std::string description(uint64_t i) const override {
    return fmt::format("{} {:08x}", path(i), images_[i].annotation_crc);
  }
  const std::vector<PackFailure>& unread() const override { return unread_; }

  void read(uint64_t i, SourceSample& out) const override {
    out.id = i;
    out.fields.resize(schema_.fields.size());
    auto value = out.fields.begin();
    check_size(i, set_image(path(i), *value++));
    set_text(images_[i].file, *value++);
    const uint64_t begin = i == 0 ? 0 : images_[i - 1].rows_end;
    set_rows(std::span(rows_).subspan(begin, images_[i].rows_end - begin), &*value);
    value += 4;
    if (!masks_.empty()) set_mask(masks_.at(images_[i].name), *value++);
    if (instances_.empty()) return;
    set_mask(instances_.at(images_[i].name), *value++);
    set_counting(images_[i].rows_end - begin, *value);
  }

 private:
  void find_images(const VocOptions& options) {
    const std::string folder = join_uri(root_, "Annotations");
    if (!is_folder(folder)) {
      throw NotFoundError("the folder has no annotations",
                          {.path = root_, .expected = "the folders Annotations and JPEGImages"});
    }
    const Stems files = images_in(join_uri(root_, "JPEGImages"), options);
    const std::vector<std::string> names =
        options.set.empty() ? names_of_annotations(folder) : names_in_set(root_, options.set);
    for (const std::string& name : names) {
      check_keep_going(options.keep_going, root_);
      const std::string uri = join_uri(folder, name + ".xml");
      const auto file = files.find(name);
      if (file == files.end()) {
        unread_.push_back({uri, "the annotation has no image in JPEGImages"});
      } else if (!is_file(uri)) {
        unread_.push_back({uri, "the image has no annotation"});
      } else {
        try {
          add_image(name, file->second, uri);
        } catch (const CorruptError& error) {
          unread_.push_back({uri, reason_of(error)});
        }
      }
    }
    if (images_.empty()) {
      throw CorruptError("no annotation has an image",
                         {.path = root_, .found = unread_.empty() ? "" : unread_.front().path});
    }
    if (from_zero_ > 0 && options.warn) {
      options.warn(fmt::format(
          "{}: {} box{} at 0, but the format counts pixels from 1: first in {}.xml", folder,
          from_zero_, from_zero_ == 1 ? " begins" : "es begin", first_from_zero_));
    }
  }

  void add_image(const std::string& name, const std::string& file, const std::string& uri) {
    const std::vector<std::byte> text = read_whole(*file_system_for(uri).open(uri));
    const VocAnnotation annotation = parse_voc(text, uri);
    for (const VocObject& object : annotation.objects) {
      const auto number = static_cast<uint32_t>(names_.size());
      const auto entry = names_.emplace(object.name, Name{number, uri}).first;
      rows_.push_back({object.box, entry->second.number, object.is_difficult, object.is_truncated});
      if (object.box[0] >= 0 && object.box[1] >= 0) continue;
      if (from_zero_++ == 0) first_from_zero_ = name;
    }
    images_.push_back({name, file, annotation.size, crc32(text), rows_.size()});
  }

  // Replaces the numbers in order of first use.
  void number_classes_of(const VocOptions& options) {
    std::vector<std::string> classes = options.classes;
    if (classes.empty()) {
      for (const auto& [name, first] : names_) classes.push_back(name);
    }
    const ClassLabels table(classes);
    std::vector<uint32_t> labels(names_.size());
    for (const auto& [name, first] : names_) {
      const std::optional<size_t> label = table.find(name);
      if (!label) {
        throw CorruptError("the class of an object is not one of the classes",
                           {.path = first.uri,
                            .found = fmt::format("'{}'", name),
                            .remedy = table.remedy_for(name)});
      }
      labels[first.number] = static_cast<uint32_t>(*label);
    }
    for (VocRow& row : rows_) row.label = labels[row.label];
    names_.clear();
    classes_ = {{"labels", std::move(classes)}};
  }

  // The masks of all images by name; none if an image has none.
  std::map<std::string, std::string> masks_in(const char* name, const VocOptions& options) const {
    const std::string folder = join_uri(root_, name);
    Stems files = images_in(folder, options);
    std::map<std::string, std::string> masks;
    size_t with_mask = 0;  // a set may name an image twice
    for (const VocImage& image : images_) {
      const auto found = files.find(image.name);
      if (found == files.end()) continue;
      masks.emplace(image.name, join_uri(folder, found->second));
      ++with_mask;
    }
    if (with_mask == images_.size()) return masks;
    if (!masks.empty() && options.warn) {
      options.warn(
          fmt::format("{}: only {} of {} images have a mask here, so no mask is packed; "
                      "choose a set of which all have one, such as Segmentation/train",
                      folder, with_mask, images_.size()));
    }
    return {};
  }

  void make_schema() {
    FieldSpec boxes = row_field("boxes", DType::kFloat32);
    boxes.shape = {-1, 4};
    boxes.role = Role::kBoxes;
    boxes.of = 0;
    FieldSpec labels = row_field("labels", DType::kInt64);
    labels.role = Role::kLabel;
    schema_.fields = {image_field("image"),
                      file_name_field(),
                      std::move(boxes),
                      std::move(labels),
                      row_field("difficult", DType::kBool),
                      row_field("truncated", DType::kBool)};
    if (!masks_.empty()) schema_.fields.push_back(mask_field("mask"));
    if (instances_.empty()) return;
    schema_.fields.push_back(mask_field("instances"));
    schema_.fields.push_back(row_field("numbers", DType::kInt64));
  }

  void check_size(uint64_t i, const ImageInfo& image) const {
    const std::optional<Size>& expected = images_[i].size;
    if (expected) check_annotated_size(image, *expected, path(i), "its annotation");
  }

  // Sets the four values from `boxes` on.
  static void set_rows(std::span<const VocRow> rows, SourceValue* values) {
    std::vector<float> boxes;
    std::vector<int64_t> labels;
    std::vector<uint8_t> difficult, truncated;
    for (const VocRow& row : rows) {
      boxes.insert(boxes.end(), row.box.begin(), row.box.end());
      labels.push_back(row.label);
      difficult.push_back(row.is_difficult);
      truncated.push_back(row.is_truncated);
    }
    const auto count = static_cast<int64_t>(rows.size());
    set_tensor<float>({count, 4}, boxes, values[0]);
    set_tensor<int64_t>({count}, labels, values[1]);
    set_tensor<uint8_t>({count}, difficult, values[2]);
    set_tensor<uint8_t>({count}, truncated, values[3]);
  }

  struct Name {
    uint32_t number;  // in order of first use
    std::string uri;  // of the first annotation with it
  };

  std::string root_;
  std::vector<VocImage> images_;
  std::vector<VocRow> rows_;
  std::map<std::string, Name> names_;
  std::map<std::string, std::string> masks_;      // by the image's name; empty: not packed
  std::map<std::string, std::string> instances_;  // likewise
  uint64_t from_zero_ = 0;
  std::string first_from_zero_;
  Schema schema_;
  ClassNames classes_;
  std::vector<PackFailure> unread_;
};

}  // namespace

std::unique_ptr<SampleSource> open_voc(const std::string& root, const VocOptions& options) {
  return std::make_unique<VocSource>(root, options);
}

}  // namespace fuelrail::pack
