// The worker of image loaders: record -> sample -> pixels -> row of the batch.
#pragma once

#include <memory>

#include "fuelrail/container/container.h"
#include "fuelrail/engine/worker.h"
#include "fuelrail/loader/options.h"

namespace fuelrail {

// The columns that `options.fields` asks for, with the container's schema for types and shapes.
// Ragged are: images whose size the transforms leave open; tensors whose width differs from record
// to record; bytes. Errors: InvalidArgumentError for no field and for an unknown one (the nearest
// is suggested).
std::vector<ColumnSpec> image_columns(const Container& container, const ImageOptions& options);

// A factory of workers that write those columns; of `loading`, with its seed, for its error policy
// and with its warnings. The container outlives the workers.
WorkerFactory image_worker_factory(std::shared_ptr<const Container> container,
                                   const ImageOptions& options, const LoaderOptions& loading);

}  // namespace fuelrail
