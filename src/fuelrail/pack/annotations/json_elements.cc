#include "fuelrail/pack/annotations/json_elements.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <istream>
#include <nlohmann/json.hpp>
#include <set>
#include <streambuf>
#include <utility>

#include "fuelrail/base/error.h"
#include "fuelrail/pack/annotations/json_value.h"
#include "fuelrail/pack/annotations/json_words.h"

namespace fuelrail::pack {
namespace {

using nlohmann::json;

constexpr size_t kBlockBytes = size_t{1} << 20;
constexpr uint64_t kMostValues = uint64_t{1} << 22;
constexpr int kMostLevels = 64;
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
// depth 2. An element is passed on when it ends, and then dropped; members that are not used are
// dropped at once.
class ElementReader {
 public:
  ElementReader(std::span<const std::string_view> sections,
                std::span<const std::string_view> members, const TakeElement& take,
                const KeepGoing& keep_going)
      : sections_(sections), members_(members), take_(take), keep_going_(keep_going) {}

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
      member_is_used_ = std::ranges::count(members_, value.get_ref<const std::string&>()) > 0;
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

  // "`annotations[12]`": the element that is being read, for messages.
  std::string place() const {
    return wanted_ ? fmt::format("`{}[{}]`", section_, count_) : "the file";
  }
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
    throw CorruptError(fmt::format("{} {}", place(), failure), {.expected = expected});
  }

  const std::span<const std::string_view> sections_;
  const std::span<const std::string_view> members_;
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

}  // namespace

std::vector<std::string> read_elements(const Source& source,
                                       std::span<const std::string_view> sections,
                                       std::span<const std::string_view> members,
                                       const TakeElement& take, const KeepGoing& keep_going) {
  SourceBuffer buffer(source);
  std::istream stream(&buffer);
  ElementReader reader(sections, members, take, keep_going);
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
  } catch (const json::out_of_range&) {  // the library gives no offset
    throw CorruptError(fmt::format("{} has a number that float64 cannot hold", reader.place()),
                       {.path = source.uri()});
  } catch (Error& error) {
    error.add({.path = source.uri()});
    throw;
  }
  return std::move(reader).found();
}

}  // namespace fuelrail::pack
