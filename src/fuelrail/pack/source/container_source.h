// The samples of a container as images to pack.
#pragma once

#include <memory>

#include "fuelrail/container/container.h"
#include "fuelrail/pack/source/pack_source.h"

namespace fuelrail::pack {

// Requires: the container's schema has a field `image`. The labels are those of the field `label`,
// if there is one. The id is the sample's; in a file whose records have no ids, it is the record's
// key in the sidecar, or its number. The name is that of the image's file in a folder, or the
// one that the record or its sidecar has. An image whose bytes do not stand alone is read as its
// whole record, if that is an image file. Errors of `read`, besides those of read_sample:
// UnsupportedError for a label that a float cannot store. Errors: UnsupportedError for a schema
// with other fields.
std::unique_ptr<PackSource> source_of_images(std::shared_ptr<const Container> images);

}  // namespace fuelrail::pack
