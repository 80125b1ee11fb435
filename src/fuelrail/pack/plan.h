// The plan of a packing job: which image goes into which file, and a text that identifies the job.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fuelrail/pack/pack_options.h"
#include "fuelrail/pack/source/pack_source.h"

namespace fuelrail::pack {

struct PlannedPart {
  std::string uri;
  std::vector<uint64_t> images;  // indices in the source, ascending
};

// The steps that every image goes through. Requires: checked options.
ImageSteps image_steps(const PackOptions& options);

// Names of the files that the job writes, in order. Requires: checked options.
std::vector<std::string> output_uris(const std::string& output, const PackOptions& options);

// The files of `output_uris`, each with the images that go into it. Errors: InvalidArgumentError
// for an invalid split and for a part that would be empty.
std::vector<PlannedPart> plan_parts(uint64_t images, const std::string& output,
                                    const PackOptions& options);

// Describes everything that the result depends on, except the images' bytes: from the same images,
// two jobs with equal descriptions make equal files.
std::string describe_job(const PackSource& source, const std::vector<PlannedPart>& plan,
                         const PackOptions& options);

}  // namespace fuelrail::pack
