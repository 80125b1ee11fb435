#include <nanobind/nanobind.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "bindings.h"
#include "fuelrail/base/error.h"
#include "fuelrail/mxnet/record_iter.h"
#include "native_handle.h"
#include "option_values.h"
#include "warnings.h"

namespace fuelrail::python {
namespace {

// How long a wait goes on before Python's signal handlers get their turn.
constexpr std::chrono::milliseconds kRecordPoll(50);

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

class RecordIterHandle {
 public:
  RecordIterHandle(const OptionValues& values, bool detection, Strings warnings) {
    Options options = options_of(values, detection);
    const PythonTurns turns;
    const WarningsInto warned(std::move(warnings));
    const OpenOptions open{.warn = warned.warn(),
                           .keep_going = [turns] { return turns.keep_going(); }};
    iterator_ = turns.run([options = std::move(options), open] {
      return std::make_shared<mxnet::ImageRecordIter>(options, open);
    });
  }
  ~RecordIterHandle() {
    stop();
    if (calls_.torn()) new std::shared_ptr(std::move(iterator_));  // its locks are held for ever
  }
  RecordIterHandle(const RecordIterHandle&) = delete;
  RecordIterHandle& operator=(const RecordIterHandle&) = delete;

  // Appends (data, label, index, pad) to `taken`, as LoaderHandle::next does. Returns: false at the
  // end of the epoch.
  bool next(ListOf<TupleOf<Array, Array, Array, size_t>> taken) {
    calls_.check_process();
    calls_.start();
    for (;;) {
      const mxnet::ImageRecordIter::Next next =
          calls_.call([this] { return iterator_->next_for(kRecordPoll); });
      if (next.status == Engine::Status::kEndOfEpoch) return false;
      if (next.status == Engine::Status::kBatch) {
        const Batch& batch = next.batch->batch;
        taken.append(nb::make_tuple(column(batch, "data"), column(batch, "label"),
                                    column(batch, "index"), next.batch->pad));
        return true;
      }
      if (PyErr_CheckSignals() != 0) throw nb::python_error();
    }
  }

  void reset() {
    calls_.call([this] { iterator_->reset(); });
  }
  // (dtype, shape) of a batch's column.
  TupleOf<nb::str, ShapeTuple> described(const std::string& name) const {
    const BatchLayout& layout = iterator_->layout();
    const ColumnSpec& spec = layout.columns()[layout.index_of(name)];
    nb::list shape;
    shape.append(layout.rows());
    for (const int64_t extent : spec.row_shape) shape.append(extent);
    return nb::make_tuple(name_of(spec.dtype), nb::tuple(shape));
  }
  uint64_t records() const { return iterator_->records(); }
  Stats stats() {
    return calls_.call([this] { return iterator_->stats(); });
  }

  // Does not wait for a call in another thread: it ends that call. In a forked child there is
  // nothing to stop: the threads are the parent's.
  void stop() {
    calls_.notice_fork();
    if (calls_.foreign() || calls_.torn() || !iterator_) return;
    const GilReleased released;
    calls_.stop(iterator_);
  }

 private:
  static Array column(const Batch& batch, const char* name) {
    const size_t index = batch.layout().index_of(name);
    return {batch.owner(), batch.column(index), batch.layout().columns()[index].dtype,
            batch.shape(index)};
  }

  NativeCalls calls_{"the iterator"};
  std::shared_ptr<mxnet::ImageRecordIter> iterator_;
};

}  // namespace

void bind_mxnet(nb::module_& module) {
  module.def(
      "record_parameters",
      [](bool detection) {
        return option_rows(Options::table(detection), default_options(detection));
      },
      nb::arg("detection"),
      "Name, kind and default of each parameter of MXNet's record iterators.");
  nb::class_<RecordIterHandle>(module, "RecordIter")
      .def(nb::init<const OptionValues&, bool, Strings>(), nb::arg("values"), nb::arg("detection"),
           nb::arg("warnings"))
      .def("next", &RecordIterHandle::next, nb::arg("taken"),
           "Appends data, label, index and pad to `taken`; False at the end of the epoch.")
      .def("reset", &RecordIterHandle::reset)
      .def("described", &RecordIterHandle::described, nb::arg("name"),
           "Element type and shape of a batch's column.")
      .def_prop_ro("records", &RecordIterHandle::records, "Records of the part.")
      .def("stats", &RecordIterHandle::stats)
      .def("stop", &RecordIterHandle::stop);
}

}  // namespace fuelrail::python
