#include "fuelrail/pack/annotations/coco_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <istream>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <span>
#include <streambuf>
#include <string>
#include <utility>

#include "fuelrail/base/crc32.h"
#include "fuelrail/base/error.h"
#include "fuelrail/decode/probe.h"
#include "fuelrail/pack/annotations/json_words.h"
#include "fuelrail/pack/annotations/polygon.h"
#include "fuelrail/storage/file_system.h"

namespace fuelrail::pack {
namespace {

using nlohmann::json;

constexpr size_t kFewestCoordinates = 6;  // of a polygon with an inside
constexpr int64_t kNoCategory = -1;       // of an annotation without an object

constexpr size_t kBlockBytes = size_t{1} << 20;
constexpr uint64_t kMostValues = uint64_t{1} << 22;
constexpr int kMostLevels = 64;
constexpr size_t kShownCharacters = 60;
constexpr uint64_t kAskEveryElements = 1024;

// "an object", "[1, 2, ...": a short text of a value, for `found`.
std::string short_text(const json& value) {
  if (value.is_object()) return "an object";
  if (value.is_discarded()) return "an array";
  std::string text = value.dump(-1, ' ', true, json::error_handler_t::replace);
  if (text.size() > kShownCharacters) text = text.substr(0, kShownCharacters - 3) + "...";
  return text;
}

// A source as the buffer of a standard stream.
class SourceBuffer final : public std::streambuf {
 public:
  explicit SourceBuffer(const Source& source) : source_(source) {}

 protected:
  int_type underflow() override {
    const uint64_t bytes = std::min<uint64_t>(kBlockBytes, source_.size_bytes() - at_);
    if (bytes == 0) return traits_type::eof();
    block_.resize(bytes);
    source_.read(at_, std::as_writable_bytes(std::span(block_)));
    at_ += bytes;
    setg(block_.data(), block_.data(), block_.data() + bytes);
    return traits_type::to_int_type(block_.front());
  }

 private:
  const Source& source_;
  uint64_t at_ = 0;
  std::vector<char> block_;
};

// The members of an annotation that are kept, besides its image.
constexpr std::array<std::string_view, 7> kKeptMembers{
    "category_id", "bbox", "iscrowd", "area", "keypoints", "segmentation", "caption"};

// The other members of images, categories and annotations that are read.
constexpr std::array<std::string_view, 6> kReadMembers{"id",   "image_id", "file_name",
                                                       "name", "height",   "width"};

bool is_used(std::string_view member) {
  return std::ranges::count(kKeptMembers, member) + std::ranges::count(kReadMembers, member) > 0;
}

// Receives element i of the array `section`, and may take its content.
using TakeElement =
    std::function<void(const std::string& section, uint64_t i, nlohmann::json& element)>;

// Receives the parser's events. The root is at depth 0, its arrays at depth 1, their elements at
// depth 2. An element is passed on when it ends, and then dropped; members that are not used are
// dropped at once.
class ElementReader {
 public:
  ElementReader(const std::vector<std::string>& sections, const TakeElement& take,
                const KeepGoing& keep_going)
      : sections_(sections), take_(take), keep_going_(keep_going) {}

