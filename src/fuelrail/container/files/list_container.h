// A list of images (`.lst`, `.csv`, `.tsv`), seen as the images that it names: every line is a
// record.
#pragma once

#include <memory>
#include <string>

#include "fuelrail/container/container.h"
#include "fuelrail/container/open.h"

namespace fuelrail::files {

// Schema: {image: image, label: tensor}, the label as image records have it (image_record.h): so a
// list and the file that is packed from it have one schema. Ids are the list's, and may repeat; a
// place is the image's file and the line's index, counted without empty lines. Class names are
// those of `options.classes`, or the list's words (image_list.h); of a list of numbers alone, none.
//
// Opening reads the list, and looks at no image; the format, and what is wrong with a line, is
// image_list.h. Images, also the same in two lines, are read as those of a folder are
// (files/file_records.h). Relative paths are below `options.root`, or the list's own folder, and
// stay there when the process changes its directory; errors and places spell them as they are
// given. Keeps a path, an id, labels and a length of each line.
//
// Errors: CorruptError for a line that cannot be read, for a label that is not of
// `options.classes`, and for a list without any line; NotFoundError; IoError;
// UnsupportedError and InvalidArgumentError for a path of a file system that there is not;
// StateError when `keep_going` says so.
std::shared_ptr<const Container> open_list(const std::string& uri, const OpenOptions& options = {});

}  // namespace fuelrail::files
