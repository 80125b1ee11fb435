#include "numpy_arrays.h"

#include "bindings.h"

#define NPY_NO_DEPRECATED_API NPY_1_7_API_VERSION
#include <numpy/arrayobject.h>

namespace fuelrail::python {
namespace {

PyArrayObject* as_array(const nb::object& object) {
  return reinterpret_cast<PyArrayObject*>(object.ptr());
}

nb::object checked(PyObject* array) {
  if (array == nullptr) throw nb::python_error();
  return nb::steal(array);
}

}  // namespace

void import_numpy() {
  static_cast<void>(import_module("numpy"));  // runs NumPy's Python code; the rest runs none
  if (PyArray_ImportNumPyAPI() < 0) throw nb::python_error();
}

nb::object new_array(size_t size, MutableBytes& bytes) {
  npy_intp shape = static_cast<npy_intp>(size);
  nb::object array = checked(PyArray_SimpleNew(1, &shape, NPY_UINT8));
  bytes = MutableBytes(static_cast<std::byte*>(PyArray_DATA(as_array(array))), size);
  return array;
}

nb::object array_of(MutableBytes bytes, nb::object owner) {
  npy_intp shape = static_cast<npy_intp>(bytes.size());
  nb::object array = checked(PyArray_SimpleNewFromData(1, &shape, NPY_UINT8, bytes.data()));
  if (PyArray_SetBaseObject(as_array(array), owner.release().ptr()) < 0) throw nb::python_error();
  return array;
}

}  // namespace fuelrail::python
