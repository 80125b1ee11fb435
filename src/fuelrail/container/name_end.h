// Compares the extensions of file names and ignores upper and lower case.
#pragma once

#include <algorithm>
#include <string_view>

namespace fuelrail {

// Whether `text` ends with `lower_case_end`, in upper or lower case (ASCII letters). Requires:
// `lower_case_end` is in lower case.
inline bool ends_with_ignoring_case(std::string_view text, std::string_view lower_case_end) {
  if (text.size() < lower_case_end.size()) return false;
  const std::string_view end = text.substr(text.size() - lower_case_end.size());
  return std::equal(end.begin(), end.end(), lower_case_end.begin(), [](char a, char b) {
    return (a >= 'A' && a <= 'Z' ? static_cast<char>(a - 'A' + 'a') : a) == b;
  });
}

}  // namespace fuelrail
