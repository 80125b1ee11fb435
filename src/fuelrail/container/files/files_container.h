// A folder of images with one sub-folder per class, as torchvision's ImageFolder reads it. Every
// image file is a record. Its label is the position of its class folder's name in code-point order,
// or in `OpenOptions::classes`.
//
//   train/cat/1.jpg  train/cat/black/7.png  train/dog/2.JPEG
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "fuelrail/container/container.h"
#include "fuelrail/container/open.h"

namespace fuelrail::files {

// Whether a file name has the extension of an image format that folders list
// (ImageFormat::in_folders), in upper or lower case. `image_extensions` lists these extensions.
bool has_image_extension(std::string_view name);
std::string image_extensions();  // ".jpg, .jpeg, ...": for messages

// The longest file that is read as an image, equal to RecordIO's longest payload.
// `Container::extent` refuses a longer file before memory is allocated for it.
inline constexpr uint64_t kMaxImageFileBytes = (uint64_t{1} << 29) - 1;

// Schema: {image: image, label: tensor int64 []}. Ids are indices; a place is the image's file and
// its index here. As in ImageFolder, records are ordered by label, within a class by folder (all
// folders below the class, links followed), and then by name; folders and names are in code-point
// order. Files that are not images are skipped, and one warning counts them. Files and folders
// whose names begin with a dot are skipped, and a second warning counts them
// (files/hidden_names.h).
//
// Opening lists names, on several threads, and queries no file. File lengths are handled as in
// files/file_records.h. Memory: a name and a length per file. A relative `uri` keeps its meaning
// when the process changes its working directory; errors and places show it as given.
//
// Warns if classes look like dataset splits (`train` and `val` that contain folders), and if no
// class folder contains images directly: the dataset may be one folder further down.
//
// Errors: NotFoundError if there is no class folder, or if a class folder has no images;
// InvalidArgumentError for a class folder that is not in `options.classes`, if the top folder has
// images but no class folders, and if folders are nested deeper than 32 levels (for example through
// a link to a folder above); IoError for a folder that cannot be read, unless `leave_out` accepts
// it; StateError when `keep_going` returns false.
std::shared_ptr<const Container> open_files(const std::string& uri,
                                            const OpenOptions& options = {});

}  // namespace fuelrail::files
