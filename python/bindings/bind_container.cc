#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "bindings.h"
#include "fuelrail/base/error.h"
#include "fuelrail/container/class_names.h"
#include "fuelrail/container/concat.h"
#include "fuelrail/container/open.h"
#include "fuelrail/container/subset.h"
#include "samples.h"
#include "warnings.h"

namespace fuelrail::python {
namespace {

ContainerHandle open(nb::bytes uri, Strings warnings, const std::string& schema, nb::bytes root,
                     const std::string& track, const std::string& split, bool ignore_sidecar,
                     const Strings& classes) {
  const PythonTurns turns;
  const WarningsInto warned(std::move(warnings));
  const OpenOptions options{.schema = schema,
                            .root = std::string(root.c_str(), root.size()),
                            .track = track,
                            .split = split,
                            .ignore_sidecar = ignore_sidecar,
                            .classes = fs_names(classes),
                            .warn = warned.warn(),
                            .keep_going = [turns] { return turns.keep_going(); }};
  return {turns.run([options, name = std::string(uri.c_str(), uri.size())] {
    return open_container(name, options);
  })};
}

Strings read_names(nb::bytes uri, Strings warnings) {
  const PythonTurns turns;
  const WarningsInto warned(std::move(warnings));
  const OpenOptions options{.warn = warned.warn(),
                            .keep_going = [turns] { return turns.keep_going(); }};
  return fs_texts(turns.run([options, name = std::string(uri.c_str(), uri.size())] {
    return read_class_names(name, options);
  }));
}

void check_classes(const ContainerHandle& self, const Strings& classes) {
  const std::vector<std::string> names = fs_names(classes);
  const Container& container = *self.container;
  check_class_names(names);
  check_same_classes(names, container, "the class names differ from the given class names",
                     container.size() == 0 ? "" : container.place(0).path);
}

ContainerHandle join(const std::vector<ContainerHandle*>& parts) {
  std::vector<std::shared_ptr<const Container>> containers;
  for (const ContainerHandle* part : parts) containers.push_back(part->container);
  const GilReleased released;
  return {concat(std::move(containers))};
}

ContainerHandle take(const ContainerHandle& self, std::vector<uint64_t> indices) {
  const GilReleased released;
  return {subset(self.container, std::move(indices))};
}

ContainerHandle cut(const ContainerHandle& self, uint64_t begin, uint64_t count, int64_t step) {
  const GilReleased released;
  return {slice(self.container, begin, count, step)};
}

nb::typed<nb::dict, nb::str, ContainerHandle> split(
    const ContainerHandle& self, const std::vector<std::pair<std::string, double>>& fractions,
    uint64_t seed) {
  std::vector<std::pair<std::string, ContainerHandle>> parts;
  {
    const GilReleased released;
    for (auto& [name, indices] : split_indices(self.container->size(), fractions, seed)) {
      parts.push_back({name, {subset(self.container, std::move(indices))}});
    }
  }
  nb::dict result;
  for (const auto& [name, part] : parts) result[nb::str(name.data(), name.size())] = nb::cast(part);
  return result;
}

std::unique_ptr<Record> read(const ContainerHandle& self, uint64_t i) {
  const PythonTurns turns;
  return turns.run_short([turns, container = self.container, i] {
    auto record = std::make_unique<Record>(container);
    read_sample(*container, i, record->framed, record->sample,
                [&turns] { return turns.keep_going(); });
    record->place = container->place(i);
    return record;
  });
}

ListOf<TupleOf<nb::str, nb::str, std::optional<nb::str>, ShapeTuple>> schema(
    const ContainerHandle& self) {
  nb::list fields;
  for (const FieldSpec& field : self.container->schema().fields) {
    const bool tensor = field.kind == FieldKind::kTensor;
    fields.append(nb::make_tuple(field.name, fuelrail::name_of(field.kind),
                                 tensor ? nb::cast(fuelrail::name_of(field.dtype)) : nb::none(),
                                 nb::tuple(nb::cast(field.shape))));
  }
  return fields;
}

PlaceTuple place_tuple(const Place& place) {
  return nb::make_tuple(fs_text(place.path), place.record, place.offset);
}

template <typename T>
T load(Bytes bytes) {
  T value;
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

bool has_scalar(DType dtype) { return dtype != DType::kFloat16 && dtype != DType::kBfloat16; }

// Requires: has_scalar(dtype).
nb::object scalar(Bytes bytes, DType dtype) {
  switch (dtype) {
    case DType::kBool:
      return nb::bool_(load<uint8_t>(bytes) != 0);
    case DType::kUint8:
      return nb::int_(load<uint8_t>(bytes));
    case DType::kInt8:
      return nb::int_(load<int8_t>(bytes));
    case DType::kUint16:
      return nb::int_(load<uint16_t>(bytes));
    case DType::kInt16:
      return nb::int_(load<int16_t>(bytes));
    case DType::kUint32:
      return nb::int_(load<uint32_t>(bytes));
    case DType::kInt32:
      return nb::int_(load<int32_t>(bytes));
    case DType::kUint64:
      return nb::int_(load<uint64_t>(bytes));
    case DType::kInt64:
      return nb::int_(load<int64_t>(bytes));
    case DType::kFloat32:
      return nb::float_(load<float>(bytes));
    case DType::kFloat64:
      return nb::float_(load<double>(bytes));
    case DType::kFloat16:
    case DType::kBfloat16:
      break;
  }
  return nb::none();
}

// Copies, because the record's bytes may be unaligned and the user may write to the array.
Array array_of(Bytes bytes, DType dtype, const std::vector<int64_t>& shape) {
  auto memory = std::make_shared<std::vector<std::byte>>(bytes.begin(), bytes.end());
  std::byte* const data = memory->data();
  return {std::move(memory), data, dtype, shape};
}

// An image, text or bytes.
nb::object unstructured(Bytes bytes, FieldKind kind) {
  if (kind != FieldKind::kText) return nb::bytes(bytes.data(), bytes.size());
  const std::string_view text = as_text(bytes);
  return nb::str(text.data(), text.size());
}

Any value(const Record& self, const std::string& name) {
  const Schema& schema = self.container->schema();
  const size_t index = schema.index_of(name);
  const FieldSpec& spec = schema.fields[index];
  const FieldValue& field = self.sample.fields[index];
  if (spec.has(kListField)) {
    nb::list items;
    for (const Bytes item : field.items) items.append(unstructured(item, spec.kind));
    return items;
  }
  if (spec.kind != FieldKind::kTensor) return unstructured(field.bytes, spec.kind);
  if (spec.shape.empty() && has_scalar(spec.dtype)) return scalar(field.bytes, spec.dtype);
  const bool ragged = std::find(spec.shape.begin(), spec.shape.end(), -1) != spec.shape.end();
  return nb::cast(array_of(field.bytes, spec.dtype, ragged ? field.shape : spec.shape));
}

}  // namespace

void bind_container(nb::module_& module) {
  module.attr("DEFAULT_MAX_RECORD_BYTES") = kDefaultMaxRecordBytes;
  nb::class_<Record>(module, "Record", "A record that was read from a file and checked.")
      .def("value", value, nb::arg("field"),
           "Returns the value of a field. The value is a bytes object if the field is an encoded "
           "image or raw bytes, a number if it is a scalar, and otherwise an Array.")
      .def_prop_ro("id", [](const Record& self) { return self.sample.id; })
      .def_prop_ro(
          "place", [](const Record& self) { return place_tuple(self.place); },
          "Path of the record's file, and the record's index and byte offset in the file.");

  nb::class_<ContainerHandle>(module, "Container", "A sequence of records from one or more files.")
      .def("__len__", [](const ContainerHandle& self) { return self.container->size(); })
      .def("read", read, nb::arg("index"), "Reads and checks the record at `index`.")
      .def(
          "place",
          [](const ContainerHandle& self, uint64_t i) {
            return place_tuple(self.container->place(i));
          },
          nb::arg("index"))
      .def("slice", cut, nb::arg("begin"), nb::arg("count"), nb::arg("step"))
      .def("subset", take, nb::arg("indices"))
      .def("split", split, nb::arg("fractions"), nb::arg("seed"))
      .def_prop_ro(
          "schema", schema,
          "Name, kind, dtype and shape of each field. Only tensors have a dtype and a shape.")
      .def_prop_ro(
          "fields", [](const ContainerHandle& self) { return fields_of(self.container->schema()); },
          "Name, kind, dtype (None: not a tensor), shape, role (\"\": none), of, rows, flags and "
          "detail of each field. `of` and `rows` are numbers of fields, or None.")
      .def(
          "classes_of",
          [](const ContainerHandle& self, const std::string& field) {
            return fs_texts(self.container->classes_of(field));
          },
          nb::arg("field"), "The class names of a label field; empty if there are none.")
      .def_prop_ro("classes",
                   [](const ContainerHandle& self) { return fs_texts(self.container->classes()); })
      .def("check_classes", check_classes, nb::arg("classes"))
      .def_prop_ro("fingerprint",
                   [](const ContainerHandle& self) {
                     const PythonTurns turns;
                     return turns.run([turns, container = self.container] {
                       return to_string(container->fingerprint([&] { return turns.keep_going(); }));
                     });
                   })
      .def_prop_ro("verifies_checksums", [](const ContainerHandle& self) {
        return self.container->verifies_checksums();
      });

  module.def("open_container", open, nb::arg("uri"), nb::arg("warnings"), nb::arg("schema") = "",
             nb::arg("root").sig("b''") = nb::bytes(""), nb::arg("track") = "",
             nb::arg("split") = "", nb::arg("ignore_sidecar") = false,
             nb::arg("classes") = nb::list());
  module.def("read_class_names", read_names, nb::arg("uri"), nb::arg("warnings"),
             "Returns the class names in a packed file, a folder or a text file.");
  module.def("concat", join, nb::arg("parts"),
             "Returns a container with the records of all `parts`, in order.");
}

}  // namespace fuelrail::python
