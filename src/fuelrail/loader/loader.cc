#include "fuelrail/loader/loader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <exception>
#include <new>
#include <stdexcept>
#include <utility>

#include "fuelrail/base/error.h"
#include "fuelrail/base/guarded.h"
#include "fuelrail/container/fingerprint.h"
#include "fuelrail/loader/image_worker.h"
#include "fuelrail/sampler/epoch_sampler.h"

namespace fuelrail {
namespace {

constexpr double kDefaultMaxBad = 0.01;  // of the share
constexpr size_t kLeastMaxBad = 10;

// What workers do whom nobody said what to do: images, as the options say.
LoaderWork image_work(const std::shared_ptr<const Container>& container,
                      const LoaderOptions& options) {
  fuelrail::check(options.transforms);
  fuelrail::check(PixelFormat{options.dtype, options.layout, normalization(options.transforms)});
  if (options.max_pixels < 1) {
    throw InvalidArgumentError("`max_pixels` must be at least 1",
                               {.found = fmt::format("{}", options.max_pixels)});
  }
  return {image_columns(*container, options), image_worker_factory(container, options)};
}

EpochSamplerOptions sampler_options(const Container& container, const LoaderOptions& options) {
  return {.records = container.size(),
          .seed = options.seed,
          .shuffle = options.shuffle,
          .batch_size = options.batch_size,
          .shard = options.shard,
          .last_batch = options.last_batch,
          .weights = options.weights,
          .samples = options.samples};
}

// What makes the order, as the state says it.
std::string name_of_order(const LoaderOptions& options, const EpochSamplerOptions& sampling) {
  if (options.fed) return "fed";
  if (options.weights) return fmt::format("weights({})", sampling.epoch_size());
  return to_string(options.shuffle);
}

std::string dataset_of(const Container& container, const LoaderOptions& options) {
  std::string name = to_string(container.fingerprint());
  if (options.weights) name += fmt::format("-weights-{:08x}", options.weights->checksum());
  return name;
}

// The most rows that one of this rank's batches has.
size_t slot_rows(const EpochSamplerOptions& options, bool fed) {
  if (fed || options.last_batch != LastBatch::kShort || options.shard.world_size == 0)
    return options.batch_size;
  const uint64_t share =
      (options.epoch_size() + options.shard.world_size - 1) / options.shard.world_size;
  return std::min(options.batch_size, share);
}

// The share is the most rows that a rank has in an epoch of so many samples, fillers left out; of a
// fed order, which may be as long as it likes, all of them.
size_t max_bad(const LoaderOptions& options, const EpochSamplerOptions& sampling) {
  if (const auto* count = std::get_if<uint64_t>(&options.max_bad)) return *count;
  const uint64_t samples = sampling.epoch_size();
  const uint64_t world_size = options.fed ? 1 : std::max(sampling.shard.world_size, 1U);
  const auto share = static_cast<double>((samples + world_size - 1) / world_size);
  if (const auto* fraction = std::get_if<double>(&options.max_bad)) {
    if (!(*fraction >= 0 && *fraction <= 1)) {
      throw InvalidArgumentError("`max_bad` is no fraction of the samples",
                                 {.expected = "a fraction from 0 to 1, or a whole number",
                                  .found = fmt::format("{}", *fraction)});
    }
    return static_cast<size_t>(*fraction * share);
  }
  return std::max(kLeastMaxBad, static_cast<size_t>(kDefaultMaxBad * share));
}

// "image float32 (256, 3, 224, 224)"
std::string describe(const ColumnSpec& column, size_t rows) {
  std::string shape = fmt::format("{}", rows);
  for (const int64_t extent : column.row_shape) shape += fmt::format(", {}", extent);
  if (column.row_shape.empty()) shape += ',';
  return fmt::format("{} {} ({})", column.name, name_of(column.dtype), shape);
}

// `lent` batches are the user's, besides the `slots` of the engine.
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
    detail.expected += fmt::format(", besides {} that the user holds", lent);
    detail.remedy += ", or let go of batches";
  }
  return OutOfMemoryError("there is not enough memory for the batches", std::move(detail));
}

std::shared_ptr<const Container> not_empty(std::shared_ptr<const Container> container) {
  if (container->size() == 0) throw InvalidArgumentError("the dataset has no records");
  return container;
}

}  // namespace

