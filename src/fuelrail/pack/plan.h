// What a packing job is to do: which image goes into which file.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fuelrail/pack/packer.h"

namespace fuelrail {

struct PlannedPart {
  std::string uri;
  std::vector<uint64_t> images;  // of the source, ascending
};

// Errors: InvalidArgumentError for an output or an option that cannot be.
void check_pack_options(const std::string& output, const PackOptions& options);

// The files that will be made, in the order of the split. Requires: checked options.
std::vector<std::string> output_uris(const std::string& output, const PackOptions& options);

// The same files with their images. Errors: InvalidArgumentError for a split that cannot be, and
// for a part that would be empty.
std::vector<PlannedPart> plan_parts(uint64_t images, const std::string& output,
                                    const PackOptions& options);

}  // namespace fuelrail
