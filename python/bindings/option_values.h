// Gives Python access to the core's tables of options (base/option.h).
#pragma once

#include <nanobind/nanobind.h>

#include "bindings.h"
#include "fuelrail/base/option.h"

namespace fuelrail::python {

// Values by the options' names.
using OptionValues = nb::typed<nb::dict, nb::str, nb::any>;
// (name, kind, default, bounds, meaning) of each option.
using OptionRows = ListOf<TupleOf<nb::str, nb::str, nb::any, nb::str, nb::str>>;

nb::object python_value(const OptionValue& value);
// Requires: `value` has the rule's kind. Errors: InvalidArgumentError for an integer that does not
// fit in 64 bits.
OptionValue option_value(const OptionRule& rule, nb::handle value);

template <typename Options>
OptionRows option_rows(const OptionTable<Options>& table, const Options& defaults = {}) {
  OptionRows rows;
  for (const Option<Options>& one : table.rows()) {
    rows.append(nb::make_tuple(one.rule.name, one.rule.kind, python_value(one.get(defaults)),
                               one.rule.bounds, one.rule.meaning));
  }
  return rows;
}

// Sets the options that `values` contains. Requires: each value has its row's kind. Errors:
// InvalidArgumentError for a value out of bounds.
template <typename Options>
void set_options(Options& options, const OptionTable<Options>& table, const nb::dict& values) {
  for (const Option<Options>& one : table.rows()) {
    const char* const name = one.rule.name.c_str();
    if (values.contains(name)) table.set(options, one, option_value(one.rule, values[name]));
  }
}

}  // namespace fuelrail::python