struct Loader::Impl {
  Impl(std::shared_ptr<const Container> from, LoaderOptions with, std::optional<LoaderWork> given)
      : container(not_empty(std::move(from))),
        options(std::move(with)),
        work(given ? *std::move(given) : image_work(container, options)),
        sampling(sampler_options(*container, options)),
        layout(make_layout(slot_rows(sampling, options.fed != nullptr))),
        running(make_engine(sampling, layout, {})) {}

  std::shared_ptr<const BatchLayout> make_layout(size_t rows) const {
    return std::make_shared<BatchLayout>(work.columns, rows);
  }
  std::unique_ptr<Sampler> make_sampler(const EpochSamplerOptions& of, Progress at) const {
    if (options.fed) return options.fed(at, of.shard);
    return std::make_unique<EpochSampler>(of, at);
  }
  std::shared_ptr<Engine> make_engine(const EpochSamplerOptions& of,
                                      std::shared_ptr<const BatchLayout> batches, Progress at,
                                      const Engine* before = nullptr) const {
    return std::make_shared<Engine>(container, make_sampler(of, at), std::move(batches),
                                    work.make_worker,
                                    EngineOptions{.threads = options.threads,
                                                  .prefetch = options.prefetch,
                                                  .read_threads = options.read_threads,
                                                  .read_backend = options.read_backend,
                                                  .direct_reads = options.direct_reads,
                                                  .warn = options.warn},
                                    ErrorPolicy{.on_error = options.on_error,
                                                .max_bad = max_bad(options, of),
                                                .max_record_bytes = options.max_record_bytes},
                                    before);
  }

  // The engine, which may be replaced while other threads ask it something or stop it.
  std::shared_ptr<Engine> engine() const {
    const Lock lock(mutex);
    return running;
  }

  // Another engine goes on from where the user stands, of such an order and such batches. Where
  // this throws, nothing has changed.
  void replace_engine(EpochSamplerOptions to, std::shared_ptr<const BatchLayout> batches) {
    const std::shared_ptr<Engine> before = engine();
    std::shared_ptr<Engine> after = make_engine(to, batches, before->progress(), before.get());
    const Lock lock(mutex);
    if (stopped) throw StateError("the loader has been stopped");
    running.swap(after);
    options.shard = to.shard;
    sampling = std::move(to);
    layout = std::move(batches);
  }

  void restart(Progress at) {
    engine()->restart(make_sampler(sampling, at));
    too_many_bad = nullptr;
    phase = Phase::kBeforeBatch;
  }

  // Where the next call of Engine::next stands in its epoch.
  enum class Phase : uint8_t {
    kBeforeBatch,  // nothing of this epoch was handed out since it began or was restored
    kInside,       // something was, more is to come
    kBeforeEnd,    // the last batch was; kEndOfEpoch comes next
  };

  std::shared_ptr<const Container> container;
  LoaderOptions options;
  LoaderWork work;
  EpochSamplerOptions sampling;
  std::shared_ptr<const BatchLayout> layout;
  Phase phase = Phase::kBeforeBatch;
  bool owes_end = false;            // kEndOfEpoch comes next, and the engine does not know of it
  std::exception_ptr too_many_bad;  // ended the run, until it is restarted

  mutable Mutex mutex;
  std::shared_ptr<Engine> running FUELRAIL_GUARDED_BY(mutex);
  bool stopped FUELRAIL_GUARDED_BY(mutex) = false;
};

Loader::Loader(std::shared_ptr<const Container> container, LoaderOptions options)
    : impl_(std::make_unique<Impl>(std::move(container), std::move(options), std::nullopt)) {}
Loader::Loader(std::shared_ptr<const Container> container, LoaderOptions options, LoaderWork work)
    : impl_(std::make_unique<Impl>(std::move(container), std::move(options), std::move(work))) {}
Loader::~Loader() = default;

