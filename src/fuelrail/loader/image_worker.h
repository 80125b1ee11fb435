// The worker of image loaders: record -> sample -> pixels -> row of the batch.
#pragma once

#include <memory>

#include "fuelrail/container/container.h"
#include "fuelrail/loader/loader.h"
#include "fuelrail/loader/options.h"

namespace fuelrail {

// The columns that `images.fields` names, and workers that run their programs (field_program.h).
// `loading` gives the seed, the error policy and the callback for warnings. Errors: those of
// field_programs.
LoaderWork image_work(std::shared_ptr<const Container> container, const ImageOptions& images,
                      const LoaderOptions& loading = {});

}  // namespace fuelrail
