// Converts each C++ error type to its class in fuelrail/errors.py.
#include <fmt/format.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <new>
#include <optional>
#include <string>
#include <string_view>

#include "bindings.h"
#include "fuelrail/base/error.h"

namespace fuelrail::python {
namespace {

constexpr std::string_view kTraceback = "\nTraceback (most recent call last):\n";

// Text for an error: one line unless `lines` is true, and without NUL, at which `what` would end.
std::string message_text(nb::handle part, bool lines = false) {
  if (part.is_none()) return {};
  PyObject* encoded = PyUnicode_EncodeFSDefault(part.ptr());
  if (encoded == nullptr && PyErr_ExceptionMatches(PyExc_UnicodeEncodeError)) {
    PyErr_Clear();  // a surrogate that does not stand for a byte of a path
    encoded = PyUnicode_AsEncodedString(part.ptr(), "utf-8", "backslashreplace");
  }
  if (encoded == nullptr) throw nb::python_error();
  const nb::bytes bytes = nb::steal<nb::bytes>(encoded);
  std::string text;
  for (const char byte : std::string_view(bytes.c_str(), bytes.size())) {
    const auto code = static_cast<unsigned char>(byte);
    if ((code < 0x20 && !(lines && code == '\n')) || code == 0x7f) {
      text += fmt::format("\\x{:02x}", code);
    } else {
      text += byte;
    }
  }
  return text;
}

nb::object text_or_none(const std::string& text) {
  return text.empty() ? nb::none() : nb::object(fs_text(text));
}

nb::object number_or_none(std::optional<uint64_t> number) {
  return number ? nb::object(nb::int_(*number)) : nb::none();
}

// Sets the Python error. Looks the class up at each call, because fuelrail.errors imports this
// module.
void set_error(const char* class_name, const Error& error) {
  try {
    const ErrorDetail& detail = error.detail();
    const nb::object type = import_module("fuelrail.errors").attr(class_name);
    nb::dict parts;
    parts["path"] = text_or_none(detail.path);
    parts["record"] = number_or_none(detail.record);
    parts["field"] = text_or_none(detail.field);
    parts["offset"] = number_or_none(detail.offset);
    parts["expected"] = text_or_none(detail.expected);
    parts["found"] = text_or_none(detail.found);
    parts["remedy"] = text_or_none(detail.remedy);
    const nb::object value = call_python(type, nb::make_tuple(fs_text(error.failure())), parts);
    PyErr_SetObject(type.ptr(), value.ptr());
  } catch (nb::python_error& failed) {
    failed.restore();
  }
}

void translate(const std::exception_ptr& thrown, void*) {
  try {
    std::rethrow_exception(thrown);
  } catch (const InvalidArgumentError& error) {
    set_error("InvalidArgumentError", error);
  } catch (const OutOfRangeError& error) {
    set_error("OutOfRangeError", error);
  } catch (const NotFoundError& error) {
    set_error("NotFoundError", error);
  } catch (const IoError& error) {
    set_error("IoError", error);
  } catch (const TruncatedError& error) {
    set_error("TruncatedError", error);
  } catch (const CorruptError& error) {
    set_error("CorruptError", error);
  } catch (const DecodeError& error) {
    set_error("DecodeError", error);
  } catch (const UnsupportedError& error) {
    set_error("UnsupportedError", error);
  } catch (const OutOfMemoryError& error) {
    set_error("OutOfMemoryError", error);
  } catch (const StateError& error) {
    set_error("StateError", error);
  } catch (const StallError& error) {
    set_error("StallError", error);
  } catch (const TooManyBadRecordsError& error) {
    set_error("TooManyBadRecordsError", error);
  } catch (const Error& error) {
    set_error("Error", error);
  } catch (const std::bad_alloc&) {
    set_error("OutOfMemoryError", OutOfMemoryError("there is not enough memory"));
  }
}

using Text = nb::typed<nb::handle, nb::str>;  // or None

// Composes an error's text, for both languages. Paths have surrogates; the text, which is meant for
// printing, has replacement marks instead. Lines are kept of a traceback in `failure`, and if only
// `failure` is given, which may be the whole text of an error of another process (torch's
// DataLoader).
nb::str compose(nb::str failure, Text path, std::optional<uint64_t> record, Text field,
                std::optional<uint64_t> offset, Text expected, Text found, Text remedy) {
  const bool alone = path.is_none() && !record && field.is_none() && !offset &&
                     expected.is_none() && found.is_none() && remedy.is_none();
  const bool has_traceback = message_text(failure, true).find(kTraceback) != std::string::npos;
  const Error error(message_text(failure, alone || has_traceback),
                    {.path = message_text(path),
                     .record = record,
                     .field = message_text(field),
                     .offset = offset,
                     .expected = message_text(expected),
                     .found = message_text(found),
                     .remedy = message_text(remedy)});
  return printable(error.what());
}

}  // namespace

void bind_errors(nb::module_& module) {
  nb::register_exception_translator(translate);
  module.def("compose_error", compose, nb::arg("failure"), nb::arg("path").none(),
             nb::arg("record").none(), nb::arg("field").none(), nb::arg("offset").none(),
             nb::arg("expected").none(), nb::arg("found").none(), nb::arg("remedy").none());
}

}  // namespace fuelrail::python
