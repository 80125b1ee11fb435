// What `state_dict()` holds: a few plain values, the same on every rank (docs/design.md, rule 3).
#pragma once

#include <cstdint>
#include <string>

#include "fuelrail/sampler/sampler.h"

namespace fuelrail {

inline constexpr uint32_t kStateVersion = 1;

struct State {
  uint32_t version = kStateVersion;
  std::string dataset;  // to_string(Fingerprint), and a checksum of the weights, if any
  std::string classes;  // number and checksum of the class names; empty: there are none
  uint64_t seed = 0;
  std::string shuffle;  // what makes the order: to_string(Shuffle), "weights(samples)" or "fed"
  Progress progress;    // of batches handed to the user
};

// One JSON object: version, dataset, classes, seed, shuffle, epoch, position; under 1 KB. Requires:
// `dataset`, `classes` and `shuffle` are short ASCII text.
std::string to_json(const State& state);

// The state that to_json wrote. Unknown members are ignored.
// Errors: InvalidArgumentError that names the member that is missing, of the wrong type, or too
// large, and for text that is not a JSON object, is over 64 KiB, or has a newer version.
State parse_state(const std::string& text);

// Whether `restored` belongs to the run described by `own` (version, dataset, classes, shuffle,
// seed). Where one of them has no class names, there is nothing to tell their classes apart by.
// Errors: InvalidArgumentError that names the first member that differs, with both values.
void check_same_run(const State& restored, const State& own);

}  // namespace fuelrail
