#include "fuelrail/pack/annotations/coco_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "fuelrail/base/error.h"
#include "fuelrail/container/class_names.h"
#include "fuelrail/container/files/image_list.h"
#include "fuelrail/pack/annotations/coco_file.h"
#include "fuelrail/pack/annotations/instance_mask.h"
#include "fuelrail/pack/annotations/polygon.h"
#include "fuelrail/pack/source/source_values.h"

namespace fuelrail::pack {
namespace {

constexpr uint16_t kImageField = 0;
constexpr uint16_t kBoxesField = 3;

FieldSpec tensor_field(std::string name, DType dtype, std::vector<int64_t> shape,
                       Role role = Role::kNone) {
  return {.name = std::move(name),
          .kind = FieldKind::kTensor,
          .dtype = dtype,
          .shape = std::move(shape),
          .role = role};
}

// A field with one row for each object.
FieldSpec rows_field(std::string name, DType dtype, std::vector<int64_t> extents = {},
                     Role role = Role::kNone) {
  extents.insert(extents.begin(), -1);
  FieldSpec field = tensor_field(std::move(name), dtype, std::move(extents), role);
  field.rows = kBoxesField;
  return field;
}

Schema coco_schema(const CocoFile& file) {
  Schema schema;
  schema.fields = {image_field("image"), file_name_field(),
                   tensor_field("image_id", DType::kInt64, {})};
  const auto add = [&](FieldSpec field, bool of_image = false) {
    if (of_image) field.of = kImageField;
    schema.fields.push_back(std::move(field));
  };
  if (file.has_objects()) {
    add(rows_field("boxes", DType::kFloat32, {4}, Role::kBoxes), true);
    add(rows_field("labels", DType::kInt64, {}, Role::kLabel));
    add(rows_field("category_ids", DType::kInt64));
    add(rows_field("iscrowd", DType::kBool));
    add(rows_field("area", DType::kFloat32));
  }
  if (file.key_points() > 0) {
    const auto points = static_cast<int64_t>(file.key_points());
    FieldSpec field = rows_field("keypoints", DType::kFloat32, {points, 3}, Role::kPoints);
    field.flags = kPixelCenters;
    add(std::move(field), true);
  }
  if (file.has_masks()) {
    add({.name = "mask", .kind = FieldKind::kImage, .role = Role::kMask}, true);
    add(rows_field("numbers", DType::kInt64));
  }
  if (file.has_captions()) {
    add({.name = "captions", .kind = FieldKind::kText, .flags = kListField});
  }
  return schema;
}

constexpr int64_t kNoClass = -1;

constexpr const char* kOwnNames = "Give each category a name of its own";

// The names of the categories as class names. Errors: CorruptError for an empty or a repeated name.
std::vector<std::string> names_of(const CocoFile& file) {
  std::vector<std::string> names;
  std::unordered_map<std::string_view, int64_t> ids;
  for (const auto& [id, name] : file.categories()) {
    if (name.empty()) {
      throw CorruptError(
          "a category has an empty name",
          {.path = file.uri(), .found = fmt::format("id {}", id), .remedy = kOwnNames});
    }
    if (const auto [first, is_new] = ids.emplace(name, id); !is_new) {
      throw CorruptError(
          fmt::format("two categories have the name '{}'", name),
          {.path = file.uri(),
           .found = fmt::format("the ids {} and {}", first->second, id),
           .remedy = fmt::format("{}, or pass --classes: categories of one name are then "
                                 "one class",
                                 kOwnNames)});
    }
    names.push_back(name);
  }
  return names;
}

// The run lengths of each part of an object. Errors: those of rle.h.
std::vector<RunLengths> runs_of(const CocoObject& object, Size image) {
  std::vector<RunLengths> all;
  if (const auto* polygons = std::get_if<Polygons>(&object.segmentation)) {
    for (const std::vector<double>& polygon : *polygons) all.push_back(rasterise(polygon, image));
  } else if (const auto* runs = std::get_if<EncodedRuns>(&object.segmentation)) {
    if (runs->image != image) {
      throw CorruptError("the size of the run lengths is not the image's",
                         {.expected = fmt::format("[{}, {}]", image.height, image.width),
                          .found = fmt::format("[{}, {}]", runs->image.height, runs->image.width)});
    }
    const auto* text = std::get_if<std::string>(&runs->lengths);
    all.push_back(text != nullptr ? parse_run_lengths(*text) : std::get<RunLengths>(runs->lengths));
    check_run_lengths(all.back(), image);
  }
  return all;
}

class CocoSource final : public SampleSource {
 public:
  CocoSource(const std::string& annotations, std::string images, const CocoOptions& options)
      : file_(annotations, options.warn, options.keep_going),
        images_(std::move(images)),
        schema_(coco_schema(file_)) {
    if (file_.has_objects()) {
      number_classes(options.classes);
    } else if (!options.classes.empty()) {
      throw InvalidArgumentError("the file has no categories, so it has no classes",
                                 {.path = annotations, .remedy = "Omit the classes"});
    }
  }

  const Schema& schema() const override { return schema_; }
  const ClassNames& classes() const override { return classes_; }
  uint64_t size() const override { return file_.size(); }
  uint64_t id(uint64_t i) const override { return static_cast<uint64_t>(file_.id(i)); }
  std::string path(uint64_t i) const override { return listed_uri(file_.file_name(i), images_); }
  std::string description(uint64_t i) const override {
    return fmt::format("{} {}", id(i), path(i));
  }

  std::string contents() const override {
    return fmt::format("annotations: {:08x}\n", file_.checksum());
  }

