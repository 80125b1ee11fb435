// Arrays of bytes through NumPy's C interface, for hundreds of thousands of records: creating one
// takes a tenth of the time that nanobind takes. All other arrays use arrays.cc.
//
// Requires: the caller holds the GIL. Errors: those of NumPy, as nb::python_error.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>

#include "fuelrail/base/bytes.h"

namespace fuelrail::python {

namespace nb = nanobind;

// Imports NumPy. Must be called once, in any thread, before the other functions.
void import_numpy();

// Returns: a uint8 array of shape (size,), not zeroed. `bytes` is set to its memory.
nb::object new_array(size_t size, MutableBytes& bytes);

// Returns: a writable uint8 array of shape (bytes.size(),) over memory that `owner` keeps alive.
nb::object array_of(MutableBytes bytes, nb::object owner);

}  // namespace fuelrail::python
