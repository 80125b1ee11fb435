#include <fmt/format.h>
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bindings.h"
#include "buffer.h"
#include "fuelrail/base/error.h"
#include "fuelrail/container/sample_record.h"
#include "samples.h"

namespace fuelrail::python {
namespace {

using Elements = nb::ndarray<nb::ro, nb::c_contig, nb::device::cpu>;

// The number whose name is `given`: a kind, a dtype, a role.
template <typename Enum>
Enum named(const char* what, const std::string& given, size_t count) {
  std::vector<std::string> names;
  for (size_t number = 0; number < count; ++number) {
    const auto value = static_cast<Enum>(number);
    if (given == name_of(value)) return value;
    if (*name_of(value) != '\0') names.emplace_back(name_of(value));
  }
  throw InvalidArgumentError(fmt::format("unknown {} '{}'", what, given),
                             {.remedy = suggest(given, names)});
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

bool has_type(const Elements& elements, DType dtype) {
  const nb::dlpack::dtype found = elements.dtype();
  if (found == dlpack_type(dtype)) return true;
  // NumPy has no bfloat16: its bits may be given as uint16.
  return dtype == DType::kBfloat16 && found == dlpack_type(DType::kUint16);
}

// A sample's values, as views of Python objects, which this holds. Requires: the GIL is held while
// it is filled and destroyed.
class GivenValues {
 public:
  // Errors: InvalidArgumentError for values that do not have the types of the fields; TypeError for
  // an object without a buffer.
  GivenValues(const Schema& schema, const nb::list& values) {
    if (values.size() != schema.fields.size()) {
      throw InvalidArgumentError("the number of values differs from the number of fields",
                                 {.expected = fmt::format("{}", schema.fields.size()),
                                  .found = fmt::format("{}", values.size())});
    }
    values_.resize(values.size());
    for (size_t number = 0; number < values.size(); ++number) {
      take(schema.fields[number], values[number], values_[number]);
    }
  }

  std::span<const FieldValue> values() const { return values_; }

 private:
  void take(const FieldSpec& field, nb::handle given, FieldValue& value) {
    if (field.has(kListField)) {
      for (const nb::handle item : nb::list(given)) value.items.push_back(bytes_of(field, item));
    } else if (field.kind == FieldKind::kTensor) {
      take_tensor(field, given, value);
    } else {
      value.bytes = bytes_of(field, given);
    }
  }

  void take_tensor(const FieldSpec& field, nb::handle given, FieldValue& value) {
    Elements elements;
    if (!nb::try_cast(given, elements) || !has_type(elements, field.dtype)) {
      throw InvalidArgumentError(
          fmt::format("the value of field '{}' has the wrong type", field.name),
          {.expected = fmt::format("an array of {} in CPU memory", name_of(field.dtype)),
           .found = nb::repr(given.type()).c_str()});
    }
    value.bytes = {static_cast<const std::byte*>(elements.data()), elements.nbytes()};
    for (size_t k = 0; k < elements.ndim(); ++k) {
      value.shape.push_back(static_cast<int64_t>(elements.shape(k)));
    }
    arrays_.push_back(std::move(elements));
  }

  Bytes bytes_of(const FieldSpec& field, nb::handle given) {
    if (field.kind != FieldKind::kText) {
      buffers_.push_back(std::make_unique<Buffer>(given));
      return buffers_.back()->bytes();
    }
    Py_ssize_t size = 0;
    const char* const text =
        PyUnicode_Check(given.ptr()) ? PyUnicode_AsUTF8AndSize(given.ptr(), &size) : nullptr;
    if (text == nullptr) {
      PyErr_Clear();
      throw InvalidArgumentError(
          fmt::format("the value of field '{}' is not text", field.name),
          {.expected = "a str that can be encoded as UTF-8", .found = nb::repr(given).c_str()});
    }
    return as_bytes(std::string_view(text, static_cast<size_t>(size)));
  }

  std::vector<FieldValue> values_;
  std::vector<std::unique_ptr<Buffer>> buffers_;
  std::vector<Elements> arrays_;
};

nb::bytes encode(const SampleEncoder& self, uint64_t id, const ListOf<Any>& values) {
  const GivenValues given(self.schema(), values);
  std::vector<std::byte> payload;
  {
    const GilReleased released;
    self.append(id, given.values(), payload);
  }
  return nb::bytes(payload.data(), payload.size());
}

void limit_labels(SampleEncoder& self, const std::string& field, uint64_t classes) {
  self.limit_labels(self.schema().index_of(field), classes);
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

void bind_samples(nb::module_& module) {
  nb::class_<SampleEncoder>(module, "SampleEncoder",
                            "Encodes samples as the payloads of sample records.")
      .def(
          "__init__",
          [](SampleEncoder* self, const FieldTuples& fields) {
            new (self) SampleEncoder(schema_of_fields(fields));
          },
          nb::arg("fields"),
          "fields: name, kind, dtype, shape, role, of, rows, flags and detail of each field, as in "
          "Container.fields.")
      .def("limit_labels", limit_labels, nb::arg("field"), nb::arg("classes"),
           "From now on, the labels of `field` must be below `classes`.")
      .def("encode", encode, nb::arg("id"), nb::arg("values"),
           "Returns the payload of a sample record. `values` has an object for each field: bytes "
           "for an image or bytes, a str for text, a C-contiguous array for a tensor, and a list "
           "of these for a list.");
}

}  // namespace fuelrail::python
