// JSON as the commands print it.
#pragma once

#include <string>

namespace fuelrail::cli {

// On one line. Names of files and classes need not be UTF-8, JSON must: what is not becomes U+FFFD.
// Json: nlohmann's, which is known in .cc files only.
template <typename Json>
std::string to_text(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace fuelrail::cli
