#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "bindings.h"
#include "core_handle.h"
#include "fuelrail/mxnet/record_iter.h"
#include "option_values.h"
#include "warnings.h"

namespace fuelrail::python {
namespace {

using Options = mxnet::RecordIterOptions;

Options default_options(bool detection) {
  Options options;
  if (detection) {
    options.detection.emplace();
    options.output.std = {0, 0, 0, 0};
  }
  return options;
}

Options options_of(const nb::dict& values, bool detection) {
  Options options = default_options(detection);
  set_options(options, Options::table(detection), values);
  return options;
}

// --- The iterator ---

class RecordIterHandle : public CoreHandle<mxnet::ImageRecordIter> {
 public:
  RecordIterHandle(const OptionValues& values, bool detection, Strings warnings)
      : CoreHandle("the iterator") {
    Options options = options_of(values, detection);
    const PythonTurns turns;
    const WarningsInto warned(std::move(warnings));
    const OpenOptions open{.warn = warned.warn(),
                           .keep_going = [turns] { return turns.keep_going(); }};
    core_ = turns.run([options = std::move(options), open] {
      return std::make_shared<mxnet::ImageRecordIter>(options, open);
    });
  }

  // Appends (data, label, index, pad) to `taken`, like LoaderHandle::next. Returns: false at the
  // end of the epoch.
  bool next(ListOf<TupleOf<Array, Array, Array, size_t>> taken) {
    const auto next = next_batch(
        [this](std::chrono::milliseconds timeout) { return core_->next_for(timeout); }, [] {});
    if (!next) return false;
    const auto column = [&](const char* name) {
      return array_of(next->batch, next->batch.layout().index_of(name));
    };
    taken.append(nb::make_tuple(column("data"), column("label"), column("index"), next->pad));
    return true;
  }

  void reset() {
    calls_.call([this] { core_->reset(); });
  }
  // (dtype, shape) of a batch's column.
  TupleOf<nb::str, ShapeTuple> described(const std::string& name) const {
    const BatchLayout& layout = core_->layout();
    const ColumnSpec& spec = layout.columns()[layout.index_of(name)];
    nb::list shape;
    shape.append(layout.rows());
    for (const int64_t extent : spec.row_shape) shape.append(extent);
    return nb::make_tuple(name_of(spec.dtype), nb::tuple(shape));
  }
  uint64_t records() const { return core_->records(); }
};

}  // namespace

void bind_mxnet(nb::module_& module) {
  module.def(
      "record_parameters",
      [](bool detection) {
        return option_rows(Options::table(detection), default_options(detection));
      },
      nb::arg("detection"),
      "Returns a tuple (name, kind, default, bounds, meaning) for each parameter of "
      "ImageDetRecordIter if `detection` is True, otherwise of ImageRecordIter.");
  nb::class_<RecordIterHandle>(module, "RecordIter")
      .def(nb::init<const OptionValues&, bool, Strings>(), nb::arg("values"), nb::arg("detection"),
           nb::arg("warnings"))
      .def("next", &RecordIterHandle::next, nb::arg("taken"),
           "Appends the next batch, a tuple (data, label, index, pad), to the list `taken`. "
           "Returns False at the end of the epoch.")
      .def("reset", &RecordIterHandle::reset)
      .def("described", &RecordIterHandle::described, nb::arg("name"),
           "Returns the dtype and the shape of the batch column `name`.")
      .def_prop_ro("records", &RecordIterHandle::records,
                   "Number of records in the part of the data that this iterator reads.")
      .def("stats", &RecordIterHandle::stats)
      .def("stop", &RecordIterHandle::stop);
}

}  // namespace fuelrail::python
