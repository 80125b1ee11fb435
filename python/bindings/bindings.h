// Declarations that the files of the extension module share: one `bind_*` function for each module
// of the core, and common conversions.
//
// Every call that reads, waits, decodes or computes checksums releases the GIL, by `GilReleased` at
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

// Types more precise than nb::list and similar, for the signatures that nanobind prints.
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
void bind_benzina(nb::module_& module);
void bind_container(nb::module_& module);
void bind_cv(nb::module_& module);
void bind_draw(nb::module_& module);  // called by bind_transform
void bind_ffrecord(nb::module_& module);
void bind_image(nb::module_& module);
void bind_lists(nb::module_& module);
void bind_recordio(nb::module_& module);
void bind_transform(nb::module_& module);
void bind_loader(nb::module_& module);
void bind_made(nb::module_& module);
void bind_mxnet(nb::module_& module);
void bind_stats(nb::module_& module);  // called by bind_loader
void bind_pack(nb::module_& module);
void bind_split(nb::module_& module);
void bind_cli(nb::module_& module);

// If a daemon thread requests the GIL while the interpreter is exiting, CPython before 3.14 unwinds
// its stack, which crashes if C++ frames are on it. So code that takes the GIL, or that runs Python
// code (which may release the GIL), must use one of the following two classes and two functions. In
// them, such a thread sleeps until the process ends.

// While a GilReleased exists, this thread does not hold the GIL; while a GilTaken exists inside it,
// the thread holds it again.
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

// While it exists, Python keeps the state of this thread, so that a GilTaken need not create one.
// Requires: the thread that created it destroys it.
class ThreadState {
 public:
  ThreadState();
  ~ThreadState();
  ThreadState& operator=(ThreadState&&) = delete;

 private:
  PyGILState_STATE state_;
};

// Calls `function(*arguments, **named)`. `named` is a dict or null. Errors: nb::python_error.
nb::object call_python(nb::handle function, const nb::tuple& arguments, nb::handle named = {});
// Errors: nb::python_error.
nb::object import_module(const char* name);

// A call of the core that may take long or wait for storage. It runs without the GIL, and Python's
// signal handlers run while it waits. Copies of the object refer to the same call.
//
// On the main thread, the only one that handles signals, the call is an Errand: if a handler raises
// an exception (Ctrl-C does), the work is cancelled and has Errand::kPatience to clean up before it
// is abandoned. So Ctrl-C ends any call within a second, even if storage hangs. The work owns all
// objects that it uses, and uses no Python after it is abandoned. On any other thread, the work
// runs on the calling thread.
class PythonTurns {
 public:
  // Called by the work, on any thread: whether to continue.
  bool keep_going() const { return errand_.is_wanted(); }

  // Called by the work, on any thread: runs signal handlers and then `function`, with the GIL, on
  // the thread that called `run`. Returns: whether to continue. Python exceptions raised there are
  // kept until the work has ended.
  template <typename Function>
  bool take(Function function) const {
    return errand_.ask([&] { return take_turn(function); });
  }

  // Returns: the result of `work`. Requires: the work owns all objects that it uses; they and its
  // result are not Python objects, except for `shared_object`s. Errors: the exception that Python
  // has raised, otherwise the exception of the work.
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

  // As `run`, for short work that can be repeated: runs it on this thread, and calls `run` only if
  // the bytes that it reads are not at hand (storage/at_hand.h).
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
  // The exception for the caller of `run`, which fetches it before the work can be abandoned.
  const std::shared_ptr<std::exception_ptr> raised_ = std::make_shared<std::exception_ptr>();
  // A signal handler has raised it, or Ctrl-C has.
  const std::shared_ptr<bool> interrupted_ = std::make_shared<bool>(false);
};

// A Python object that the core's threads may hold and release: the GIL is taken to release its
// last reference.
std::shared_ptr<nb::object> shared_object(nb::object object);

// Converts a path or a name from the file system like os.fsdecode: bytes that are not UTF-8 become
// surrogates.
nb::str fs_text(const std::string& name);
// Converts text for display: bytes that are not UTF-8 become backslash escapes.
nb::str printable(const std::string& text);
// The inverse of fs_text: the bytes that os.fsencode returns.
std::string fs_name(nb::handle text);
// fs_text and fs_name for each element.
Strings fs_texts(const std::vector<std::string>& names);
std::vector<std::string> fs_names(const nb::list& texts);

// A dense array in memory of the core: a batch's column, or pixels. Lifetime: `data` is valid as
// long as `owner` lives.
struct Array {
  std::shared_ptr<void> owner;
  std::byte* data = nullptr;
  DType dtype = DType::kUint8;
  std::vector<int64_t> shape;
};

// Returns: an array in new memory, which is not zeroed.
Array make_array(DType dtype, std::vector<int64_t> shape);

// A uint8 array of shape (height, width, channels), and the core's view of it.
struct NewImage {
  Array array;
  ImageView view;
};
NewImage make_image(Size size, int64_t channels);

// A container for Python. It is not bound as a shared_ptr, because the core's threads must never
// hold a reference that can only be released with the GIL.
struct ContainerHandle {
  std::shared_ptr<const Container> container;
};

// A record's bytes and the sample parsed from them. Lifetime: it owns both.
struct Record {
  explicit Record(std::shared_ptr<const Container> from) : container(std::move(from)) {}

  std::shared_ptr<const Container> container;
  std::vector<std::byte> framed;
  Sample sample;
  Place place;
};

}  // namespace fuelrail::python
