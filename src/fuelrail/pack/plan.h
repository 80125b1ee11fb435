// What a packing job is to do: which image goes into which file, and what tells the job from
// others.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fuelrail/pack/pack_options.h"
#include "fuelrail/pack/source/pack_source.h"

namespace fuelrail::pack {

struct PlannedPart {
  std::string uri;
  std::vector<uint64_t> images;  // of the source, ascending
};

// What is done to every image. Requires: checked options.
ImageSteps image_steps(const PackOptions& options);

// The files that will be made, in their order. Requires: checked options.
std::vector<std::string> output_uris(const std::string& output, const PackOptions& options);

// The same files with their images. Errors: InvalidArgumentError for a split that cannot be, and
// for a part that would be empty.
std::vector<PlannedPart> plan_parts(uint64_t images, const std::string& output,
                                    const PackOptions& options);

// All that the bytes of the result depend on but the images' own, as text: two jobs of one text
// give the same files.
std::string describe_job(const PackSource& source, const std::vector<PlannedPart>& plan,
                         const PackOptions& options);

}  // namespace fuelrail::pack
