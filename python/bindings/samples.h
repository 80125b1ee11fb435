// Schemas of samples as Python objects, and DLPack's element types.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <optional>

#include "bindings.h"
#include "fuelrail/container/sample.h"

namespace fuelrail::python {

// Name, kind, dtype (None: not a tensor), shape, role ("" = none), of, rows, flags, detail.
using FieldTuples =
    ListOf<TupleOf<nb::str, nb::str, std::optional<nb::str>, ShapeTuple, nb::str,
                   std::optional<int64_t>, std::optional<int64_t>, int64_t, int64_t>>;

FieldTuples fields_of(const Schema& schema);
// The inverse. Errors: InvalidArgumentError for an unknown kind, dtype or role; TypeError.
Schema schema_of_fields(const FieldTuples& fields);

nb::dlpack::dtype dlpack_type(DType dtype);

}  // namespace fuelrail::python
