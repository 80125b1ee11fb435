// Selects records of a container in a given order, and splits a container at random into named
// parts.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "fuelrail/container/container.h"

namespace fuelrail {

// The parent's records at `indices`, in that order. Indices may repeat. Ids and places are the
// parent's. Errors: OutOfRangeError for an index >= parent->size().
std::shared_ptr<const Container> subset(std::shared_ptr<const Container> parent,
                                        std::vector<uint64_t> indices);

// The parent's records `begin`, `begin + step`, and so on, `count` in total. `step` may be
// negative. Uses O(1) memory. The fingerprint equals that of a `subset` of the same records.
// Errors: InvalidArgumentError when step is 0; OutOfRangeError for an index outside the parent.
std::shared_ptr<const Container> slice(std::shared_ptr<const Container> parent, uint64_t begin,
                                       uint64_t count, int64_t step);

// The container that a subset or slice selects from; null for any other container. Lifetime: valid
// while the container exists.
const Container* parent_of(const Container& container);

// Splits the record indices at random into disjoint parts with the given names and fractions, in
// the given order. Part k takes the positions from round(N * sum of the earlier fractions) to
// round(N * sum including its own) of the permutation with key `seed`. Within a part, indices
// ascend. Errors: InvalidArgumentError unless every fraction is in (0, 1] and their sum is at most
// 1 + 1e-9.
std::vector<std::pair<std::string, std::vector<uint64_t>>> split_indices(
    uint64_t records, const std::vector<std::pair<std::string, double>>& fractions, uint64_t seed);

}  // namespace fuelrail
