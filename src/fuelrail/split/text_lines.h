// Lines as dmlc-core's text type has them: each byte \n or \r ends one, and blank lines are none.
#pragma once

#include <cstddef>
#include <cstring>
#include <optional>

#include "fuelrail/base/bytes.h"

namespace fuelrail::split {

inline bool is_line_end(std::byte b) { return b == std::byte{'\n'} || b == std::byte{'\r'}; }

// Finds line after line in a text. Looks at each byte a few times at most, at the speed of memchr,
// whichever line ends the text has.
class LineFinder {
 public:
  struct Line {
    size_t begin = 0;
    size_t end = 0;   // without the line end
    size_t next = 0;  // behind the line end and the blank lines after it
  };

  // The first line that begins at or after `from`. Requires: the same text until `restart`, and
  // `from` does not go back. Empty when there is none.
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

  size_t newline_ = 0;  // the first at or after the last line's begin, or the text's end
  bool found_ = false;
};

}  // namespace fuelrail::split
