#include "fuelrail/container/ffrecord/pickle_reader.h"

#include <fmt/format.h>

#include <charconv>

#include "fuelrail/base/parse_number.h"
#include "fuelrail/base/utf8.h"

namespace fuelrail::ffrecord {
namespace {

constexpr const char* kTooEarly = "the packed folder's structure is truncated";

void append_utf8(uint32_t code, std::string& out) {
  const auto tail = [&](int shift) { out += static_cast<char>(0x80 | (code >> shift & 0x3f)); };
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xc0 | code >> 6);
    tail(0);
  } else if (code < 0x10000) {
    out += static_cast<char>(0xe0 | code >> 12);
    tail(6);
    tail(0);
  } else {
    out += static_cast<char>(0xf0 | code >> 18);
    tail(12);
    tail(6);
    tail(0);
  }
}

// Surrogates are allowed, as with Python's "surrogatepass".
bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const size_t bytes = first_character(text, true).bytes;
    if (bytes == 0) return false;
    text.remove_prefix(bytes);
  }
  return true;
}

}  // namespace

void PickleReader::refuse(const std::string& failure, ErrorDetail detail) const {
  if (detail.found.empty()) {
    detail.found = fmt::format("the problem at byte {} of {}", begin_, text_.size());
  }
  if (detail.remedy.empty()) detail.remedy = "Pack the folder again";
  throw CorruptError(failure, detail);
}

void PickleReader::refuse_shape(const std::string& expected) const {
  refuse("the packed folder's structure is not a nested OrderedDict of names and numbers",
         {.expected = expected, .found = fmt::format("something else at byte {}", begin_)});
}

uint8_t PickleReader::next_operation() {
  begin_ = at_;
  return take_number<uint8_t>();
}

std::string_view PickleReader::take(uint64_t length) {
  if (length > left()) refuse(kTooEarly);
  at_ += length;
  return text_.substr(at_ - length, length);
}

std::string_view PickleReader::take_utf8(uint64_t length) {
  const std::string_view text = take(length);
  if (!is_utf8(text)) refuse_shape("text in UTF-8");
  return text;
}

std::string_view PickleReader::take_line() {
  const size_t end = text_.find('\n', at_);
  if (end == std::string_view::npos) refuse(kTooEarly);
  const std::string_view line = take(end - at_);
  ++at_;
  return line;
}

int64_t PickleReader::decimal(std::string_view text) const {
  const std::optional<int64_t> value = parse_number<int64_t>(text);
  if (!value) refuse_shape("a number");
  return *value;
}

int64_t PickleReader::take_int() {
  const std::string_view line = take_line();
  if (line == "00" || line == "01") refuse_shape("a number");  // False and True
  return decimal(line);
}

int64_t PickleReader::take_decimal_long() {
  const std::string_view line = take_line();
  if (!line.ends_with('L')) refuse_shape("a number");
  return decimal(line.substr(0, line.size() - 1));
}

int64_t PickleReader::take_long(uint64_t length) {
  const std::string_view bytes = take(length);
  if (bytes.size() > sizeof(int64_t)) refuse_shape("a number of at most 8 bytes");
  if (bytes.empty()) return 0;
  uint64_t value = 0;
  for (size_t i = 0; i < bytes.size(); ++i) {
    value |= uint64_t{static_cast<uint8_t>(bytes[i])} << (8 * i);
  }
  const auto unused = static_cast<int>(64 - 8 * bytes.size());  // sign-extended
  return static_cast<int64_t>(value << unused) >> unused;
}

uint32_t PickleReader::code_point(std::string_view digits, size_t length) const {
  uint32_t code = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), code, 16);
  if (error != std::errc() || end != digits.data() + length || code > 0x10ffff) {
    refuse_shape("text");
  }
  return code;
}

// A backslash before any other character is a plain character, and so is the character after it: a
// second backslash does not begin an escape.
std::string PickleReader::take_escaped_line() {
  const std::string_view line = take_line();
  std::string text;
  for (size_t at = 0; at < line.size();) {
    const char next = line[at] == '\\' && at + 1 < line.size() ? line[at + 1] : '\0';
    if (next == 'u' || next == 'U') {
      const size_t length = next == 'u' ? 4 : 8;
      append_utf8(code_point(line.substr(at + 2, length), length), text);
      at += 2 + length;
      continue;
    }
    append_utf8(static_cast<uint8_t>(line[at++]), text);
    if (next == '\\') append_utf8(static_cast<uint8_t>(line[at++]), text);
  }
  return text;
}

}  // namespace fuelrail::ffrecord
