#include "fuelrail/decode/npy/npy_header.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "fuelrail/base/endian.h"
#include "fuelrail/base/error.h"
#include "fuelrail/base/parse_number.h"

namespace fuelrail {
namespace {

constexpr size_t kVersionAt = 6, kLengthAt = 8;

// The extents in `shape`, of which an image has two or three.
struct Shape {
  std::array<int64_t, 3> extents{};
  size_t count = 0;  // may be larger than 3
};

// Reads the dict from front to back.
class DictReader {
 public:
  // `begin`: the position of `text` in the file, for messages.
  DictReader(std::string_view text, size_t begin) : text_(text), begin_(begin) {}

  // Skips white space and then `token`, which must follow.
  void expect(std::string_view token) {
    if (!accept(token)) fail(fmt::format("'{}'", token));
  }

  // Skips white space and then `token`, if it follows.
  bool accept(std::string_view token) {
    skip_space();
    if (!text_.substr(at_).starts_with(token)) return false;
    at_ += token.size();
    return true;
  }

  // A string in single or double quotes, without escapes.
  std::string_view string() {
    const char quote = accept("'") ? '\'' : '"';
    if (quote == '"') expect("\"");
    size_t end = at_;
    while (end < text_.size() && !ends_string(text_[end])) ++end;
    if (end == text_.size() || text_[end] != quote) fail("a string");
    const std::string_view found = text_.substr(at_, end - at_);
    at_ = end + 1;
    return found;
  }

  bool boolean() {
    if (accept("True")) return true;
    expect("False");
    return false;
  }

  // Whole numbers in parentheses. Python writes a comma after a single one.
  Shape shape() {
    Shape found;
    expect("(");
    while (!accept(")")) {
      const int64_t extent = number();
      if (found.count < found.extents.size()) found.extents[found.count] = extent;
      ++found.count;
      if (accept(",")) continue;
      expect(")");
      break;
    }
    return found;
  }

  void expect_end() {
    skip_space();
    if (at_ < text_.size()) fail("the end of the header");
  }

  [[noreturn]] void fail(const std::string& expected) const {
    const std::string_view rest = text_.substr(at_, 12);
    throw DecodeError(
        fmt::format("the header of the .npy file is damaged at byte {} of the image", begin_ + at_),
        {.expected = expected, .found = printable(rest)});
  }

 private:
  void skip_space() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
  }

  static bool ends_string(char c) { return c == '\'' || c == '"' || c == '\\'; }

  int64_t number() {
    skip_space();
    size_t end = at_;
    while (end < text_.size() && text_[end] >= '0' && text_[end] <= '9') ++end;
    const auto value = parse_number<int32_t>(text_.substr(at_, end - at_));
    if (!value) fail("a whole number from 0 to 2147483647");
    at_ = end;
    return *value;
  }

  static std::string printable(std::string_view bytes) {
    if (bytes.empty()) return "its end";
    std::string text;
    for (const char c : bytes) text += c >= ' ' && c <= '~' ? c : '?';
    return fmt::format("'{}'", text);
  }

