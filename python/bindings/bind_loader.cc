#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>

#include "bindings.h"
#include "core_handle.h"
#include "fuelrail/base/error.h"
#include "fuelrail/benzina/still_work.h"
#include "fuelrail/loader/loader.h"
#include "fuelrail/sampler/feed.h"
#include "option_values.h"
#include "warnings.h"

namespace fuelrail::python {
namespace {

// The parameters of stills, one row for each sample.
using StillRows =
    nb::ndarray<const float, nb::shape<-1, kStillParameters>, nb::c_contig, nb::device::cpu>;

// A loader that any Python thread may call, while the core's loader allows one caller at a time. An
// iterator holds the number of its turn; a new iterator, or any call that sets the loader's
// position, ends that turn.
//
// If a user's sampler defines the order, the Python thread that requests a batch first passes
// batches of indices to `feed`. So no Python code runs on the core's threads, and they never wait
// for the GIL.
class LoaderHandle : public CoreHandle<Loader> {
 public:
  // Set for an order that the caller feeds one batch at a time; empty if `options` determines the
  // order.
  using Position = std::optional<FedSampler::Position>;
  using Column = std::variant<Array, ListOf<nb::any>>;
  LoaderHandle(const ContainerHandle& data, LoaderOptions options, ImageOptions images,
               Position fed)
      : CoreHandle("the loader") {
    core_ = std::make_shared<Loader>(
        data.container, completed(std::move(options), *data.container, fed), std::move(images));
    if (!fed) size_ = core_->size();
  }
  // A loader of warped stills. The caller feeds the order, and with `add_rows` the parameters.
  LoaderHandle(const ContainerHandle& data, LoaderOptions options,
               const benzina::StillWorkOptions& stills)
      : CoreHandle("the loader") {
    core_ = std::make_shared<Loader>(
        data.container,
        completed(std::move(options), *data.container, FedSampler::Position::kCounted),
        benzina::still_work(data.container, rows_, stills));
  }
  ~LoaderHandle() { stop(); }

  // Begins the next epoch and a new turn; returns the turn's number.
  uint64_t begin() {
    return call([this] {
      core_->next_epoch();
      return begin_turn();
    });
  }

  // Appends the next batch's columns, in the order of `fields`, to `taken`. They are not returned,
  // because Python may raise a signal's exception as soon as a call returns, which loses the
  // result. Returns: false at the end of the epoch.
  bool next(uint64_t turn, ListOf<TupleOf<Column, nb::ellipsis>> taken) {
    const auto begun = std::chrono::steady_clock::now();
    const std::optional<Batch> batch = next_batch(
        [this, turn](std::chrono::milliseconds timeout) { return take(turn, timeout); },
        [this, begun] {
          const std::chrono::duration<double> waited = std::chrono::steady_clock::now() - begun;
          const std::optional<double> most = core_->options().stall_timeout;
          if (most && waited.count() >= *most) call([&] { core_->throw_stalled(*most); });
        });
    if (batch) taken.append(columns(*batch));
    return batch.has_value();
  }

