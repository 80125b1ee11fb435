// A list of images (`.lst`, `.csv`, `.tsv`) as a container: every line is a record.
#pragma once

#include <memory>
#include <string>

#include "fuelrail/container/container.h"
#include "fuelrail/container/open.h"

namespace fuelrail::files {

// Schema: {image: image, label: tensor}, with the label as in image records (image_record.h), so a
// list and the file that is packed from it have the same schema. Ids are the list's, and may
// repeat. A place is the image's file and the line's index, not counting empty lines. Class names
// are those of `options.classes` or, by default, the class names in the list (image_list.h). A list
// whose labels are numbers has class names only if `options.classes` is given.
//
// Opening reads the list and queries no image; image_list.h defines its format and the errors of
// lines. Images are read in the same way as a folder's (files/file_records.h). Several lines may
// name the same file. Relative paths start from `options.root`, or from the list's own folder, even
// when the process changes its working directory; errors and places show them as given. Memory: a
// path, an id, labels and a length per line.
//
// Errors: CorruptError for a line that cannot be read, for a label that is not in
// `options.classes`, and for a list without lines; NotFoundError; IoError; UnsupportedError and
// InvalidArgumentError for a path of an unknown file system; StateError when `keep_going` returns
// false.
std::shared_ptr<const Container> open_list(const std::string& uri, const OpenOptions& options = {});

}  // namespace fuelrail::files
