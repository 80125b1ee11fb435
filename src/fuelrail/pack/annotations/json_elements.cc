#include "fuelrail/pack/annotations/json_elements.h"

#include <fmt/format.h>

#include <algorithm>
#include <istream>
#include <nlohmann/json.hpp>
#include <streambuf>
#include <utility>

#include "fuelrail/base/error.h"

namespace fuelrail::pack {
namespace {

using nlohmann::json;

constexpr size_t kBlockBytes = size_t{1} << 20;
constexpr uint64_t kMostValues = uint64_t{1} << 23;
constexpr int kMostLevels = 64;
constexpr size_t kShownCharacters = 60;
constexpr uint64_t kAskEveryElements = 1024;

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

// Receives the parser's events. The root is at depth 0, its arrays at depth 1, their elements at
// depth 2. An element is passed on when it ends, and then dropped.
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
    if (event == Event::value && ++values_ > kMostValues) {
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

  [[noreturn]] void refuse(const char* failure, const std::string& expected) const {
    const std::string place = wanted_ ? fmt::format("`{}[{}]`", section_, count_) : "the file";
    throw CorruptError(fmt::format("{} {}", place, failure), {.expected = expected});
  }

  const std::vector<std::string>& sections_;
  const TakeElement& take_;
  const KeepGoing& keep_going_;
  std::string section_;
  bool wanted_ = false;
  bool is_object_ = false;
  uint64_t count_ = 0;   // elements of the section so far
  uint64_t values_ = 0;  // in the element so far
  std::vector<std::string> found_;
};

}  // namespace

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
    throw CorruptError("the file is not valid JSON", {.path = source.uri(), .offset = at});
  } catch (const json::exception&) {  // a number that no double holds
    throw CorruptError("the file is not valid JSON", {.path = source.uri()});
  } catch (Error& error) {
    error.add({.path = source.uri()});
    throw;
  }
  return std::move(reader).found();
}

std::string short_text(const json& value) {
  if (value.is_object()) return "an object";
  if (value.is_discarded()) return "an array";
  std::string text = value.dump(-1, ' ', true, json::error_handler_t::replace);
  if (text.size() > kShownCharacters) text = text.substr(0, kShownCharacters - 3) + "...";
  return text;
}

}  // namespace fuelrail::pack
