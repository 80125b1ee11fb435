// A part of a record file that is skipped because it is damaged or missing.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace fuelrail {

struct Damage {
  std::string path;
  uint64_t offset = 0;               // of the first skipped byte
  uint64_t skipped_bytes = 0;        // 0: the file is truncated at `offset`
  std::optional<uint64_t> record{};  // the first lost record, if its number is known
  std::string reason{};              // what failed, as in an error text
};

using ReportDamage = std::function<void(const Damage&)>;

}  // namespace fuelrail