  void read(uint64_t i, SourceSample& out) const override {
    out.id = id(i);
    out.fields.resize(schema_.fields.size());
    auto value = out.fields.begin();
    read_image(i, *value++);
    set_text(file_.file_name(i), *value++);
    set_scalar(file_.id(i), *value++);
    const std::vector<CocoAnnotation> annotations = file_.annotations(i);
    std::vector<const CocoAnnotation*> objects;
    std::vector<std::string> captions;
    for (const CocoAnnotation& annotation : annotations) {
      if (annotation.object) objects.push_back(&annotation);
      if (annotation.caption) captions.push_back(*annotation.caption);
    }
    if (file_.has_objects()) {
      set_objects(objects, &*value);
      value += 5;
    }
    if (file_.key_points() > 0) set_key_points(objects, *value++);
    if (file_.has_masks()) {
      set_mask_of(objects, i, *value++);
      set_counting(objects.size(), *value++);
    }
    if (file_.has_captions()) set_texts(captions, *value++);
  }

  std::vector<std::string> remarks() const override {
    std::vector<std::string> remarks;
    if (const uint64_t pixels = overlapped_; pixels > 0) {
      remarks.push_back(fmt::format(
          "{}: objects overlap in {} pixel{} of {} image{}: the mask has the later object",
          file_.uri(), pixels, pixels == 1 ? "" : "s", images_with_overlap_.load(),
          images_with_overlap_ == 1 ? "" : "s"));
    }
    return remarks;
  }

 private:
  using Objects = std::vector<const CocoAnnotation*>;

  void number_classes(std::vector<std::string> classes) {
    const bool are_own = classes.empty();
    if (are_own) classes = names_of(file_);
    const ClassLabels table(classes);
    for (const CocoCategory& category : file_.categories()) {
      const std::optional<size_t> label = are_own ? labels_.size() : table.find(category.name);
      if (!label && file_.has_objects_of(category.id)) {
        throw CorruptError("the category of an object is not one of the classes",
                           {.path = file_.uri(),
                            .found = fmt::format("'{}'", category.name),
                            .remedy = table.remedy_for(category.name)});
      }
      labels_.push_back(label ? static_cast<int64_t>(*label) : kNoClass);
    }
    classes_ = {{"labels", std::move(classes)}};
  }

  void read_image(uint64_t i, SourceValue& value) const {
    const std::string file = path(i);
    check_annotated_size(set_image(file, value), file_.image_size(i), file, file_.uri());
  }

  // Sets the five values from `boxes` on.
  void set_objects(const Objects& objects, SourceValue* values) const {
    std::vector<float> boxes, areas;
    std::vector<int64_t> labels, ids;
    std::vector<uint8_t> crowds;
    for (const CocoAnnotation* annotation : objects) {
      const CocoObject& object = *annotation->object;
      boxes.insert(boxes.end(), object.box.begin(), object.box.end());
      labels.push_back(labels_[file_.position_of(object.category_id)]);
      ids.push_back(object.category_id);
      crowds.push_back(object.is_crowd);
      areas.push_back(object.area);
    }
    const auto count = static_cast<int64_t>(objects.size());
    set_tensor<float>({count, 4}, boxes, values[0]);
    set_tensor<int64_t>({count}, labels, values[1]);
    set_tensor<int64_t>({count}, ids, values[2]);
    set_tensor<uint8_t>({count}, crowds, values[3]);
    set_tensor<float>({count}, areas, values[4]);
  }

  void set_key_points(const Objects& objects, SourceValue& value) const {
    const size_t width = 3 * file_.key_points();
    std::vector<float> points(objects.size() * width);
    for (size_t j = 0; j < objects.size(); ++j) {
      const std::vector<float>& own = objects[j]->object->key_points;
      std::ranges::copy(own, points.begin() + static_cast<std::ptrdiff_t>(j * width));
    }
    const auto count = static_cast<int64_t>(objects.size());
    set_tensor<float>({count, static_cast<int64_t>(file_.key_points()), 3}, points, value);
  }

  void set_mask_of(const Objects& objects, uint64_t i, SourceValue& value) const {
    if (objects.size() > kMostNumbers) {
      throw CorruptError("the image has too many objects for a mask",
                         {.path = path(i),
                          .expected = fmt::format("at most {}", kMostNumbers),
                          .found = fmt::to_string(objects.size())});
    }
    InstanceMask mask;
    mask.reset(file_.image_size(i));
    for (size_t j = 0; j < objects.size(); ++j) {
      try {
        for (const RunLengths& runs : runs_of(*objects[j]->object, file_.image_size(i))) {
          mask.paint(runs, static_cast<uint16_t>(j + 1));
        }
      } catch (const CorruptError& error) {
        ErrorDetail detail = error.detail();
        detail.path = file_.uri();
        throw CorruptError(fmt::format("`{}.segmentation`: {}",
                                       place_of_annotation(objects[j]->number), error.failure()),
                           std::move(detail));
      }
    }
    overlapped_ += mask.overlapped();
    images_with_overlap_ += mask.overlapped() > 0 ? 1 : 0;
    value.pixels = file_.image_size(i);
    value.pixel_bytes = objects.size() > 255 ? 2 : 1;
    mask.copy_to(value.bytes, value.pixel_bytes);
  }

  CocoFile file_;
  std::string images_;
  Schema schema_;
  ClassNames classes_;
  std::vector<int64_t> labels_;  // of each category; kNoClass: not one of the classes
  mutable std::atomic<uint64_t> overlapped_ = 0;  // pixels
  mutable std::atomic<uint64_t> images_with_overlap_ = 0;
};

}  // namespace

std::unique_ptr<SampleSource> open_coco(const std::string& annotations, const std::string& images,
                                        const CocoOptions& options) {
  return std::make_unique<CocoSource>(annotations, images, options);
}

}  // namespace fuelrail::pack
