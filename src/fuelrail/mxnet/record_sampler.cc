#include "fuelrail/mxnet/record_sampler.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "fuelrail/base/error.h"

namespace fuelrail::mxnet {

RecordSampler::RecordSampler(std::shared_ptr<const RecordOrder> order,
                             const RecordSamplerOptions& options, Progress start)
    : order_(std::move(order)), options_(options), at_(start) {
  if (options_.batch_size == 0) {
    throw InvalidArgumentError("`batch_size` is out of range",
                               {.expected = "at least 1", .found = "0"});
  }
  if (options_.round_batch && options_.batch_size > 2 * order_->size()) {
    throw InvalidArgumentError(
        "`batch_size` is more than twice the number of records in the part",
        {.expected = fmt::format("at most {}", 2 * order_->size()),
         .found = fmt::format("{}", options_.batch_size),
         .remedy = "Use a smaller `batch_size` or fewer parts, or set round_batch to false"});
  }
}

std::optional<BatchPlan> RecordSampler::next() {
  const uint64_t size = order_->size();
  BatchPlan plan;
  plan.epoch = at_.epoch;
  plan.ends_epoch = at_.position + options_.batch_size >= size;
  plan.entries.reserve(options_.batch_size);
  const Progress begin = at_;
  try {
    add_from_pass(plan, true);
    while (options_.round_batch && plan.entries.size() < options_.batch_size) {
      add_from_pass(plan, false);
    }
  } catch (...) {
    at_ = begin;
    throw;
  }
  while (plan.entries.size() < options_.batch_size) {
    Entry filler = plan.entries.back();
    ++filler.position;
    filler.valid = false;
    plan.entries.push_back(filler);
  }
  plan.after = at_;
  return plan;
}

// Adds the rest of the pass, or as many records as the batch has room for.
void RecordSampler::add_from_pass(BatchPlan& plan, bool valid) {
  const std::shared_ptr<const RecordPass> pass = order_->pass(at_.epoch);
  const uint64_t rows = plan.entries.size();
  const uint64_t begin = at_.position;
  const uint64_t end = std::min(pass->size(), begin + options_.batch_size - rows);
  // The row that the pass's first record has in its batch.
  const uint64_t first_row =
      (rows + options_.batch_size - begin % options_.batch_size) % options_.batch_size;
  for (uint64_t i = begin; i < end; ++i) {
    plan.entries.push_back(
        {.record = pass->record(i),
         .position = options_.chunk_positions ? chunk_position(*pass, i, first_row) : i,
         .epoch = at_.epoch,
         .valid = valid});
  }
  at_ = end < pass->size() ? Progress{at_.epoch, end} : Progress{at_.epoch + 1, 0};
}

uint64_t RecordSampler::chunk_position(const RecordPass& pass, uint64_t i,
                                       uint64_t first_row) const {
  // MXNet decodes a shuffled chunk as a whole, as if it followed a full batch.
  if (!pass.places.empty()) return options_.batch_size + pass.places[i];
  const uint64_t chunk = pass.chunk_begin(i);
  return (first_row + chunk) % options_.batch_size + (i - chunk);
}

std::optional<uint64_t> RecordSampler::substitute(const BatchPlan&, size_t, uint32_t) const {
  return std::nullopt;
}

}  // namespace fuelrail::mxnet
