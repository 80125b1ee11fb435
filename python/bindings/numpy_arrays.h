// Arrays of bytes by NumPy's own C interface, for records that come by the hundred thousand: one
// costs a tenth of what it does by nanobind. Everything else that is an array goes by arrays.h.
//
// The GIL is held. Errors: whatever NumPy raises, as nb::python_error.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>

#include "fuelrail/base/bytes.h"

namespace fuelrail::python {

namespace nb = nanobind;

// Once before the others, in any thread: NumPy is imported when it is first needed.
void import_numpy();

// Returns: an array of uint8, (size,), not zeroed; `bytes` is its memory.
nb::object new_array(size_t size, MutableBytes& bytes);

// Returns: a writable array of uint8, (bytes.size(),), of memory that `owner` keeps.
nb::object array_of(MutableBytes bytes, nb::object owner);

}  // namespace fuelrail::python
