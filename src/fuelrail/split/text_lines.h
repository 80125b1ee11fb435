// Lines as in dmlc-core's text type: each byte \n or \r ends a line, and blank lines are skipped.
#pragma once

#include <cstddef>
#include <cstring>
#include <optional>

#include "fuelrail/base/bytes.h"

namespace fuelrail::split {

inline bool is_line_end(std::byte b) { return b == std::byte{'\n'} || b == std::byte{'\r'}; }

// Finds the lines of a text one by one. Reads each byte at most a few times, at the speed of
// memchr, whatever the line ends are.
class LineFinder {
 public:
  struct Line {
    size_t begin = 0;
    size_t end = 0;   // without the line end
    size_t next = 0;  // after the line end and the blank lines that follow
  };

  // The first line that begins at or after `from`; nullopt if there is none. Requires: until
  // `restart`, `text` stays the same and `from` does not decrease.
  std::optional<Line> next(Bytes text, size_t from) {
    Line line;
    line.begin = behind_line_ends(text, from);
    if (line.begin == text.size()) return std::nullopt;
    if (newline_ < line.begin || !found_) {
      newline_ = position_of('\n', text, line.begin, text.size());
      found_ = true;
    }
    line.end = position_of('\r', text, line.begin, newline_);
    line.next = behind_line_ends(text, line.end);
    return line;
  }
  void restart() { found_ = false; }

 private:
  static size_t behind_line_ends(Bytes text, size_t at) {
    while (at < text.size() && is_line_end(text[at])) ++at;
    return at;
  }
  static size_t position_of(char wanted, Bytes text, size_t from, size_t end) {
    if (from == end) return end;
    const auto* const begin = text.data() + from;
    const void* const found = std::memchr(begin, wanted, end - from);
    return found == nullptr
               ? end
               : from + static_cast<size_t>(static_cast<const std::byte*>(found) - begin);
  }

  size_t newline_ = 0;  // the first \n at or after the last line's beginning, or the text's end
  bool found_ = false;
};

}  // namespace fuelrail::split
