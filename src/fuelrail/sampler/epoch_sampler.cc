#include "fuelrail/sampler/epoch_sampler.h"

#include <fmt/format.h>

#include <algorithm>

#include "fuelrail/base/error.h"
#include "fuelrail/base/philox.h"

namespace fuelrail {
namespace {

// Keeps all positions, including fillers, far below the maximum of uint64_t. Also Permutation's
// limit.
constexpr uint64_t kMost = uint64_t{1} << 62;

constexpr uint32_t kSubstituteOperation = 0xfffe;  // of Philox, reserved for this

void check_order(const OrderOptions& order, uint64_t records) {
  check(order.shuffle);
  if (!order.weights) {
    if (!order.samples) return;
    throw InvalidArgumentError("`num_samples` needs `weights`",
                               {.remedy = "Give `weights`, or omit `num_samples`"});
  }
  if (order.shuffle != Shuffle::kNone) {
    throw InvalidArgumentError(
        "`shuffle` cannot be combined with `weights`",
        {.found = "'" + to_string(order.shuffle) + "'",
         .remedy = "Omit `shuffle`; records drawn by weight are already in random order"});
  }
  if (order.weights->size() != records) {
    throw InvalidArgumentError(
        "the number of weights differs from the number of records",
        {.expected = fmt::to_string(records), .found = fmt::to_string(order.weights->size())});
  }
}

void check(const EpochSamplerOptions& options, Progress start) {
  const Shard& shard = options.order.shard;
  OrderOptions::table().check(options.order);
  check(shard);
  if (options.order.batch_size > kMost / shard.world_size) {
    throw InvalidArgumentError(
        "`batch_size` is too large for `world_size`",
        {.expected = fmt::format("a `batch_size` of at most {}", kMost / shard.world_size),
         .found = fmt::format("`batch_size` {} with `world_size` {}", options.order.batch_size,
                              shard.world_size)});
  }
  if (options.records > kMost) {
    throw InvalidArgumentError(
        "the dataset has too many records",
        {.expected = fmt::format("at most {}", kMost), .found = fmt::to_string(options.records)});
  }
  check_order(options.order, options.records);
  if (start.position > options.epoch_size()) {
    throw OutOfRangeError("the start position is after the end of the epoch",
                          {.expected = fmt::format("at most {}", options.epoch_size()),
                           .found = fmt::to_string(start.position),
                           .remedy = "Restore a state that was saved with this dataset"});
  }
}

// This rank's part of an incomplete batch of `rows`, split as evenly as possible.
struct Share {
  uint64_t begin;
  uint64_t size;
};

Share even_share(uint64_t rows, Shard shard) {
  const uint64_t base = rows / shard.world_size;
  const uint64_t larger = rows % shard.world_size;  // number of (first) ranks that get one more
  return {shard.rank * base + std::min<uint64_t>(shard.rank, larger),
          base + (shard.rank < larger ? 1 : 0)};
}

}  // namespace

const OptionTable<OrderOptions>& OrderOptions::table() {
  static const auto table =
      OptionTable<OrderOptions>()
          .number("batch_size", &OrderOptions::batch_size, 1, kMost,
                  "number of samples in a batch, on each rank.")
          .number("num_samples", &OrderOptions::samples, 1, kMost,
                  "number of samples drawn with `weights` in an epoch. Default: the size of the "
                  "dataset.")
          .number("seed", &OrderOptions::seed, 0, UINT64_MAX,
                  "the 64-bit seed of all random numbers.")
          .choice(
              "last_batch", &OrderOptions::last_batch,
              {{"short", LastBatch::kShort},
               {"drop", LastBatch::kDrop},
               {"pad", LastBatch::kPad},
               {"wrap", LastBatch::kWrap}},
              "what to do with the last samples of an epoch if they are too few for a batch on "
              "every rank. \"short\" divides them evenly among the ranks; a rank without samples "
              "gets a batch without rows, and a FuelrailWarning reports it. \"drop\" skips them. "
              "\"pad\" fills the batches with copies of the last sample; for these rows, the field "
              "`valid` is False. \"wrap\" fills the batches with samples from the beginning of the "
              "epoch.");
  return table;
}

EpochSampler::EpochSampler(const EpochSamplerOptions& options, Progress start)
    : options_(options), at_(start) {
  check(options, start);
  if (batches_from(at_.position) == 0 && batches_from(0) > 0) at_ = {at_.epoch + 1, 0};
  begin_epoch(at_.epoch);
}

uint64_t EpochSampler::batches_from(uint64_t position) const {
  const uint64_t left = options_.epoch_size() - position;
  const uint64_t whole = left / global_batch();
  const bool tail = left % global_batch() != 0 && options_.order.last_batch != LastBatch::kDrop;
  return whole + (tail ? 1 : 0);
}

void EpochSampler::begin_epoch(uint32_t epoch) {
  if (options_.records == 0) return;
  if (options_.order.weights) {
    order_.emplace(options_.order.weights, options_.order.seed, epoch);
  } else {
    order_.emplace(options_.records, options_.order.shuffle, options_.order.seed, epoch);
  }
}

Entry EpochSampler::entry_at(uint64_t position) const {
  const uint64_t size = options_.epoch_size();
  const bool filler = position >= size;
  const bool pad = filler && options_.order.last_batch == LastBatch::kPad;
  uint64_t source = position;
  if (filler) source = pad ? size - 1 : position % size;
  return {.record = (*order_)(source), .position = position, .epoch = at_.epoch, .valid = !pad};
}

std::optional<BatchPlan> EpochSampler::next() {
  const uint64_t batches = batches_from(at_.position);
  if (batches == 0) return std::nullopt;

  const uint64_t left = options_.epoch_size() - at_.position;
  Share share{options_.order.shard.rank * options_.order.batch_size, options_.order.batch_size};
  if (left < global_batch() && options_.order.last_batch == LastBatch::kShort) {
    share = even_share(left, options_.order.shard);
  }

  BatchPlan plan{.entries = {},
                 .epoch = at_.epoch,
                 .ends_epoch = batches == 1,
                 .after = {at_.epoch, at_.position + global_batch()}};
  if (plan.ends_epoch) plan.after = {at_.epoch + 1, 0};
  plan.entries.reserve(share.size);
  for (uint64_t row = 0; row < share.size; ++row) {
    plan.entries.push_back(entry_at(at_.position + share.begin + row));
  }

  at_ = plan.after;
  if (plan.ends_epoch) begin_epoch(at_.epoch);
  return plan;
}

std::optional<uint64_t> EpochSampler::substitute(const BatchPlan& plan, size_t row,
                                                 uint32_t attempt) const {
  const Entry& entry = plan.entries[row];
  const Philox random(options_.order.seed, entry.epoch, entry.position);
  if (options_.order.weights)
    return options_.order.weights->draw(random, kSubstituteOperation, 4 * attempt);
  return random.below64(kSubstituteOperation, 2 * attempt, options_.records);
}

}  // namespace fuelrail
