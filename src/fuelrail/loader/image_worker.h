// The worker of image loaders: record -> sample -> pixels -> row of the batch.
#pragma once

#include <memory>

#include "fuelrail/container/container.h"
#include "fuelrail/loader/loader.h"
#include "fuelrail/loader/options.h"

namespace fuelrail {

// The columns that `images.fields` asks for, and workers that run their programs (field_program.h);
// of `loading`, with its seed, for its error policy and with its warnings. Errors: those of
// field_programs.
LoaderWork image_work(std::shared_ptr<const Container> container, const ImageOptions& images,
                      const LoaderOptions& loading = {});

}  // namespace fuelrail
