#include "option_values.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <type_traits>

namespace fuelrail::python {
namespace {

// The text of a number in an error. Python does not print very long numbers.
std::string shown(nb::handle number) {
  const nb::object text = nb::steal(PyObject_Repr(number.ptr()));
  if (text.is_valid() && nb::len(text) <= 80) return nb::cast<std::string>(text);
  PyErr_Clear();
  return "a number of more than 80 digits";
}

OptionValue whole_number(const OptionRule& rule, nb::handle value) {
  int64_t small = 0;
  if (nb::try_cast(value, small)) return small;
  uint64_t large = 0;
  if (nb::try_cast(value, large)) return large;
  rule.refuse(shown(value), true);
}

}  // namespace

nb::object python_value(const OptionValue& value) {
  return std::visit(
      [](const auto& given) -> nb::object {
        using Value = std::remove_cvref_t<decltype(given)>;
        if constexpr (std::is_same_v<Value, std::monostate>) {
          return nb::none();
        } else if constexpr (std::is_same_v<Value, std::string>) {
          return fs_text(given);
        } else {
          return nb::cast(given);
        }
      },
      value);
}

OptionValue option_value(const OptionRule& rule, nb::handle value) {
  if (value.is_none()) return {};
  if (nb::isinstance<nb::bool_>(value)) return nb::cast<bool>(value);
  if (nb::isinstance<nb::int_>(value)) return whole_number(rule, value);
  if (nb::isinstance<nb::float_>(value)) return nb::cast<double>(value);
  if (nb::isinstance<nb::str>(value)) return fs_name(value);
  if (rule.kind == "ints" || rule.kind == "shape") {
    std::vector<int64_t> numbers;
    if (!nb::try_cast(value, numbers)) rule.refuse(shown(value));
    return numbers;
  }
  return nb::cast<std::vector<double>>(value);
}

}  // namespace fuelrail::python
