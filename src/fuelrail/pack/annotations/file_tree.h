// Lists the image files of a folder and of all folders below it.
#pragma once

#include <map>
#include <string>

#include "fuelrail/base/image_format.h"
#include "fuelrail/base/listener.h"

namespace fuelrail::pack {

// The paths, relative to `root`, by their stems, in code-point order. Names that begin with a dot
// are skipped, and so are files without the extension of an image that folders have, or of
// `besides`, if it is not null; `warn` gets the number of each.
// Errors: NotFoundError; IoError; InvalidArgumentError for a `root` that is not a folder, and for
// folders nested deeper than 32 levels; CorruptError for two files with one stem; StateError when
// `keep_going` returns false.
std::map<std::string, std::string> images_by_stem(const std::string& root, const Warn& warn,
                                                  const KeepGoing& keep_going,
                                                  const ImageFormat* besides = nullptr);

// The path without its extension: "a/1" for "a/1.jpg".
std::string stem_of(const std::string& path);

}  // namespace fuelrail::pack
