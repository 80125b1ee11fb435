// The content of `state_dict()`: a few plain values, the same on every rank (docs/design.md, rule
// 3).
#pragma once

#include <cstdint>
#include <string>

#include "fuelrail/sampler/sampler.h"

namespace fuelrail {

inline constexpr uint32_t kStateVersion = 1;

struct State {
  uint32_t version = kStateVersion;
  std::string dataset;  // to_string(Fingerprint), and a checksum of the weights, if any
  std::string classes;  // number and checksum of the class names; empty: no class names
  uint64_t seed = 0;
  std::string shuffle;  // the kind of order: to_string(Shuffle), "weights(samples)" or "fed"
  Progress progress;    // after the batches handed to the user
};

// One JSON object with the members version, dataset, classes, seed, shuffle, epoch and position;
// under 1 KB. Requires: `dataset`, `classes` and `shuffle` are short ASCII text.
std::string to_json(const State& state);

// Parses a state that to_json wrote. Ignores unknown members. Errors: InvalidArgumentError for a
// member that is missing, of the wrong type, or too large (the error names it), and for text that
// is not a JSON object, is over 64 KiB, or has a newer version.
State parse_state(const std::string& text);

// Checks that `restored` belongs to the run described by `own` (version, dataset, classes, shuffle,
// seed). Classes are compared only if both have class names. Errors: InvalidArgumentError that
// names the first member that differs, with both values.
void check_same_run(const State& restored, const State& own);

}  // namespace fuelrail
