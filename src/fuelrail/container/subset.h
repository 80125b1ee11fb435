// Some records of a container, in a given order; and cutting a container into named parts at
// random.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "fuelrail/container/container.h"

namespace fuelrail {

// Ids and places are the parent's. Indices may repeat. Errors: OutOfRangeError for an index that is
// not below parent->size().
std::shared_ptr<const Container> subset(std::shared_ptr<const Container> parent,
                                        std::vector<uint64_t> indices);

// `count` records from `begin`, each `step` (which may be negative) after the one before, in O(1)
// memory. The same records chosen by `subset` have the same fingerprint. Errors:
// InvalidArgumentError when step is 0; OutOfRangeError when an index is not below parent->size().
std::shared_ptr<const Container> slice(std::shared_ptr<const Container> parent, uint64_t begin,
                                       uint64_t count, int64_t step);

// Disjoint random parts by fraction, in the order given: part k takes positions [round(N * sum of
// fractions before), round(N * sum with its own)) of the permutation keyed by `seed`; inside a
// part, indices ascend. Errors: InvalidArgumentError unless every fraction is in (0, 1] and their
// sum is at most 1 + 1e-9.
std::vector<std::pair<std::string, std::vector<uint64_t>>> split_indices(
    uint64_t records, const std::vector<std::pair<std::string, double>>& fractions, uint64_t seed);

}  // namespace fuelrail
