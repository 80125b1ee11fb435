#include "fuelrail/pack/annotations/voc_file.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <pugixml.hpp>
#include <string>
#include <string_view>

#include "fuelrail/base/error.h"
#include "fuelrail/base/parse_number.h"
#include "fuelrail/base/utf8.h"
#include "fuelrail/decode/probe.h"

namespace fuelrail::pack {
namespace {

std::string_view trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r\n") - begin + 1);
}

// An element and its place: "object[2].bndbox".
struct Element {
  pugi::xml_node node;
  std::string place;

  bool has(const char* name) const { return !node.child(name).empty(); }
  Element child(const char* name) const {
    Element found{node.child(name), place.empty() ? name : fmt::format("{}.{}", place, name)};
    if (found.node.empty()) throw CorruptError(fmt::format("`{}` does not exist", found.place));
    return found;
  }
  // The text, also around comments. Errors: CorruptError for an element inside it, and for a text
  // that is not UTF-8.
  std::string text() const {
    std::string whole;
    for (const pugi::xml_node part : node.children()) {
      if (part.type() == pugi::node_element) {
        throw CorruptError(fmt::format("`{}` has an element inside its text", place),
                           {.found = fmt::format("`{}`", part.name())});
      }
      whole += part.value();
    }
    if (const size_t valid = utf8_bytes(whole); valid < whole.size()) {
      throw CorruptError(
          fmt::format("`{}` is not UTF-8", place),
          {.found = fmt::format("{:#04x} at byte {}", static_cast<uint8_t>(whole[valid]), valid),
           .remedy = "Save the file as UTF-8"});
    }
    return std::string(trimmed(whole));
  }

  [[noreturn]] void refuse(const std::string& expected) const {
    throw CorruptError(fmt::format("`{}` is invalid", place),
                       {.expected = expected, .found = fmt::format("'{}'", text())});
  }
  double number() const {
    const auto found = parse_number<double>(text());
    if (!found || !(std::abs(*found) <= std::numeric_limits<float>::max())) {
      refuse("a finite number");
    }
    return *found;
  }
  bool flag() const {
    if (text() != "0" && text() != "1") refuse("0 or 1");
    return text() == "1";
  }
};

std::array<float, 4> read_corners(const Element& box) {
  const double left = box.child("xmin").number();
  const double top = box.child("ymin").number();
  const double right = box.child("xmax").number();
  const double bottom = box.child("ymax").number();
  if (left > right || top > bottom) {
    throw CorruptError(
        fmt::format("`{}` is inverted", box.place),
        {.expected = "xmin <= xmax and ymin <= ymax",
         .found = fmt::format("xmin {}, ymin {}, xmax {}, ymax {}", left, top, right, bottom)});
  }
  return {static_cast<float>(left - 1), static_cast<float>(top - 1), static_cast<float>(right),
          static_cast<float>(bottom)};
}

VocObject read_object(const Element& object) {
  VocObject read;
  read.name = object.child("name").text();
  if (read.name.empty()) object.child("name").refuse("a class name");
  read.box = read_corners(object.child("bndbox"));
  if (object.has("difficult")) read.is_difficult = object.child("difficult").flag();
  if (object.has("truncated")) read.is_truncated = object.child("truncated").flag();
  return read;
}

int64_t read_side(const Element& side) {
  const auto pixels = parse_number<int64_t>(side.text());
  if (!pixels || *pixels < 1 || *pixels > kMaxSide) {
    side.refuse(fmt::format("a whole number from 1 to {}", kMaxSide));
  }
  return *pixels;
}

VocAnnotation read_annotation_element(const Element& annotation) {
  VocAnnotation read;
  if (annotation.has("size")) {
    const Element size = annotation.child("size");
    read.size = Size{read_side(size.child("height")), read_side(size.child("width"))};
  }
  for (const pugi::xml_node node : annotation.node.children("object")) {
    const std::string place = fmt::format("object[{}]", read.objects.size());
    read.objects.push_back(read_object({node, place}));
  }
  return read;
}

}  // namespace

VocAnnotation parse_voc(Bytes xml, const std::string& uri) {
  pugi::xml_document document;
  const pugi::xml_parse_result result = document.load_buffer(xml.data(), xml.size());
  if (!result) {
    throw CorruptError("the file is not valid XML", {.path = uri,
                                                     .offset = static_cast<uint64_t>(result.offset),
                                                     .found = result.description()});
  }
  try {
    const pugi::xml_node annotation = document.child("annotation");
    if (annotation.empty()) throw CorruptError("the file has no element `annotation`");
    if (document.first_child() != document.last_child()) {
      throw CorruptError("the file has more than one root element",
                         {.expected = "one `annotation`",
                          .found = fmt::format("`{}` and `{}`", document.first_child().name(),
                                               document.last_child().name()),
                          .remedy = "Write the objects of an image into one annotation"});
    }
    return read_annotation_element({annotation, ""});
  } catch (Error& error) {
    error.add({.path = uri});
    throw;
  }
}

}  // namespace fuelrail::pack
