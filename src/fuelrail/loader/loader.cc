#include "fuelrail/loader/loader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <new>
#include <stdexcept>
#include <utility>

#include "fuelrail/base/error.h"
#include "fuelrail/base/guarded.h"
#include "fuelrail/container/fingerprint.h"
#include "fuelrail/container/whole_records.h"
#include "fuelrail/loader/sample_worker.h"
#include "fuelrail/sampler/epoch_sampler.h"

namespace fuelrail {
namespace {

using Order = decltype(LoaderOptions::order);

const OrderOptions* computed(const Order& order) { return std::get_if<OrderOptions>(&order); }

const Shard& shard_of(const Order& order) {
  return std::visit([](const auto& of) -> const Shard& { return of.shard; }, order);
}

Order with_shard(Order order, const Shard& shard) {
  std::visit([&](auto& of) { of.shard = shard; }, order);
  return order;
}

EpochSamplerOptions sampling(const Container& container, const OrderOptions& order) {
  return {.records = container.size(), .order = order};
}

// The number of positions in an epoch. For a fed order, which may have any length, the number of
// records.
uint64_t epoch_size(const Container& container, const Order& order) {
  const OrderOptions* of = computed(order);
  return of == nullptr ? container.size() : sampling(container, *of).epoch_size();
}

// The name of the order, as it is stored in the state.
std::string name_of_order(const Container& container, const Order& order) {
  const OrderOptions* of = computed(order);
  if (of == nullptr) return "fed";
  if (of->weights) return fmt::format("weights({})", epoch_size(container, order));
  return to_string(of->shuffle);
}

std::string dataset_of(const Container& container, const Order& order) {
  std::string name = to_string(container.fingerprint());
  const OrderOptions* of = computed(order);
  if (of == nullptr || !of->weights) return name;
  return name + fmt::format("-weights-{:08x}", of->weights->checksum());
}

// The most rows, without padding, that a rank has in an epoch; for a fed order, all records.
uint64_t share_of(const Container& container, const Order& order) {
  const uint64_t ranks = computed(order) ? std::max(shard_of(order).world_size, 1U) : 1;
  return (epoch_size(container, order) + ranks - 1) / ranks;
}

// The most rows in a batch of this rank.
size_t slot_rows(const Container& container, const Order& order) {
  const OrderOptions* of = computed(order);
  if (of == nullptr) return std::get<FedOrder>(order).rows;
  if (of->last_batch != LastBatch::kShort) return of->batch_size;
  return std::min(of->batch_size, share_of(container, order));
}

// "image float32 (256, 3, 224, 224)"
std::string describe(const ColumnSpec& column, size_t rows) {
  std::string shape = fmt::format("{}", rows);
  for (const int64_t extent : column.row_shape) shape += fmt::format(", {}", extent);
  if (column.row_shape.empty()) shape += ',';
  return fmt::format("{} {} ({})", column.name, name_of(column.dtype), shape);
}

// `lent`: batches that the user holds, in addition to the engine's `slots`.
OutOfMemoryError no_memory(const BatchLayout& layout, size_t slots, size_t lent) {
  std::vector<std::string> columns;
  for (const ColumnSpec& column : layout.columns()) {
    columns.push_back(describe(column, layout.rows()));
  }
  ErrorDetail detail{
      .expected = fmt::format("{} bytes for each of {} batches (`prefetch` + 2) of {}",
                              layout.total_bytes(), slots, fmt::join(columns, ", ")),
      .remedy = "Use a smaller `batch_size` or `prefetch`"};
  if (lent > 0) {
    detail.expected += fmt::format(", in addition to the batches that the user holds ({})", lent);
    detail.remedy += ", or release batches that you hold";
  }
  return OutOfMemoryError("there is not enough memory for the batches", std::move(detail));
}

std::shared_ptr<const Container> not_empty(std::shared_ptr<const Container> container) {
  if (container->size() == 0) throw InvalidArgumentError("the dataset has no records");
  return container;
}

}  // namespace

struct Loader::Impl {
  Impl(std::shared_ptr<const Container> from, LoaderOptions with, LoaderWork of)
      : container(not_empty(std::move(from))),
        options(std::move(with)),
        work(std::move(of)),
        layout(make_layout(slot_rows(*container, options.order))),
        running(make_engine(options.order, layout, {})) {}

  std::shared_ptr<const BatchLayout> make_layout(size_t rows) const {
    return std::make_shared<BatchLayout>(work.columns, rows);
  }
  std::unique_ptr<Sampler> make_sampler(const Order& order, Progress at) const {
    if (const auto* fed = std::get_if<FedOrder>(&order)) return fed->make(at, fed->shard);
    return std::make_unique<EpochSampler>(sampling(*container, *computed(order)), at);
  }
  std::shared_ptr<Engine> make_engine(const Order& order,
                                      std::shared_ptr<const BatchLayout> batches, Progress at,
                                      const Engine* before = nullptr) const {
    ErrorPolicy errors = options.errors;
    fuelrail::check(errors);
    LoaderOptions::table().check(options);
    if (errors.on_error == OnError::kSkip) {
      errors.max_bad = Allowance{.count = errors.most_bad(share_of(*container, order))};
    }
    return std::make_shared<Engine>(work.whole_records ? whole_records(container) : container,
                                    make_sampler(order, at), std::move(batches), work.make_worker,
                                    options.engine, errors, before);
  }
  bool is_fed() const { return !computed(options.order); }
  // The number of batches in an epoch from `position` on. Requires: the order is computed.
  uint64_t batches_from(uint64_t position) const {
    return EpochSampler(sampling(*container, *computed(options.order))).batches_from(position);
  }