  void set_epoch(uint32_t epoch) {
    call([this, epoch] {
      core_->set_epoch(epoch);
      begin_turn();
    });
  }
  std::string state() {
    look_at_data();
    return call([this] { return to_json(core_->state()); });
  }
  void restore(const std::string& json) {
    look_at_data();
    call([this, &json] {
      core_->restore(parse_state(json));
      begin_turn();
    });
  }
  // Whether the next result is the end of the epoch.
  bool at_end() {
    return call([this] { return core_->phase() == Engine::Phase::kEnd; });
  }
  uint64_t size() const { return size_; }
  // The name of each column of a batch, and whether its elements are images.
  ListOf<TupleOf<nb::str, bool>> column_names() const {
    nb::list names;
    for (const ColumnSpec& column : core_->layout().columns()) {
      names.append(nb::make_tuple(column.name, column.content == Content::kPixels));
      if (!column.joined()) continue;
      const char* const index = column.as == Ragged::kPad ? ".length" : ".offsets";
      names.append(nb::make_tuple(column.name + index, false));
    }
    return names;
  }
  uint64_t batches_left() {
    return call([this] { return core_->batches_left(); });
  }
  void reshard(uint32_t rank, uint32_t world_size) {
    call([this, shard = Shard{.rank = rank, .world_size = world_size}] {
      core_->reshard(shard);
      if (std::holds_alternative<OrderOptions>(core_->options().order)) {
        size_ = core_->size();
      }
    });
  }
  const char* life() const {
    if (!calls_.started()) return "not started";
    return calls_.foreign() ? "started in another process" : "started";
  }
  // The bad records from number `since` on.
  std::vector<BadRecord> bad_records(size_t since) {
    calls_.check_process();
    const GilReleased released;
    return core_->bad_records(since);
  }
  // The warnings since the last call.
  Strings warnings() {
    calls_.check_process();
    return said_->take();
  }
  // `feed` appends a batch to the order, `end_feed` ends the order. `reserve` allows batches of up
  // to `rows` rows; it discards the batches fed so far and increases `feeds`.
  void feed(std::vector<uint64_t> records, bool ends_epoch) {
    call([&] { current_feed()->push({std::move(records), ends_epoch}); });
  }
  void add_rows(uint64_t position, const StillRows& rows) {
    call([&] {
      rows_->remove_before(core_->progress().position);
      const auto* const first = reinterpret_cast<const StillParameters*>(rows.data());
      rows_->add(position, {first, first + rows.shape(0)});
    });
  }
  void end_feed() {
    call([this] { current_feed()->end(); });
  }
  void reserve(size_t rows) {
    call([this, rows] { core_->reserve(rows); });
  }
  // Increases when fed batches are discarded. The caller must then feed again from `progress`.
  uint64_t feeds() {
    return call([this] {
      const std::lock_guard lock(feed_mutex_);
      return feeds_;
    });
  }
  std::pair<uint32_t, uint64_t> progress() {
    return call([this] {
      const Progress at = core_->progress();
      return std::pair(at.epoch, at.position);
    });
  }

  void stop() {
    stop_after([this] {
      const std::lock_guard lock(feed_mutex_);
      stopped_ = true;
      if (feed_) feed_->close();  // the core's thread may wait for it
    });
  }

 private:
  template <typename Function>
  std::invoke_result_t<Function> call(Function function) {
    return calls_.call(std::move(function));
  }

  // Computes the data's fingerprint. For a folder, this has to inspect every file, so Python's
  // signal handlers run during it.
  void look_at_data() {
    calls_.check_process();
    const PythonTurns turns;
    turns.run([turns, loader = core_] {
      loader->container().fingerprint([&] { return turns.keep_going(); });
    });
  }

  // Warnings arise on the core's threads, where no Python runs, so they are kept here until Python
  // fetches them.
  LoaderOptions completed(LoaderOptions options, const Container& data, Position fed) {
    options.engine.warn = Warnings::into(said_);
    if (!fed) return options;
    const auto& order = std::get<OrderOptions>(options.order);
    const auto make = [this, records = data.size(), position = *fed](Progress start,
                                                                     const Shard& shard) {
      const std::shared_ptr<Feed> feed = begin_feed();
      return std::make_unique<FedSampler>(
          records, [feed] { return feed->pop(); }, start, position, shard);
    };
    options.order =
        FedOrder{.make = make, .rows = order.batch_size, .seed = order.seed, .shard = order.shard};
    return options;
  }

  std::shared_ptr<Feed> begin_feed() {
    const std::lock_guard lock(feed_mutex_);
    if (feed_) feed_->close();
    feed_ = std::make_shared<Feed>();
    if (stopped_) feed_->close();
    ++feeds_;
    return feed_;
  }

  std::shared_ptr<Feed> current_feed() {
    const std::lock_guard lock(feed_mutex_);
    return feed_;
  }

  uint64_t begin_turn() { return ++turn_; }

  Engine::Next take(uint64_t turn, std::chrono::milliseconds timeout) {
    if (turn != turn_) {
      throw StateError(
          "this iterator has expired, because a newer iterator was created or the loader's "
          "position was set",
          {.remedy = "Use one iterator of a loader at a time"});
    }
    if (core_->phase() == Engine::Phase::kOver) return {.status = Engine::Status::kEndOfEpoch};
    return core_->next_for(timeout);
  }

