#include "fuelrail/pack/annotations/coco_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "fuelrail/base/crc32.h"
#include "fuelrail/base/error.h"
#include "fuelrail/decode/probe.h"
#include "fuelrail/pack/annotations/coco_annotation.h"
#include "fuelrail/pack/annotations/json_elements.h"
#include "fuelrail/pack/annotations/json_value.h"
#include "fuelrail/storage/file_system.h"

namespace fuelrail::pack {
namespace {

using nlohmann::json;

constexpr std::array<std::string_view, 3> kSections{"images", "categories", "annotations"};

// The members that are read; those of an annotation are kept, besides its image.
constexpr auto kMembers = [] {
  constexpr std::array<std::string_view, 6> kOthers{"id",   "image_id", "file_name",
                                                    "name", "height",   "width"};
  std::array<std::string_view, kOthers.size() + kAnnotationMembers.size()> all{};
  std::ranges::copy(kAnnotationMembers, std::ranges::copy(kOthers, all.begin()).out);
  return all;
}();

constexpr int64_t kNoCategory = -1;  // of an annotation without an object

// The first element that equals the one before it; null if there is none.
template <typename Range, typename Key>
auto first_repeated(const Range& sorted, Key key) {
  const auto found = std::ranges::adjacent_find(sorted, {}, key);
  return found == std::ranges::end(sorted) ? nullptr : &*found;
}

[[noreturn]] void refuse_repeated(const char* section, int64_t id) {
  throw CorruptError(
      fmt::format("`{}` has an id twice", section),
      {.found = fmt::to_string(id), .remedy = "Remove one of the two, or give it another id"});
}

}  // namespace

// Fills a CocoFile.
class CocoReader {
 public:
  CocoReader(CocoFile& file, const Warn& warn) : file_(file), warn_(warn) {}

  void read(const KeepGoing& keep_going) {
    const std::shared_ptr<const Source> source = file_system_for(file_.uri_).open(file_.uri_);
    // Memory that is reserved but not used takes none, and a text that grows is copied.
    file_.texts_.reserve(source->size_bytes());
    const std::vector<std::string> found = read_elements(
        *source, kSections, kMembers,
        [this](const std::string& section, uint64_t i, json& element) {
          try {
            add(section, {element, fmt::format("{}[{}]", section, i)}, element);
          } catch (CorruptError& error) {
            error.add({.remedy = "Correct or remove this element"});
            throw;
          }
        },
        keep_going);
    if (std::ranges::count(found, "images") == 0) {
      throw CorruptError("the file has no `images`, so it is not a COCO annotation file",
                         {.expected = "a JSON object with images, annotations and categories",
                          .remedy = "Pass the file of instances, key points or captions, and then "
                                    "the folder of images"});
    }
    connect();
    warn_of_thin();
    warn_of_repeated();
  }

 private:
  void add(const std::string& section, const JsonValue& value, json& element) {
    if (section == "images") add_image(value);
    if (section == "categories") add_category(value);
    if (section == "annotations") add_annotation(value, element);
  }

  void add_image(const JsonValue& value) {
    const auto side = [&](const char* name) {
      const JsonValue number = value.member(name);
      const uint64_t pixels = number.whole_number(kMaxSide);
      if (pixels == 0) refuse_type(number.place, "at least 1 pixel", number.value);
      return static_cast<uint32_t>(pixels);
    };
    const std::string name = value.member("file_name").text();
    if (name.empty()) refuse_type(value.place + ".file_name", "a path", *value.find("file_name"));
    const CocoFile::Image image{id_of(value.member("id")), side("height"), side("width"),
                                file_.names_.size() + name.size()};
    if (int64_t{image.height} * image.width > kDefaultMaxPixels) {
      throw CorruptError(fmt::format("`{}` has too many pixels", value.place),
                         {.expected = fmt::format("at most {}", kDefaultMaxPixels),
                          .found = fmt::format("{} x {}", image.height, image.width)});
    }
    file_.names_ += name;
    file_.images_.push_back(image);
  }

  void add_category(const JsonValue& value) {
    file_.categories_.push_back({id_of(value.member("id")), value.member("name").text()});
  }

  // Keeps the members that are used.
  void add_annotation(const JsonValue& value, json& element) {
    const uint64_t thin = thin_;
    const CocoAnnotation annotation = read_annotation(value, file_.rows_.size(), thin_);
    if (thin == 0 && thin_ > 0) first_thin_ = value.place;
    CocoFile::Row row{.image = static_cast<uint64_t>(id_of(value.member("image_id"))),
                      .category_id = kNoCategory,
                      .text_end = 0};
    if (annotation.object) {
      row.category_id = annotation.object->category_id;
      file_.has_objects_ = true;
      file_.has_masks_ |= annotation.object->segmentation.index() != 0;
      file_.key_points_ = std::max(file_.key_points_, annotation.object->key_points.size() / 3);
    }
    file_.has_captions_ |= annotation.caption.has_value();
    if (value.find("id") != nullptr) ids_.push_back(id_of(value.member("id")));
    json kept;
    for (const std::string_view name : kAnnotationMembers) {
      if (value.find(name) != nullptr) kept[name] = std::move(element[name]);
    }
    file_.texts_ += kept.dump();
    row.text_end = file_.texts_.size();
    file_.rows_.push_back(row);
  }

