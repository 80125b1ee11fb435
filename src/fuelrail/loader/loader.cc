#include "fuelrail/loader/loader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <new>
#include <utility>

#include "fuelrail/base/error.h"
#include "fuelrail/loader/image_worker.h"
#include "fuelrail/sampler/epoch_sampler.h"

namespace fuelrail {
namespace {

constexpr double kDefaultMaxBad = 0.01;  // of the share
constexpr size_t kLeastMaxBad = 10;

void check(const LoaderOptions& options) {
  fuelrail::check(options.transforms);
  fuelrail::check(PixelFormat{options.dtype, options.layout, normalization(options.transforms)});
  if (options.max_pixels < 1) {
    throw InvalidArgumentError("`max_pixels` must be at least 1",
                               {.found = fmt::format("{}", options.max_pixels)});
  }
}

EpochSamplerOptions sampler_options(const Container& container, const LoaderOptions& options) {
  return {.records = container.size(),
          .seed = options.seed,
          .shuffle = options.shuffle,
          .batch_size = options.batch_size,
          .shard = options.shard,
          .last_batch = options.last_batch};
}

const char* name_of(Shuffle shuffle) { return shuffle == Shuffle::kFull ? "full" : "none"; }

// The most rows that one of this rank's batches has.
size_t slot_rows(const EpochSamplerOptions& options) {
  if (options.last_batch != LastBatch::kShort || options.shard.world_size == 0)
    return options.batch_size;
  const uint64_t share =
      (options.records + options.shard.world_size - 1) / options.shard.world_size;
  return std::min(options.batch_size, share);
}

// The share is the most rows that a rank has in an epoch, fillers left out.
size_t max_bad(const LoaderOptions& options, uint64_t records) {
  if (const auto* count = std::get_if<uint64_t>(&options.max_bad)) return *count;
  const uint64_t world_size = std::max(options.shard.world_size, 1U);
  const auto share = static_cast<double>((records + world_size - 1) / world_size);
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
      .expected = fmt::format("{} bytes for each of {} batches (`prefetch` + 1) of {}",
                              layout.total_bytes(), slots, fmt::join(columns, ", ")),
      .remedy = "Use a smaller `batch_size` or `prefetch`"};
  if (lent > 0) {
    detail.expected += fmt::format(", besides {} that the user holds", lent);
    detail.remedy += ", or let go of batches";
  }
  return {"there is not enough memory for the batches", std::move(detail)};
}

std::shared_ptr<const Container> not_empty(std::shared_ptr<const Container> container) {
  if (container->size() == 0) throw InvalidArgumentError("the dataset has no records");
  return container;
}

}  // namespace

struct Loader::Impl {
  Impl(std::shared_ptr<const Container> from, LoaderOptions with)
      : container(not_empty(std::move(from))),
        options((check(with), std::move(with))),
        sampling(sampler_options(*container, options)),
        layout(
            std::make_shared<BatchLayout>(image_columns(*container, options), slot_rows(sampling))),
        engine(container, std::make_unique<EpochSampler>(sampling), layout,
               image_worker_factory(container, options),
               {.threads = options.threads,
                .prefetch = options.prefetch,
                .read_threads = options.read_threads,
                .read_backend = options.read_backend,
                .direct_reads = options.direct_reads,
                .warn = options.warn},
               {.on_error = options.on_error, .max_bad = max_bad(options, container->size())}) {}

  void restart(Progress at) {
    engine.restart(std::make_unique<EpochSampler>(sampling, at));
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
  EpochSamplerOptions sampling;
  std::shared_ptr<const BatchLayout> layout;
  Engine engine;
  Phase phase = Phase::kBeforeBatch;
};

Loader::Loader(std::shared_ptr<const Container> container, LoaderOptions options)
    : impl_(std::make_unique<Impl>(std::move(container), std::move(options))) {}
Loader::~Loader() = default;

Engine::Next Loader::next_for(std::chrono::milliseconds timeout) {
  const Progress before = impl_->engine.progress();
  const auto note_progress = [&] {
    const Progress after = impl_->engine.progress();
    if (after == before) return;
    impl_->phase = after.epoch == before.epoch ? Impl::Phase::kInside : Impl::Phase::kBeforeEnd;
  };
  try {
    Engine::Next next = impl_->engine.next(timeout);
    if (next.status == Engine::Status::kEndOfEpoch) impl_->phase = Impl::Phase::kBeforeBatch;
    note_progress();
    return next;
  } catch (const std::bad_alloc&) {
    note_progress();
    throw no_memory(*impl_->layout, impl_->options.prefetch + 1, stats().slots_lent);
  } catch (...) {
    note_progress();
    throw;
  }
}

std::optional<Batch> Loader::next() { return next_for(std::chrono::hours(24 * 365)).batch; }

uint64_t Loader::size() const { return EpochSampler(impl_->sampling).batches_from(0); }

void Loader::next_epoch() {
  switch (impl_->phase) {
    case Impl::Phase::kBeforeBatch:
      return;
    case Impl::Phase::kBeforeEnd:
      next();
      return;
    case Impl::Phase::kInside:
      impl_->restart({impl_->engine.progress().epoch + 1, 0});
      return;
  }
}

void Loader::set_epoch(uint32_t epoch) {
  if (impl_->phase == Impl::Phase::kBeforeEnd) next();
  if (impl_->phase == Impl::Phase::kBeforeBatch && impl_->engine.progress().epoch == epoch) return;
  impl_->restart({epoch, 0});
}

State Loader::state() const {
  return {.dataset = to_string(impl_->container->fingerprint()),
          .seed = impl_->options.seed,
          .shuffle = name_of(impl_->options.shuffle),
          .progress = impl_->engine.progress()};
}

void Loader::restore(const State& state) {
  check_same_run(state, this->state());
  if (state.progress.position >= impl_->container->size()) {
    throw InvalidArgumentError("the state's position is beyond the dataset",
                               {.expected = fmt::format("below {}", impl_->container->size()),
                                .found = fmt::format("{}", state.progress.position)});
  }
  impl_->restart(state.progress);
}

const LoaderOptions& Loader::options() const { return impl_->options; }
const Container& Loader::container() const { return *impl_->container; }
const BatchLayout& Loader::layout() const { return *impl_->layout; }
std::vector<BadRecord> Loader::bad_records() const { return impl_->engine.bad_records(); }
Stats Loader::stats() const { return impl_->engine.stats(); }
void Loader::stop() { impl_->engine.stop(); }

}  // namespace fuelrail