  std::string_view text_;
  size_t begin_;
  size_t at_ = 0;
};

[[noreturn]] void refuse_elements(std::string_view found, const char* remedy) {
  throw UnsupportedError("the .npy file does not have the elements of an image",
                         {.expected = "uint8, uint16, int32, float16 or float32, little-endian",
                          .found = std::string(found),
                          .remedy = remedy});
}

constexpr const char* kConvert =
    "Convert the array with array.astype(\"uint8\") or another of these types";

DType dtype_of(std::string_view descr) {
  struct Row {
    std::string_view kind;  // as in NumPy's dtype.str, without the byte order
    DType dtype;
  };
  static constexpr std::array kRows{Row{"u1", DType::kUint8}, Row{"u2", DType::kUint16},
                                    Row{"i4", DType::kInt32}, Row{"f2", DType::kFloat16},
                                    Row{"f4", DType::kFloat32}};
  if (descr == "|O" || descr == "O") {
    refuse_elements("Python objects, which are never unpickled", kConvert);
  }
  const auto row = std::find_if(kRows.begin(), kRows.end(), [descr](const Row& known) {
    return !descr.empty() && descr.substr(1) == known.kind;
  });
  if (row == kRows.end()) refuse_elements(fmt::format("'{}'", descr), kConvert);
  const char order = descr.front();
  const bool one_byte = size_in_bytes(row->dtype) == 1;
  if (order == '<' || (one_byte && (order == '|' || order == '>'))) return row->dtype;
  if (order == '>') {
    refuse_elements("big-endian elements",
                    "Convert the array with array.astype(array.dtype.newbyteorder(\"<\"))");
  }
  refuse_elements(fmt::format("'{}'", descr), kConvert);
}

DType read_elements(DictReader& dict) {
  if (dict.accept("[") || dict.accept("(")) refuse_elements("elements of several fields", kConvert);
  return dtype_of(dict.string());
}

void read_order(DictReader& dict) {
  if (!dict.boolean()) return;
  throw UnsupportedError("the .npy file stores an array in Fortran order",
                         {.expected = "C order (row-major)",
                          .remedy = "Convert the array with numpy.ascontiguousarray"});
}

struct Dict {
  std::optional<DType> dtype;
  std::optional<Shape> shape;
  bool has_order = false;
};

// Reads the value that belongs to `key`. Each key may occur once.
void read_value(DictReader& dict, std::string_view key, Dict& out) {
  if (key == "descr" && !out.dtype) {
    out.dtype = read_elements(dict);
  } else if (key == "fortran_order" && !out.has_order) {
    read_order(dict);
    out.has_order = true;
  } else if (key == "shape" && !out.shape) {
    out.shape = dict.shape();
  } else {
    dict.fail("each of the keys 'descr', 'fortran_order' and 'shape' once");
  }
}

Dict read_dict(DictReader& dict) {
  Dict out;
  dict.expect("{");
  while (!dict.accept("}")) {
    const std::string_view key = dict.string();
    dict.expect(":");
    read_value(dict, key, out);
    if (dict.accept(",")) continue;
    dict.expect("}");
    break;
  }
  dict.expect_end();
  if (!out.dtype || !out.has_order || !out.shape) {
    throw DecodeError("the header of the .npy file is incomplete",
                      {.expected = "the keys 'descr', 'fortran_order' and 'shape'"});
  }
  return out;
}

// Errors: UnsupportedError for a shape that is not that of an image.
void set_shape(const Shape& shape, NpyHeader& header) {
  const auto& [height, width, channels] = shape.extents;
  const bool floats = header.dtype == DType::kFloat16 || header.dtype == DType::kFloat32;
  const bool wide = !floats && header.dtype != DType::kUint8;
  const bool fits = shape.count == 2 || (shape.count == 3 && channels == 1) ||
                    (shape.count == 3 && floats && channels == 2) ||
                    (shape.count == 3 && !wide && (channels == 3 || channels == 4));
  if (!fits) {
    throw UnsupportedError(
        "the .npy file does not have the shape of an image",
        {.expected = wide
                         ? "(height, width) or (height, width, 1) for uint16 and int32"
                         : "(height, width), or (height, width, channels) with 1, 3 or 4 channels, "
                           "or with 2 of floats",
         .found = shape.count == 3 ? fmt::format("({}, {}, {})", height, width, channels)
                                   : fmt::format("{} dimensions", shape.count),
         .remedy = "Store other arrays in tensor fields"});
  }
  header.size = {height, width};
  if (shape.count == 3) header.channels = channels;
}

[[noreturn]] void throw_cut(Bytes encoded) {
  throw TruncatedError(
      fmt::format("the .npy file ends inside its header, after {} bytes", encoded.size()));
}

// The dict and the white space after it. Sets `begin` to its position in the file.
std::string_view text_of(Bytes encoded, size_t& begin) {
  if (encoded.size() < kLengthAt) throw_cut(encoded);
  const auto major = std::to_integer<int>(encoded[kVersionAt]);
  const auto minor = std::to_integer<int>(encoded[kVersionAt + 1]);
  if (major < 1 || major > 3 || minor != 0) {
    throw UnsupportedError(
        "the version of the .npy file is unknown",
        {.expected = "1.0, 2.0 or 3.0", .found = fmt::format("{}.{}", major, minor)});
  }
  const size_t length_bytes = major == 1 ? 2 : 4;
  begin = kLengthAt + length_bytes;
  if (encoded.size() < begin) throw_cut(encoded);
  const std::byte* const at = encoded.data() + kLengthAt;
  const uint32_t length = major == 1 ? load_le<uint16_t>(at) : load_le<uint32_t>(at);
  if (length > encoded.size() - begin) throw_cut(encoded);
  return as_text(encoded).substr(begin, length);
}

}  // namespace

NpyHeader parse_npy_header(Bytes encoded) {
  size_t begin = 0;
  const std::string_view text = text_of(encoded, begin);
  DictReader reader(text, begin);
  const Dict dict = read_dict(reader);
  NpyHeader header;
  header.dtype = *dict.dtype;
  header.data_at = begin + text.size();
  set_shape(*dict.shape, header);
  return header;
}

}  // namespace fuelrail