  // Returns: whether the parser keeps the value.
  bool on(int depth, json::parse_event_t event, json& value) {
    using Event = json::parse_event_t;
    const bool begins = event == Event::object_start || event == Event::array_start;
    if (depth > kMostLevels) refuse("has too many levels", fmt::format("at most {}", kMostLevels));
    if (depth == 0 && begins) is_object_ = event == Event::object_start;
    if (depth == 0) return true;
    if (depth == 1 && event == Event::key) return begin_section(value.get<std::string>());
    if (!wanted_) return false;
    if (depth == 1 && (event == Event::object_start || event == Event::value)) {
      throw CorruptError(fmt::format("`{}` has the wrong type", section_),
                         {.expected = "an array of objects"});
    }
    if (depth == 2 && (event == Event::array_start || event == Event::value)) {
      refuse("has the wrong type", "an object");
    }
    if (depth == 3 && event == Event::key) {
      member_is_used_ = is_used(value.get_ref<const std::string&>());
    }
    if (depth >= 3 && !member_is_used_) return false;
    if (event == Event::object_start) objects_.emplace_back();
    if (event == Event::object_end) objects_.pop_back();
    if (event == Event::key) add_member(value.get_ref<const std::string&>());
    if ((event == Event::value || begins) && ++values_ > kMostValues) {
      refuse("has too many values", fmt::format("at most {}", kMostValues));
    }
    if (depth != 2 || event != Event::object_end) return true;
    if (count_ % kAskEveryElements == 0) check_keep_going(keep_going_);
    take_(section_, count_++, value);
    values_ = 0;
    return false;
  }

  bool is_object() const { return is_object_; }
  std::vector<std::string> found() && { return std::move(found_); }

 private:
  bool begin_section(std::string name) {
    section_ = std::move(name);
    wanted_ = std::ranges::count(sections_, section_) > 0;
    if (!wanted_) return false;
    if (std::ranges::count(found_, section_) > 0) {
      throw CorruptError(fmt::format("`{}` occurs twice", section_));
    }
    found_.push_back(section_);
    count_ = 0;
    values_ = 0;
    return true;
  }

  void add_member(const std::string& name) {
    if (objects_.back().insert(name).second) return;
    throw CorruptError(fmt::format("`{}[{}]` has the member `{}` twice", section_, count_, name),
                       {.remedy = "Remove one of the two"});
  }

  [[noreturn]] void refuse(const char* failure, const std::string& expected) const {
    const std::string place = wanted_ ? fmt::format("`{}[{}]`", section_, count_) : "the file";
    throw CorruptError(fmt::format("{} {}", place, failure), {.expected = expected});
  }

  const std::vector<std::string>& sections_;
  const TakeElement& take_;
  const KeepGoing& keep_going_;
  std::string section_;
  bool wanted_ = false;
  bool member_is_used_ = false;  // of the element
  bool is_object_ = false;
  uint64_t count_ = 0;                          // elements of the section so far
  uint64_t values_ = 0;                         // in the element so far, and arrays and objects
  std::vector<std::set<std::string>> objects_;  // the used members of those that are open
  std::vector<std::string> found_;
};

std::string python_word_at(const Source& source, uint64_t offset) {
  std::array<char, 8> text{};
  const uint64_t bytes = std::min<uint64_t>(text.size(), source.size_bytes() - offset);
  source.read(offset, std::as_writable_bytes(std::span(text).first(bytes)));
  return std::string(python_word({text.data(), bytes}));
}

// Passes the elements of the arrays with these names to `take`, in the file's order; everything
// else is skipped. Returns: the names that the file has. Memory: some MiB, and the members of one
// element that are used. Errors: CorruptError for a file that is not JSON (with the offset) or not
// an object, for an array that occurs twice or is not an array of objects, and for an element that
// has a used member twice or whose used members have more than 4,194,304 values, arrays and
// objects, or 64 levels; StateError when `keep_going` returns false; those of `source` and `take`.
std::vector<std::string> read_elements(const Source& source,
                                       const std::vector<std::string>& sections,
                                       const TakeElement& take, const KeepGoing& keep_going) {
  SourceBuffer buffer(source);
  std::istream stream(&buffer);
  ElementReader reader(sections, take, keep_going);
  try {
    const json root = json::parse(stream, [&](int depth, json::parse_event_t event, json& value) {
      return reader.on(depth, event, value);
    });
    if (!reader.is_object()) {
      throw CorruptError("the file is not a JSON object", {.found = short_text(root)});
    }
  } catch (const json::parse_error& error) {
    const uint64_t at = error.byte > 0 ? error.byte - 1 : 0;
    // The library has one kind of error for both.
    const bool text = std::string_view(error.what()).find("UTF-8") != std::string_view::npos;
    const std::string word = text ? "" : python_word_at(source, at);
    throw CorruptError(text ? "the file is not UTF-8" : "the file is not valid JSON",
                       {.path = source.uri(),
                        .offset = at,
                        .found = word,
                        .remedy = text           ? "Save the file as UTF-8"
                                  : word.empty() ? "Restore the file"
                                                 : kNoPythonWords});
  } catch (const json::exception&) {  // a number that no double holds
    throw CorruptError("the file is not valid JSON", {.path = source.uri()});
  } catch (Error& error) {
    error.add({.path = source.uri()});
    throw;
  }
  return std::move(reader).found();
}

[[noreturn]] void refuse_type(const std::string& place, const std::string& expected,
                              const json& found) {
  throw CorruptError(fmt::format("`{}` has the wrong type", place),
                     {.expected = expected, .found = short_text(found)});
}

// A JSON value and its place in the file.
struct JsonValue {
  const json& value;
  std::string place;