  static nb::object columns(const Batch& batch) {
    nb::list made;
    for (size_t i = 0; i < batch.layout().columns().size(); ++i) {
      const ColumnSpec& spec = batch.layout().columns()[i];
      if (spec.joined()) {
        append_joined(batch, i, made);
      } else if (spec.ragged()) {
        made.append(row_list(batch, i));
      } else {
        made.append(array_of(batch, i));
      }
    }
    return nb::tuple(made);
  }

  // The array of a joined column, and its lengths or offsets.
  static void append_joined(const Batch& batch, size_t index, nb::list made) {
    const ColumnSpec& spec = batch.layout().columns()[index];
    const JoinedRows& joined = batch.joined(index);
    made.append(Array{batch.owner(), joined.data, spec.dtype, batch.shape(index)});
    const auto rows = static_cast<int64_t>(batch.rows());
    std::vector<int64_t> shape{rows + 1};
    if (spec.as == Ragged::kPad) {
      shape = {rows, std::count(spec.row_shape.begin(), spec.row_shape.end(), -1)};
    }
    made.append(Array{batch.owner(), reinterpret_cast<std::byte*>(joined.index), DType::kInt64,
                      std::move(shape)});
  }

  // One item for each row of a ragged column; a list if the column is one of lists.
  static nb::list row_list(const Batch& batch, size_t index) {
    const ColumnSpec& spec = batch.layout().columns()[index];
    nb::list made;
    for (size_t row = 0; row < batch.rows(); ++row) {
      if (!spec.list) {
        made.append(value_of(batch, spec, batch.ragged_row(index, row)));
        continue;
      }
      nb::list items;
      for (const RaggedRow& item : batch.items(index, row)) {
        items.append(value_of(batch, spec, item));
      }
      made.append(items);
    }
    return made;
  }

  static nb::object value_of(const Batch& batch, const ColumnSpec& spec, const RaggedRow& row) {
    const auto* const bytes = reinterpret_cast<const char*>(row.data);
    const auto size = static_cast<size_t>(row.shape[0]);
    if (spec.content == Content::kBytes) return nb::bytes(bytes, size);
    if (spec.content == Content::kText) return nb::str(bytes, size);
    return nb::cast(
        Array{batch.owner(), row.data, spec.dtype, {row.shape.begin(), row.shape.end()}});
  }

  // Also held by the core's threads, which may be abandoned. Without stills, `rows_` stays empty.
  const std::shared_ptr<benzina::FedRows> rows_ = std::make_shared<benzina::FedRows>();
  const std::shared_ptr<Warnings> said_ = std::make_shared<Warnings>();

  std::mutex feed_mutex_;
  std::shared_ptr<Feed> feed_;
  uint64_t feeds_ = 0;
  bool stopped_ = false;