  // Finds each annotation's image and category, which may come later in the file.
  void connect() {
    std::ranges::sort(file_.categories_, {}, &CocoCategory::id);
    if (const auto* twice = first_repeated(file_.categories_, &CocoCategory::id)) {
      refuse_repeated("categories", twice->id);
    }
    file_.has_objects_ |= !file_.categories_.empty();
    if (file_.rows_.size() > UINT32_MAX) {
      throw UnsupportedError("the file has too many annotations",
                             {.expected = fmt::format("at most {}", UINT32_MAX)});
    }
    std::vector<std::pair<int64_t, uint64_t>> by_id;
    by_id.reserve(file_.size());
    for (uint64_t i = 0; i < file_.size(); ++i) by_id.emplace_back(file_.id(i), i);
    std::ranges::sort(by_id);
    using Entry = std::pair<int64_t, uint64_t>;
    if (const Entry* twice = first_repeated(by_id, &Entry::first)) {
      refuse_repeated("images", twice->first);
    }
    for (uint64_t row = 0; row < file_.rows_.size(); ++row) {
      CocoFile::Row& of = file_.rows_[row];
      const auto id = static_cast<int64_t>(of.image);
      const auto found = std::ranges::lower_bound(by_id, id, {}, &Entry::first);
      if (found == by_id.end() || found->first != id)
        refuse_dangling(row, "image_id", "images", id);
      of.image = found->second;
      if (of.category_id != kNoCategory) check_category(row, of.category_id);
    }
    order_rows();
  }

  void order_rows() {
    file_.ends_.assign(file_.size(), 0);
    for (const CocoFile::Row& row : file_.rows_) ++file_.ends_[row.image];
    uint64_t begin = 0;
    for (uint64_t& end : file_.ends_) begin += std::exchange(end, begin);
    file_.in_order_.resize(file_.rows_.size());
    for (uint64_t row = 0; row < file_.rows_.size(); ++row) {
      file_.in_order_[file_.ends_[file_.rows_[row].image]++] = static_cast<uint32_t>(row);
    }
  }

  void check_category(uint64_t row, int64_t id) const {
    const auto found = std::ranges::lower_bound(file_.categories_, id, {}, &CocoCategory::id);
    if (found != file_.categories_.end() && found->id == id) return;
    refuse_dangling(row, "category_id", "categories", id);
  }

  [[noreturn]] void refuse_dangling(uint64_t row, const char* member, const char* section,
                                    int64_t id) const {
    throw CorruptError(
        fmt::format("`{}.{}` is not an id of `{}`", place_of_annotation(row), member, section),
        {.found = fmt::to_string(id),
         .remedy = fmt::format("Add it to `{}`, or remove the annotation", section)});
  }

  void warn_of_thin() const {
    if (!warn_ || thin_ == 0) return;
    warn_(fmt::format(
        "{}: {} polygon{} fewer than three corners and cover{} no pixels: first in {}", file_.uri_,
        thin_, thin_ == 1 ? " has" : "s have", thin_ == 1 ? "s" : "", first_thin_));
  }

  void warn_of_repeated() {
    std::ranges::sort(ids_);
    const auto repeated = static_cast<size_t>(std::ranges::unique(ids_).size());
    if (!warn_ || repeated == 0) return;
    warn_(fmt::format("{}: {} annotation{} the id of an earlier one", file_.uri_, repeated,
                      repeated == 1 ? " has" : "s have"));
  }

  CocoFile& file_;
  const Warn& warn_;
  std::vector<int64_t> ids_;  // of annotations
  uint64_t thin_ = 0;
  std::string first_thin_;
};

CocoFile::CocoFile(const std::string& uri, const Warn& warn, const KeepGoing& keep_going)
    : uri_(uri) {
  try {
    CocoReader(*this, warn).read(keep_going);
  } catch (Error& error) {
    error.add({.path = uri});
    throw;
  }
}

std::string_view CocoFile::file_name(uint64_t i) const {
  const uint64_t begin = i == 0 ? 0 : images_[i - 1].name_end;
  return std::string_view(names_).substr(begin, images_[i].name_end - begin);
}

std::vector<CocoAnnotation> CocoFile::annotations(uint64_t i) const {
  std::vector<CocoAnnotation> annotations;
  for (uint64_t at = i == 0 ? 0 : ends_[i - 1]; at < ends_[i]; ++at) {
    const uint32_t row = in_order_[at];
    const uint64_t begin = row == 0 ? 0 : rows_[row - 1].text_end;
    const std::string_view text =
        std::string_view(texts_).substr(begin, rows_[row].text_end - begin);
    uint64_t thin = 0;
    annotations.push_back(
        read_annotation({json::parse(text), place_of_annotation(row)}, row, thin));
  }
  return annotations;
}

uint32_t CocoFile::checksum() const {
  uint32_t crc = crc32(as_bytes(texts_));
  for (const Row& row : rows_) {
    crc = crc32(std::as_bytes(std::span(&row.image, 1)), crc);
    crc = crc32(std::as_bytes(std::span(&row.text_end, 1)), crc);
  }
  for (const Image& image : images_) {
    crc = crc32(std::as_bytes(std::span(&image.height, 1)), crc);
    crc = crc32(std::as_bytes(std::span(&image.width, 1)), crc);
  }
  return crc;
}

size_t CocoFile::position_of(int64_t category_id) const {
  const auto found = std::ranges::lower_bound(categories_, category_id, {}, &CocoCategory::id);
  return static_cast<size_t>(found - categories_.begin());
}

bool CocoFile::has_objects_of(int64_t category_id) const {
  return std::ranges::find(rows_, category_id, &Row::category_id) != rows_.end();
}

}  // namespace fuelrail::pack