  // The engine. It may be replaced while other threads query or stop it.
  std::shared_ptr<Engine> engine() const {
    const Lock lock(mutex);
    return running;
  }

  // Replaces the engine by one with this order and layout, which continues with the next batch. If
  // this throws, nothing has changed.
  void replace_engine(Order to, std::shared_ptr<const BatchLayout> batches) {
    const std::shared_ptr<Engine> before = engine();
    std::shared_ptr<Engine> after = make_engine(to, batches, before->progress(), before.get());
    const Lock lock(mutex);
    if (stopped) throw StateError("the loader is closed");
    running.swap(after);
    options.order = std::move(to);
    layout = std::move(batches);
  }

  void restart(Progress at) { engine()->restart(make_sampler(options.order, at)); }

  std::shared_ptr<const Container> container;
  LoaderOptions options;
  LoaderWork work;
  std::shared_ptr<const BatchLayout> layout;

  mutable Mutex mutex;
  std::shared_ptr<Engine> running FUELRAIL_GUARDED_BY(mutex);
  bool stopped FUELRAIL_GUARDED_BY(mutex) = false;
};

Loader::Loader(std::shared_ptr<const Container> container, LoaderOptions options,
               ImageOptions images)
    : Loader(container, options, sample_work(not_empty(container), images, options)) {}
Loader::Loader(std::shared_ptr<const Container> container, LoaderOptions options, LoaderWork work)
    : impl_(std::make_unique<Impl>(std::move(container), std::move(options), std::move(work))) {}
Loader::~Loader() = default;

Engine::Next Loader::next_for(std::chrono::milliseconds timeout) {
  try {
    return impl_->engine()->next(timeout);
  } catch (const std::bad_alloc&) {
  } catch (const std::length_error&) {  // thrown by std::vector for a size beyond its limit
  }
  throw no_memory(*impl_->layout, impl_->options.engine.prefetch + 2, stats().slots_lent);
}

std::optional<Batch> Loader::next() {
  constexpr double kYear = 365 * 24 * 3600;
  const std::chrono::duration<double> most(
      std::min(impl_->options.stall_timeout.value_or(kYear), kYear));
  Engine::Next next = next_for(std::chrono::ceil<std::chrono::milliseconds>(most));
  if (next.status == Engine::Status::kTimeout) throw_stalled(most.count());
  return std::move(next.batch);
}

uint64_t Loader::size() const {
  if (impl_->is_fed())
    throw StateError(
        "the number of batches is unknown, because the caller supplies the order of the records");
  return impl_->batches_from(0);
}

uint64_t Loader::batches_left() const {
  const uint64_t size = this->size();
  if (phase() == Engine::Phase::kEnd) return 0;
  const uint64_t position = progress().position;
  return position == 0 ? size : impl_->batches_from(position);
}

Engine::Phase Loader::phase() const { return impl_->engine()->phase(); }

void Loader::next_epoch() {
  if (phase() == Engine::Phase::kInside) return impl_->restart({progress().epoch + 1, 0});
  impl_->engine()->begin_epoch();
}

void Loader::set_epoch(uint32_t epoch) {
  const bool begun = phase() == Engine::Phase::kInside || phase() == Engine::Phase::kTooManyBad;
  if (begun || progress().epoch != epoch) return impl_->restart({epoch, 0});
  impl_->engine()->begin_epoch();
}

Progress Loader::progress() const { return impl_->engine()->progress(); }

State Loader::state() const {
  const Order& order = impl_->options.order;
  return {.dataset = dataset_of(*impl_->container, order),
          .classes = fingerprint_of_classes(impl_->container->classes()),
          .seed = impl_->options.seed(),
          .shuffle = name_of_order(*impl_->container, order),
          .progress = progress()};
}

void Loader::restore(const State& state) {
  check_same_run(state, this->state());
  const uint64_t size = epoch_size(*impl_->container, impl_->options.order);
  if (state.progress.position >= size && !impl_->is_fed()) {
    throw InvalidArgumentError("the state's position is beyond the end of the epoch",
                               {.expected = fmt::format("a position below {}", size),
                                .found = fmt::format("{}", state.progress.position),
                                .remedy = "Restore a state that was saved with this dataset "
                                          "and the same `num_samples`"});
  }
  impl_->restart(state.progress);
}

void Loader::reserve(size_t rows) {
  if (rows <= impl_->layout->rows()) {
    const std::shared_ptr<Engine> engine = impl_->engine();
    engine->restart(impl_->make_sampler(impl_->options.order, engine->progress()),
                    Engine::BadCount::kGoOn);
  } else {
    impl_->replace_engine(impl_->options.order, impl_->make_layout(rows));
  }
}

void Loader::reshard(const Shard& shard) {
  check(shard);
  Order order = with_shard(impl_->options.order, shard);
  if (const OrderOptions* of = computed(order)) {
    static_cast<void>(
        EpochSampler(sampling(*impl_->container, *of)));  // throws before anything changes
  }
  impl_->replace_engine(order, impl_->is_fed()
                                   ? impl_->layout
                                   : impl_->make_layout(slot_rows(*impl_->container, order)));
}

const LoaderOptions& Loader::options() const { return impl_->options; }
const Container& Loader::container() const { return *impl_->container; }
const BatchLayout& Loader::layout() const { return *impl_->layout; }
std::vector<BadRecord> Loader::bad_records(size_t since) const {
  return impl_->engine()->bad_records(since);
}
Stats Loader::stats() const { return impl_->engine()->stats(); }

void Loader::throw_stalled(double seconds) const { impl_->engine()->throw_stalled(seconds); }

void Loader::stop() {
  {
    const Lock lock(impl_->mutex);
    impl_->stopped = true;
  }
  impl_->engine()->stop();
}

}  // namespace fuelrail
