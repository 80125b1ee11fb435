#include "fuelrail/pack/source/container_source.h"

#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "fuelrail/base/endian.h"
#include "fuelrail/base/error.h"
#include "fuelrail/container/record_file.h"
#include "fuelrail/container/sidecar/sidecar_writer.h"
#include "fuelrail/container/whole_records.h"
#include "fuelrail/storage/file_system.h"

namespace fuelrail::pack {
namespace {

float as_float(int64_t label) {
  const auto value = static_cast<float>(label);
  if (is_integral_label(value) && static_cast<int64_t>(value) == label) return value;
  throw UnsupportedError("the label cannot be stored in an image record, whose labels are float32",
                         {.expected = "a number that float32 has", .found = fmt::to_string(label)});
}

class ContainerSource final : public PackSource {
 public:
  explicit ContainerSource(std::shared_ptr<const Container> images)
      : images_(whole_records(images)),
        file_(std::dynamic_pointer_cast<const RecordFile>(images)),
        image_(schema().index_of("image")) {
    check_image_fields();
    if (schema().has("label")) label_ = schema().index_of("label");
    if (schema().has("name")) name_ = schema().index_of("name");
  }

  uint64_t size() const override { return images_->size(); }
  const std::vector<std::string>& classes() const override { return images_->classes(); }
  const Sidecar* sidecar() const override { return file_ == nullptr ? nullptr : &file_->sidecar(); }
  std::string path(uint64_t i) const override {
    return file_ == nullptr ? images_->place(i).path
                            : fmt::format("{}: record {}", file_->uri(), i);
  }

  uint64_t id(uint64_t i) const override {
    if (file_ == nullptr) return i;
    SourceImage image;
    read(i, image);
    return image.id;
  }

  void read(uint64_t i, SourceImage& out) const override {
    check_record_length(images_->extent(i).length);
    read_sample(*images_, i, out.storage, out.sample);
    out.id = out.sample.id;
    if (file_ != nullptr && file_->sidecar().has_keys() &&
        file_->sidecar().payloads() == PayloadKind{}) {
      out.id = file_->sidecar().key(i);
    }
    out.name = name_of(i, out.sample);
    const EncodedImage& image = out.sample.fields[image_];
    const bool is_file = announced_format(out.storage) != nullptr;
    out.encoded = !image.stands_alone() && is_file ? EncodedImage(out.storage) : image;
    read_labels(out.sample, out.labels);
  }

 private:
  const Schema& schema() const { return images_->schema(); }

  // Whether the output's records can hold a field: an image, a label and a name.
  static bool can_hold(const FieldSpec& field) {
    if (field.has(kListField)) return false;
    const bool one_label = field.dtype == DType::kInt64 && field.shape.empty();
    if (field.name == "image") return field.kind == FieldKind::kImage;
    if (field.name == "name") return field.kind != FieldKind::kTensor;
    return field.name == "label" && field.kind == FieldKind::kTensor &&
           (one_label || field.dtype == DType::kFloat32);
  }

  void check_image_fields() const {
    for (const FieldSpec& field : schema().fields) {
      if (can_hold(field)) continue;
      throw UnsupportedError(
          "the samples have a field that would be lost",
          {.path = images_->size() == 0 ? "" : images_->place(0).path,
           .expected = "only an image, a label and a name",
           .found = fmt::format("{}: {}", field.name, describe(field)),
           .remedy = "Copy the file with 'fuelrail merge' or 'fuelrail convert' to another record "
                     "format"});
    }
  }

  std::string name_of(uint64_t i, const Sample& sample) const {
    if (file_ == nullptr) {
      const bool has_files = std::string_view(images_->format()) == "folder";
      return has_files ? base_name(images_->place(i).path) : "";
    }
    if (name_) return std::string(as_text(sample.fields[*name_].bytes));
    if (!file_->sidecar().has_names()) return "";
    return file_->sidecar().name(i);
  }

  void read_labels(const Sample& sample, std::vector<float>& labels) const {
    labels.clear();
    if (!label_) return;
    const Bytes bytes = sample.fields[*label_].bytes;
    if (schema().fields[*label_].dtype == DType::kInt64) {
      labels.push_back(as_float(load_le<int64_t>(bytes.data())));
      return;
    }
    for (size_t at = 0; at + sizeof(float) <= bytes.size(); at += sizeof(float)) {
      labels.push_back(load_le<float>(bytes.data() + at));
    }
  }

  std::shared_ptr<const Container> images_;
  std::shared_ptr<const RecordFile> file_;  // null for a folder
  size_t image_;
  std::optional<size_t> label_;
  std::optional<size_t> name_;
};

}  // namespace

std::unique_ptr<PackSource> source_of_images(std::shared_ptr<const Container> images) {
  return std::make_unique<ContainerSource>(std::move(images));
}

}  // namespace fuelrail::pack
