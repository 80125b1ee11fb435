// A folder of images with one sub-folder a class, as torchvision's ImageFolder reads it: every
// image file is a record, and its label is the rank of its class folder's name in code-point order,
// or its place in `OpenOptions::classes`.
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

// Whether a file is an image, by the extension of its name in either case. The one list of
// extensions is in the source.
bool has_image_extension(std::string_view name);
std::string image_extensions();  // ".jpg, .jpeg, ...": for messages

// The longest file that is read as an image, which is RecordIO's longest payload too.
// `Container::extent` refuses a longer one, before anybody allocates for it.
inline constexpr uint64_t kMaxImageFileBytes = (uint64_t{1} << 29) - 1;

// Schema: {image: image, label: tensor int64 []}. Ids are indices; a place is the image's file and
// its index here. Order, as ImageFolder's: by label; in a class, by folder (all below the class,
// links followed) and then by name, both in code-point order. Files that are no images are left out
// and counted in one warning; names that begin with a dot, of folders and of files, are passed over
// and counted in another (files/hidden_names.h).
//
// Opening lists names, by several threads, and looks at no file. A file's length is what it is when
// `extent` or `fingerprint` first asks (the latter asks for all, by several threads), and known
// from then on (`knows_extent`); a change after that is an error at the read. In the fingerprint a
// file that has gone counts as an empty one. Keeps a name and a length of each file, and opens a
// file only while it is read. A relative `uri` stays the folder that it was at opening when the
// process changes its directory; errors and places spell it as it was given.
//
// Warns where classes look like parts of a data set (`train` and `val` that hold folders), and
// where no class folder has images itself: what is meant may be one folder further down.
//
// Errors: NotFoundError when there is no class folder, or one without any image;
// InvalidArgumentError for a class folder that is not in `options.classes`, when images lie in the
// top folder alone, and when folders are nested deeper
// than 32 (a link that leads back); IoError for a folder that cannot be read, unless `leave_out`
// takes it; StateError when `keep_going` says so.
std::shared_ptr<const Container> open_files(const std::string& uri,
                                            const OpenOptions& options = {});

}  // namespace fuelrail::files