  // Null if there is no such member, and if it is null.
  const json* find(std::string_view name) const {
    const auto found = value.find(name);
    return found == value.end() || found->is_null() ? nullptr : &*found;
  }
  JsonValue member(const char* name) const {
    const json* found = find(name);
    if (found == nullptr) throw CorruptError(fmt::format("`{}.{}` does not exist", place, name));
    return {*found, fmt::format("{}.{}", place, name)};
  }
  JsonValue operator[](size_t i) const { return {value[i], fmt::format("{}[{}]", place, i)}; }

  const JsonValue& array(const char* expected) const {
    if (!value.is_array()) refuse_type(place, expected, value);
    return *this;
  }
  size_t size() const { return value.size(); }
  std::string text() const {
    if (!value.is_string()) refuse_type(place, "a string", value);
    return value.get<std::string>();
  }
  // From 0 to `most`.
  uint64_t whole_number(uint64_t most) const {
    if (!value.is_number_unsigned() || value.get<uint64_t>() > most) {
      refuse_type(place, fmt::format("a whole number from 0 to {}", most), value);
    }
    return value.get<uint64_t>();
  }
  // A number that fits into float32.
  double number() const {
    const double found = value.is_number() ? value.get<double>() : std::nan("");
    if (!(std::abs(found) <= std::numeric_limits<float>::max())) {
      refuse_type(place, "a finite number", value);
    }
    return found;
  }
};

int64_t id_of(const JsonValue& value) {
  return static_cast<int64_t>(value.whole_number(std::numeric_limits<int64_t>::max()));
}

// Corners, from x, y, width and height.
std::array<float, 4> read_box(const JsonValue& box) {
  if (box.array("4 numbers").size() != 4) refuse_type(box.place, "4 numbers", box.value);
  std::array<double, 4> numbers{};
  for (size_t i = 0; i < 4; ++i) numbers[i] = box[i].number();
  const auto [x, y, width, height] = numbers;
  if (width < 0 || height < 0) {
    throw CorruptError(fmt::format("`{}` has a negative width or height", box.place),
                       {.expected = "x, y, width, height", .found = short_text(box.value)});
  }
  if (std::max(x + width, y + height) > std::numeric_limits<float>::max()) {
    throw CorruptError(fmt::format("`{}` has a corner that float32 cannot hold", box.place),
                       {.found = short_text(box.value)});
  }
  return {static_cast<float>(x), static_cast<float>(y), static_cast<float>(x + width),
          static_cast<float>(y + height)};
}

bool read_crowd(const JsonValue& annotation) {
  const json* found = annotation.find("iscrowd");
  if (found == nullptr) return false;
  if (found->is_boolean()) return found->get<bool>();
  return annotation.member("iscrowd").whole_number(1) == 1;
}

std::vector<float> read_key_points(const JsonValue& annotation) {
  if (annotation.find("keypoints") == nullptr) return {};
  const JsonValue list = annotation.member("keypoints").array("an array of numbers");
  if (list.size() % 3 != 0) {
    refuse_type(list.place, "x, y and visibility of each key point", list.value);
  }
  std::vector<float> points(list.size());
  for (size_t i = 0; i < points.size(); ++i) points[i] = static_cast<float>(list[i].number());
  return points;
}

std::vector<double> read_polygon(const JsonValue& list) {
  list.array("an array of numbers");
  if (list.size() % 2 != 0) {
    throw CorruptError(fmt::format("`{}` has an odd number of coordinates", list.place),
                       {.found = fmt::to_string(list.size())});
  }
  std::vector<double> polygon(list.size());
  for (size_t i = 0; i < polygon.size(); ++i) {
    const json& value = list.value[i];
    polygon[i] = value.is_number() ? value.get<double>() : std::nan("");
    if (std::abs(polygon[i]) <= kFarthestCorner) continue;
    refuse_type(list[i].place,
                fmt::format("a number from -{} to {}", kFarthestCorner, kFarthestCorner), value);
  }
  return polygon;
}

EncodedRuns read_runs(const JsonValue& runs) {
  const JsonValue size = runs.member("size").array("height and width");
  if (size.size() != 2) refuse_type(size.place, "height and width", size.value);
  EncodedRuns read;
  read.image = {static_cast<int64_t>(size[0].whole_number(kMaxSide)),
                static_cast<int64_t>(size[1].whole_number(kMaxSide))};
  const JsonValue counts = runs.member("counts");
  if (counts.value.is_string()) {
    read.lengths = counts.text();
    return read;
  }
  counts.array("an array of run lengths, or a string");
  RunLengths lengths(counts.size());
  for (size_t i = 0; i < lengths.size(); ++i) {
    lengths[i] = static_cast<uint32_t>(counts[i].whole_number(UINT32_MAX));
  }
  read.lengths = std::move(lengths);
  return read;
}

// `thin` counts the polygons with fewer than three corners, which are left out.
void read_segmentation(const JsonValue& annotation, CocoObject& object, uint64_t& thin) {
  if (annotation.find("segmentation") == nullptr) return;
  const JsonValue value = annotation.member("segmentation");
  if (value.value.is_object()) {
    object.segmentation = read_runs(value);
    return;
  }
  value.array("an array of polygons, or run lengths");
  Polygons polygons;
  for (size_t i = 0; i < value.size(); ++i) {
    std::vector<double> polygon = read_polygon(value[i]);
    if (polygon.size() < kFewestCoordinates) {
      ++thin;
    } else {
      polygons.push_back(std::move(polygon));
    }
  }
  if (!polygons.empty()) object.segmentation = std::move(polygons);
}

CocoAnnotation read_annotation(const JsonValue& value, uint64_t number, uint64_t& thin) {
  CocoAnnotation annotation{.number = number, .object = {}, .caption = {}};
  if (value.find("caption") != nullptr) annotation.caption = value.member("caption").text();
  if (annotation.caption && value.find("category_id") == nullptr) return annotation;
  CocoObject& object = annotation.object.emplace();
  object.category_id = id_of(value.member("category_id"));
  object.box = read_box(value.member("bbox"));
  object.is_crowd = read_crowd(value);
  object.area = value.find("area") == nullptr
                    ? (object.box[2] - object.box[0]) * (object.box[3] - object.box[1])
                    : static_cast<float>(value.member("area").number());
  object.key_points = read_key_points(value);
  read_segmentation(value, object, thin);
  return annotation;
}

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
        *source, {"images", "categories", "annotations"},
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
    for (const std::string_view name : kKeptMembers) {
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

std::string place_of_annotation(uint64_t number) { return fmt::format("annotations[{}]", number); }

}  // namespace fuelrail::pack
