// The worker of loaders: record -> sample -> pixels and what moves with them -> row of the batch.
#pragma once

#include <memory>

#include "fuelrail/container/container.h"
#include "fuelrail/loader/loader.h"
#include "fuelrail/loader/options.h"

namespace fuelrail {

// The columns that `images.fields` names, and workers that run their programs (sample_program.h).
// `loading` gives the seed, the error policy and the callback for warnings. Errors: those of
// sample_program. Reads the first record if the columns have masks or maps.
LoaderWork sample_work(std::shared_ptr<const Container> container, const ImageOptions& images,
                       const LoaderOptions& loading = {});

}  // namespace fuelrail
