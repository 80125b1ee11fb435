// What the files of the extension module share: one `bind_*` function a module of the core, and the
// conversions that more than one of them needs.
//
// Every call that reads, waits, decodes or checksums lets go of the GIL: look for `GilReleased` at
// the call.
#pragma once

#include <nanobind/nanobind.h>

#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "fuelrail/base/bytes.h"
#include "fuelrail/base/dtype.h"
#include "fuelrail/base/errand.h"
#include "fuelrail/base/image_view.h"
#include "fuelrail/container/container.h"
#include "fuelrail/storage/at_hand.h"

namespace fuelrail::python {

namespace nb = nanobind;

// Types that say more than nb::list and the like: nanobind prints them in signatures.
template <typename Element>
using ListOf = nb::typed<nb::list, Element>;
template <typename... Elements>
using TupleOf = nb::typed<nb::tuple, Elements...>;
using Any = nb::typed<nb::object, nb::any>;
using Strings = ListOf<nb::str>;
using ShapeTuple = TupleOf<int64_t, nb::ellipsis>;
using PlaceTuple = TupleOf<nb::str, uint64_t, uint64_t>;  // path, record in that file, byte offset

void bind_errors(nb::module_& module);
void bind_base(nb::module_& module);
void bind_arrays(nb::module_& module);
void bind_container(nb::module_& module);
void bind_cv(nb::module_& module);
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
  GilReleased& operator=(GilReleased&&) = delete;

 private:
  PyThreadState* const state_;
};
class GilTaken {
 public:
  GilTaken();
  ~GilTaken();
  GilTaken& operator=(GilTaken&&) = delete;

 private:
  PyGILState_STATE state_;
};

// `function(*arguments, **named)`. `named` is a dict, or null for none. Errors: nb::python_error.
nb::object call_python(nb::handle function, const nb::tuple& arguments, nb::handle named = {});
// Errors: nb::python_error.
nb::object import_module(const char* name);

// A call of the core that may take long, or wait for storage; it runs without the GIL, and Python
// gets its turns meanwhile. Copies are the same call.
//
// On the main thread, which alone hears signals, the call is an Errand: where a handler raises
// (Ctrl-C does), the work is told, and has Errand::kPatience to clean up before it is left behind.
// So Ctrl-C ends any call within a second, whatever storage does; the work owns all that it uses,
// and touches no Python once it is left. On other threads the work runs on the caller's.
class PythonTurns {
 public:
  // For the work, in its midst, on any thread: whether to go on.
  bool keep_going() const { return errand_.is_wanted(); }

  // For the work, likewise: runs signal handlers, then `function`, with the GIL, on the caller's
  // thread. Returns: whether to go on. What Python raises there is kept until the work has ended.
  template <typename Function>
  bool take(Function function) const {
    return errand_.ask([&] { return take_turn(function); });
  }

  // Returns: what `work` returns. Requires: the work owns all that it uses; neither that nor what
  // it returns may be of Python, but for `shared_object`s. Errors: what Python has raised, in place
  // of the work's.
  template <typename Work>
  std::invoke_result_t<Work> run(Work work) const {
    using Result = std::invoke_result_t<Work>;
    if constexpr (std::is_void_v<Result>) {
      run_work(std::move(work));
    } else {
      const auto result = std::make_shared<std::optional<Result>>();
      run_work([result, work = std::move(work)] { result->emplace(work()); });
      return *std::move(*result);
    }
  }

  // The same for short work that can be done again: on this thread, as long as it finds at hand
  // what it reads.
  template <typename Work>
  std::invoke_result_t<Work> run_short(Work work) const {
    if (hears_signals()) {
      const GilReleased released;
      const OnlyAtHand at_hand;
      try {
        return work();
      } catch (const WouldWait&) {
      }
    }
    return run(std::move(work));
  }

 private:
  static bool hears_signals();
  bool take_turn(const std::function<void()>& function) const;
  void run_work(std::function<void()> work) const;

  Errand errand_;
  // The caller's: taken from it before the work can be left behind with it.
  const std::shared_ptr<std::exception_ptr> raised_ = std::make_shared<std::exception_ptr>();
};

// A Python object that the core's threads may hold and release: its last reference goes with the
// GIL held.
std::shared_ptr<nb::object> shared_object(nb::object object);

// A path or a name from the file system, as os.fsdecode gives it: bytes that are not UTF-8 become
// surrogates.
nb::str fs_text(const std::string& name);
// For people: bytes that are not UTF-8 become backslash escapes.
nb::str printable(const std::string& text);
// The other direction: the bytes that os.fsencode gives.
std::string fs_name(nb::handle text);
// Both of each.
Strings fs_texts(const std::vector<std::string>& names);
std::vector<std::string> fs_names(const nb::list& texts);

// A dense array in memory that somebody owns; Python's view of a batch's column or of pixels.
// Lifetime: `data` lives as long as `owner`.
struct Array {
  std::shared_ptr<void> owner;
  std::byte* data = nullptr;
  DType dtype = DType::kUint8;
  std::vector<int64_t> shape;
};

// Returns: an array in memory of its own, which is not zeroed.
Array make_array(DType dtype, std::vector<int64_t> shape);

// An array of uint8, (height, width, channels), and the core's view of it.
struct NewImage {
  Array array;
  ImageView view;
};
NewImage make_image(Size size, int64_t channels);

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
