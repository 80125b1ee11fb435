// Text as a terminal may have it: names of files and classes come from outside, and may hold
// sequences that move its cursor, set its title or turn the order of what is shown.
#pragma once

#include <string>
#include <string_view>

namespace fuelrail::cli {

// `text` with each of these escaped, all else as it is:
//   control characters (C0, DEL, C1) and bidirectional marks   \n, \r, \t, or \u and four digits
//   bytes that are not UTF-8                                    \x and two digits
// In a JSON text that stays the same document: there, what is escaped stands in strings, and \u is
// JSON's own escape. Not the other way round: a name may hold a backslash itself.
std::string escaped_for_terminal(std::string_view text);

}  // namespace fuelrail::cli
