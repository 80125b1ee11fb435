// What the files of the extension module share: one `bind_*` function a module of the core, and the
// conversions that more than one of them needs.
//
// Every call that reads, waits, decodes or checksums lets go of the GIL: look for `GilReleased` at
// the call.
#pragma once

#include <nanobind/nanobind.h>

#include <exception>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "fuelrail/base/bytes.h"
#include "fuelrail/base/dtype.h"
#include "fuelrail/container/container.h"

namespace fuelrail::python {

namespace nb = nanobind;

void bind_errors(nb::module_& module);
void bind_base(nb::module_& module);
void bind_arrays(nb::module_& module);
void bind_container(nb::module_& module);
void bind_cv(nb::module_& module);
void bind_decode(nb::module_& module);
void bind_ffrecord(nb::module_& module);
void bind_image(nb::module_& module);
void bind_lists(nb::module_& module);
void bind_recordio(nb::module_& module);
void bind_transform(nb::module_& module);
void bind_loader(nb::module_& module);
void bind_mxnet(nb::module_& module);
void bind_stats(nb::module_& module);  // called by bind_loader
void bind_pack(nb::module_& module);
void bind_split(nb::module_& module);
void bind_cli(nb::module_& module);

// CPython before 3.14 ends a daemon thread that wants the GIL once the interpreter is exiting by
// unwinding its stack, which C++ on that stack does not survive. So whatever takes the GIL, or runs
// Python code, which releases it now and then, goes by one of the following four: there such a
// thread sleeps until the process ends.

// While a GilReleased lives, this thread does not hold the GIL; while a GilTaken lives inside it,
// it does again.
class GilReleased {
 public:
  GilReleased();
  ~GilReleased();
  GilReleased(const GilReleased&) = delete;
  GilReleased& operator=(const GilReleased&) = delete;

 private:
  PyThreadState* const state_;
};
class GilTaken {
 public:
  GilTaken();
  ~GilTaken();
  GilTaken(const GilTaken&) = delete;
  GilTaken& operator=(const GilTaken&) = delete;

 private:
  PyGILState_STATE state_;
};

// `function(*arguments, **named)`. `named` is a dict, or null for none. Errors: nb::python_error.
nb::object call_python(nb::handle function, const nb::tuple& arguments, nb::handle named = {});
// Errors: nb::python_error.
nb::object import_module(const char* name);

// Python's turns in the middle of a long call of the core that runs without the GIL. What Python
// raises in one (KeyboardInterrupt, an error of a callback) is kept until the core has cleaned up.
class PythonTurns {
 public:
  // Runs signal handlers, then `function`. Returns: whether to go on.
  template <typename Function>
  bool take(Function function) {
    const GilTaken taken;
    try {
      if (PyErr_CheckSignals() != 0) throw nb::python_error();
      function();
      return true;
    } catch (nb::python_error&) {
      raised_ = std::current_exception();
      return false;
    }
  }

  // Calls `work` without the GIL; in place of its error comes what Python has raised.
  template <typename Work>
  void run(Work work) {
    try {
      const GilReleased released;
      work();
    } catch (...) {
      if (raised_) std::rethrow_exception(raised_);
      throw;
    }
  }

 private:
  std::exception_ptr raised_;
};

// A path or a name from the file system, as os.fsdecode gives it: bytes that are not UTF-8 become
// surrogates.
nb::str fs_text(const std::string& name);
// For people: bytes that are not UTF-8 become backslash escapes.
nb::str printable(const std::string& text);
// The other direction: the bytes that os.fsencode gives.
std::string fs_name(nb::handle text);
// Both of each.
nb::list fs_texts(const std::vector<std::string>& names);
std::vector<std::string> fs_names(const nb::list& texts);

// A dense array in memory that somebody owns; Python's view of a batch's column or of pixels.
// Lifetime: `data` lives as long as `owner`.
struct Array {
  std::shared_ptr<void> owner;
  std::byte* data = nullptr;
  DType dtype = DType::kUint8;
  std::vector<int64_t> shape;
};

// A container as Python holds it. Not bound as a shared_ptr: the core's threads must never hold a
// reference that only the GIL may let go.
struct ContainerHandle {
  std::shared_ptr<const Container> container;
};

// A record's bytes and what they mean. Lifetime: it owns all of it.
struct Record {
  explicit Record(std::shared_ptr<const Container> from) : container(std::move(from)) {}

  std::shared_ptr<const Container> container;
  std::vector<std::byte> framed;
  Sample sample;
  Place place;
};

}  // namespace fuelrail::python