Engine::Next Loader::next_for(std::chrono::milliseconds timeout) {
  if (impl_->owes_end) {
    impl_->owes_end = false;
    impl_->phase = Impl::Phase::kBeforeBatch;
    return {.status = Engine::Status::kEndOfEpoch};
  }
  const std::shared_ptr<Engine> engine = impl_->engine();
  const Progress before = engine->progress();
  const auto note_handout = [&] {
    const bool inside = engine->progress().epoch == before.epoch;
    impl_->phase = inside ? Impl::Phase::kInside : Impl::Phase::kBeforeEnd;
  };
  try {
    Engine::Next next = engine->next(timeout);
    if (next.status == Engine::Status::kEndOfEpoch) impl_->phase = Impl::Phase::kBeforeBatch;
    if (next.status == Engine::Status::kBatch) note_handout();
    return next;
  } catch (const TooManyBadRecordsError&) {
    impl_->too_many_bad = std::current_exception();
    throw;
  } catch (const std::bad_alloc&) {
    if (engine->progress() != before) note_handout();
    throw no_memory(*impl_->layout, impl_->options.prefetch + 2, stats().slots_lent);
  } catch (const std::length_error&) {  // a container's word for the same
    if (engine->progress() != before) note_handout();
    throw no_memory(*impl_->layout, impl_->options.prefetch + 2, stats().slots_lent);
  } catch (...) {
    if (engine->progress() != before) note_handout();
    throw;
  }
}

std::optional<Batch> Loader::next() { return next_for(std::chrono::hours(24 * 365)).batch; }

uint64_t Loader::size() const {
  if (impl_->options.fed) throw StateError("how long a fed order is, only its feeder can tell");
  return EpochSampler(impl_->sampling).batches_from(0);
}

uint64_t Loader::batches_left() const {
  const uint64_t size = this->size();
  if (impl_->phase == Impl::Phase::kBeforeEnd) return 0;
  const uint64_t position = progress().position;
  return position == 0 ? size : EpochSampler(impl_->sampling).batches_from(position);
}

void Loader::next_epoch() {
  if (impl_->too_many_bad) std::rethrow_exception(impl_->too_many_bad);
  switch (impl_->phase) {
    case Impl::Phase::kBeforeBatch:
      return;
    case Impl::Phase::kBeforeEnd:
      next();
      return;
    case Impl::Phase::kInside:
      impl_->restart({impl_->engine()->progress().epoch + 1, 0});
      return;
  }
}

void Loader::set_epoch(uint32_t epoch) {
  if (impl_->phase == Impl::Phase::kBeforeEnd) next();
  const bool fresh = impl_->phase == Impl::Phase::kBeforeBatch && !impl_->too_many_bad;
  if (fresh && impl_->engine()->progress().epoch == epoch) return;
  impl_->restart({epoch, 0});
}

Progress Loader::progress() const { return impl_->engine()->progress(); }

State Loader::state() const {
  return {.dataset = dataset_of(*impl_->container, impl_->options),
          .classes = fingerprint_of_classes(impl_->container->classes()),
          .seed = impl_->options.seed,
          .shuffle = name_of_order(impl_->options, impl_->sampling),
          .progress = progress()};
}

void Loader::restore(const State& state) {
  check_same_run(state, this->state());
  const uint64_t size = impl_->sampling.epoch_size();
  if (state.progress.position >= size && !impl_->options.fed) {
    throw InvalidArgumentError("the state's position is beyond the epoch",
                               {.expected = fmt::format("below {}", size),
                                .found = fmt::format("{}", state.progress.position)});
  }
  impl_->owes_end = false;
  impl_->restart(state.progress);
}

void Loader::reserve(size_t rows) {
  const bool owes_end = impl_->phase == Impl::Phase::kBeforeEnd;
  if (rows <= impl_->layout->rows()) {
    const std::shared_ptr<Engine> engine = impl_->engine();
    engine->restart(impl_->make_sampler(impl_->sampling, engine->progress()),
                    Engine::BadCount::kGoOn);
  } else {
    impl_->replace_engine(impl_->sampling, impl_->make_layout(rows));
  }
  impl_->owes_end = owes_end;
}

void Loader::reshard(const Shard& shard) {
  check(shard);
  EpochSamplerOptions sampling = impl_->sampling;
  sampling.shard = shard;
  if (!impl_->options.fed) static_cast<void>(EpochSampler(sampling));  // what it refuses, before
  const bool owes_end = impl_->phase == Impl::Phase::kBeforeEnd;
  impl_->replace_engine(sampling, impl_->options.fed
                                      ? impl_->layout
                                      : impl_->make_layout(slot_rows(sampling, false)));
  impl_->owes_end = owes_end;
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
