#include "fuelrail/sampler/epoch_order.h"

#include <utility>

#include "fuelrail/base/philox.h"

namespace fuelrail {

EpochOrder::EpochOrder(uint64_t records, const Shuffle& shuffle, uint64_t seed, uint32_t epoch)
    : how_(shuffled(records, shuffle, seed, epoch)) {}

EpochOrder::EpochOrder(std::shared_ptr<const Weights> weights, uint64_t seed, uint32_t epoch)
    : how_(Drawn{std::move(weights), seed, epoch}) {}

EpochOrder::How EpochOrder::shuffled(uint64_t records, const Shuffle& shuffle, uint64_t seed,
                                     uint32_t epoch) {
  switch (shuffle.kind) {
    case Shuffle::Kind::kNone:
      return InOrder{};
    case Shuffle::Kind::kFull:
      return Permutation(records, seed, epoch);
    case Shuffle::Kind::kWindow:
      break;
  }
  return WindowOrder(records, shuffle.block, shuffle.blocks, seed, epoch);
}

uint64_t EpochOrder::Drawn::operator()(uint64_t position) const {
  constexpr uint32_t kOperation = 0xfffd;
  constexpr uint32_t kDraw = 4;
  return weights->draw(Philox(seed, epoch, position), kOperation, kDraw);
}

uint64_t EpochOrder::operator()(uint64_t position) const {
  return std::visit([position](const auto& how) { return how(position); }, how_);
}

}  // namespace fuelrail