  std::atomic<uint64_t> size_ = 0;  // for a computed order; also read in forked children
  uint64_t turn_ = 0;
};

struct WeightsHandle {
  std::shared_ptr<const Weights> weights;
};

using Doubles = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

void make_weights(WeightsHandle* self, const Doubles& values) {
  const GilReleased released;
  new (self)
      WeightsHandle{std::make_shared<const Weights>(std::span(values.data(), values.shape(0)))};
}

// The options that Python passes to a loader by value.
struct Choices {
  LoaderOptions loader{};
  ImageOptions images{};
};

const OptionTable<Choices>& results() {
  static const auto table =
      OptionTable<Choices>()
          .part([](auto& of) -> auto& { return std::get<OrderOptions>(of.loader.order); },
                OrderOptions::table())
          .part(&Choices::images, ImageOptions::table())
          .part([](auto& of) -> auto& { return of.loader.errors; }, ErrorPolicy::table());
  return table;
}

const OptionTable<Choices>& speed() {
  static const auto table = OptionTable<Choices>().part(&Choices::loader, LoaderOptions::table());
  return table;
}

Choices choices_of(const nb::dict& values) {
  Choices choices;
  set_options(choices, results(), values);
  set_options(choices, speed(), values);
  check(choices.loader.errors);
  return choices;
}

// For each option, the values for patterns of field names.
using Patterns = nb::typed<nb::dict, nb::str, ListOf<TupleOf<nb::str, nb::str>>>;

template <typename Value>
ByPattern<Value> by_pattern(const Patterns& patterns, const char* option,
                            Value ImageOptions::*member) {
  ByPattern<Value> values;
  if (!patterns.contains(option)) return values;
  for (const nb::handle given : patterns[option]) {
    ImageOptions one;
    nb::dict named;
    named[option] = given[1];
    set_options(one, ImageOptions::table(), named);
    values.emplace_back(nb::cast<std::string>(given[0]), one.*member);
  }
  return values;
}

void make_loader(LoaderHandle* self, const ContainerHandle& data, const OptionValues& values,
                 const Shuffle& shuffle, const WeightsHandle* weights, const std::string& fed,
                 uint32_t rank, uint32_t world_size, Transforms transforms,
                 ByPattern<Transforms> transforms_of, const Patterns& patterns,
                 std::vector<std::vector<std::string>> shared, std::vector<std::string> fields) {
  Choices choices = choices_of(values);
  auto& order = std::get<OrderOptions>(choices.loader.order);
  order.shuffle = shuffle;
  order.shard = {.rank = rank, .world_size = world_size};
  if (weights != nullptr) order.weights = weights->weights;
  choices.images.transforms = std::move(transforms);
  choices.images.transforms_of = std::move(transforms_of);
  choices.images.dtype_of = by_pattern(patterns, "dtype", &ImageOptions::dtype);
  choices.images.layout_of = by_pattern(patterns, "layout", &ImageOptions::layout);
  choices.images.ragged_of = by_pattern(patterns, "ragged", &ImageOptions::ragged);
  choices.images.shared = std::move(shared);
  choices.images.fields = std::move(fields);
  LoaderHandle::Position position;
  if (fed == "record") position = FedSampler::Position::kRecord;
  if (fed == "counted") position = FedSampler::Position::kCounted;
  if (fed == "counted") order.batch_size = 1;  // until `reserve` raises it
  const GilReleased released;
  new (self) LoaderHandle(data, std::move(choices.loader), std::move(choices.images), position);
}

LoaderHandle* make_still_loader(const ContainerHandle& data, const OptionValues& values,
                                int64_t height, int64_t width, bool image_bounds, bool antialias) {
  LoaderOptions options = choices_of(values).loader;
  std::get<OrderOptions>(options.order).batch_size = 1;  // until `reserve` raises it
  const GilReleased released;
  return new LoaderHandle(
      data, std::move(options),
      benzina::StillWorkOptions{.output = {height, width},
                                .still = {.bounds = image_bounds ? StillOptions::Bounds::kImage
                                                                 : StillOptions::Bounds::kFrame,
                                          .antialias = antialias}});
}

void bind_order(nb::module_& module) {
  nb::class_<Shuffle>(module, "Shuffle")
      .def_static("none", [] { return Shuffle::kNone; })
      .def_static("full", [] { return Shuffle::kFull; })
      .def_static("window", &Shuffle::window, nb::arg("block"), nb::arg("blocks"));
  nb::class_<WeightsHandle>(module, "Weights", "The sampling weight of each record.")
      .def("__init__", make_weights, nb::arg("values").noconvert(),
           nb::sig("def __init__(self, values: array.array[float]) -> None"),
           "`values` must be a contiguous float64 array in CPU memory.");
}

void bind_options(nb::module_& module) {
  module.def(
      "loader_options", [] { return std::pair(option_rows(results()), option_rows(speed())); },
      "Returns two lists: the options that change the results, and the options that change only "
      "the speed. Each option is a tuple (name, kind, default, bounds, meaning).");
  module.def(
      "check_loader_options", [](const OptionValues& values) { choices_of(values); },
      nb::arg("values"), "Raises InvalidArgumentError if a value is out of bounds.");
}

}  // namespace

void bind_loader(nb::module_& module) {
  bind_order(module);
  bind_options(module);
  bind_stats(module);
  nb::class_<LoaderHandle>(module, "Loader", nb::is_weak_referenceable())
      .def("__init__", make_loader, nb::arg("data"), nb::arg("values"), nb::arg("shuffle"),
           nb::arg("weights").none(), nb::arg("fed"), nb::arg("rank"), nb::arg("world_size"),
           nb::arg("transforms"), nb::arg("transforms_of") = ByPattern<Transforms>{},
           nb::arg("patterns") = nb::dict(),
           nb::arg("shared") = std::vector<std::vector<std::string>>{},
           nb::arg("fields") = ImageOptions{}.fields)
      .def_static("stills", make_still_loader, nb::arg("data"), nb::arg("values"),
                  nb::arg("height"), nb::arg("width"), nb::arg("image_bounds"),
                  nb::arg("antialias"), nb::rv_policy::take_ownership,
                  "Returns a loader of H.265 stills that are warped as Benzina does. Its batches "
                  "have one column, float32 of shape (rows, 3, height, width). The order is fed, "
                  "as are the parameters, with `add_rows`.")
      .def("add_rows", &LoaderHandle::add_rows, nb::arg("position"), nb::arg("rows"),
           "Passes the parameters of a batch to the core, float32 of shape (rows, 19), before the "
           "batch is passed to `feed`. `position`: the number of samples before it in the epoch.")
      .def("begin", &LoaderHandle::begin,
           "Begins the next epoch. Returns a number that the caller must pass to `next` as `turn`.")
      .def("next", &LoaderHandle::next, nb::arg("turn"), nb::arg("taken"),
           "Appends the next batch to the list `taken`. Returns False at the end of the epoch. A "
           "batch is a tuple of columns. A column is an array or a list with one item per row: an "
           "array, a bytes object, a string, or a list of these. If a signal handler raises an "
           "exception, `taken` still contains the batch.")
      .def("column_names", &LoaderHandle::column_names,
           "Returns the name of each column of a batch, and whether its elements are images.")
      .def("set_epoch", &LoaderHandle::set_epoch, nb::arg("epoch"))
      .def("state", &LoaderHandle::state,
           "Returns the state from which the loader can resume, as JSON.")
      .def("restore", &LoaderHandle::restore, nb::arg("json"))
      .def("reshard", &LoaderHandle::reshard, nb::arg("rank"), nb::arg("world_size"),
           "Changes the rank and the world size for the next batch and all later batches. Discards "
           "the batches that were passed to `feed`: pass them again, as `feeds` describes.")
      .def("at_end", &LoaderHandle::at_end,
           "Returns whether the next call of `next` will report the end of the epoch.")
      .def("size", &LoaderHandle::size,
           "Returns the number of batches in an epoch, or 0 if a user's sampler defines the order.")
      .def("batches_left", &LoaderHandle::batches_left,
           "Returns the number of batches left in the epoch. Raises StateError if a user's sampler "
           "defines the order.")
      .def("life", &LoaderHandle::life,
           "Returns the state of the loader's threads: 'not started', 'started' or 'started in "
           "another process'.")
      .def("bad_records", &LoaderHandle::bad_records, nb::arg("since"))
      .def("feed", &LoaderHandle::feed, nb::arg("records"), nb::arg("ends_epoch"),
           "Passes the next batch of a user's sampler to the core. `records` contains the record "
           "indices of the batch. `ends_epoch` is True for the last batch of an epoch.")
      .def("end_feed", &LoaderHandle::end_feed,
           "Tells the core that no more calls of `feed` follow.")
      .def("feeds", &LoaderHandle::feeds,
           "Returns a number that increases each time the core discards the batches passed to "
           "`feed`. "
           "After an increase, the caller must call `feed` again for all batches from the position "
           "that `progress` returns.")
      .def("reserve", &LoaderHandle::reserve, nb::arg("rows"),
           "Allows batches of up to `rows` rows. Discards the batches that were passed to "
           "`feed`: pass them again, as `feeds` describes.")
      .def("progress", &LoaderHandle::progress,
           "Returns the epoch of the next batch, and the position of its first sample in that "
           "epoch.")
      .def("stats", &LoaderHandle::stats)
      .def("warnings", &LoaderHandle::warnings,
           "Returns the warnings that the core issued since the last call.")
      .def("stop", &LoaderHandle::stop, "Ends all threads of the loader.");
}

}  // namespace fuelrail::python
