#include "fuelrail/container/sample.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "fuelrail/base/error.h"

namespace fuelrail {
namespace {

auto find_field(const std::vector<FieldSpec>& fields, std::string_view name) {
  return std::find_if(fields.begin(), fields.end(),
                      [&](const FieldSpec& field) { return field.name == name; });
}

}  // namespace

std::string describe(const FieldSpec& field) {
  switch (field.kind) {
    case FieldKind::kImage:
      return "image";
    case FieldKind::kTensor:
      return fmt::format("tensor {} [{}]", name_of(field.dtype), fmt::join(field.shape, ", "));
    case FieldKind::kBytes:
      return "bytes";
  }
  return {};
}

size_t Schema::index_of(std::string_view name) const {
  const auto found = find_field(fields, name);
  if (found != fields.end()) return static_cast<size_t>(found - fields.begin());
  std::vector<std::string> names;
  for (const FieldSpec& field : fields) names.push_back(field.name);
  throw InvalidArgumentError(fmt::format("unknown field '{}'", name),
                             {.remedy = suggest(std::string(name), names)});
}

bool Schema::has(std::string_view name) const { return find_field(fields, name) != fields.end(); }

}  // namespace fuelrail
