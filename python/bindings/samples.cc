#include "samples.h"

#include <fmt/format.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <vector>

#include "fuelrail/base/error.h"

namespace fuelrail::python {
namespace {

// The number whose name is `given`: a kind, a dtype, a role.
template <typename Enum>
Enum named(const char* what, const std::string& given, size_t count) {
  for (size_t number = 0; number < count; ++number) {
    if (given == name_of(static_cast<Enum>(number))) return static_cast<Enum>(number);
  }
  throw InvalidArgumentError(fmt::format("unknown {} '{}'", what, given));
}

FieldSpec spec_of(const nb::tuple& field) {
  FieldSpec spec{.name = nb::cast<std::string>(field[0]),
                 .kind = named<FieldKind>("kind", nb::cast<std::string>(field[1]), kFieldKinds),
                 .shape = nb::cast<std::vector<int64_t>>(nb::list(field[3])),
                 .role = named<Role>("role", nb::cast<std::string>(field[4]), kRoles),
                 .of = nb::cast<std::optional<uint16_t>>(field[5]),
                 .rows = nb::cast<std::optional<uint16_t>>(field[6]),
                 .flags = nb::cast<uint8_t>(field[7]),
                 .detail = nb::cast<uint16_t>(field[8])};
  if (!field[2].is_none()) {
    spec.dtype = named<DType>("dtype", nb::cast<std::string>(field[2]), kDTypes);
  }
  return spec;
}

}  // namespace

Schema schema_of_fields(const FieldTuples& fields) {
  Schema schema;
  for (const nb::handle field : fields) schema.fields.push_back(spec_of(nb::tuple(field)));
  return schema;
}

FieldTuples fields_of(const Schema& schema) {
  nb::list fields;
  for (const FieldSpec& field : schema.fields) {
    const bool tensor = field.kind == FieldKind::kTensor;
    fields.append(nb::make_tuple(
        field.name, name_of(field.kind), tensor ? nb::cast(name_of(field.dtype)) : nb::none(),
        nb::tuple(nb::cast(field.shape)), name_of(field.role), nb::cast(field.of),
        nb::cast(field.rows), field.flags, field.detail));
  }
  return fields;
}

}  // namespace fuelrail::python
