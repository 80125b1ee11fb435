// A dataset in the layout of PASCAL VOC as samples to pack.
//
//   Annotations/7.xml   JPEGImages/7.jpg   SegmentationClass/7.png   SegmentationObject/7.png
//   ImageSets/Main/train.txt: the names of a set's images, one a line
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "fuelrail/base/listener.h"
#include "fuelrail/pack/source/sample_source.h"

namespace fuelrail::pack {

struct VocOptions {
  // A list in ImageSets: "train" for ImageSets/Main/train.txt, "Segmentation/train" for
  // ImageSets/Segmentation/train.txt. The first word of a line is a name; a second word "-1" means
  // that the image has no object of the list's class, and is skipped. Default: all annotations, in
  // the code-point order of their names.
  std::string set{};
  // The class names, by number. Default: the names of the objects, in code-point order.
  std::vector<std::string> classes{};
  Warn warn{};
  KeepGoing keep_going{};
};

// One sample for each image; its id is its position. Fields, n the number of the image's objects in
// the file's order (all that have n rows are of one group):
//   image        image
//   file_name    text: that of the image in JPEGImages
//   boxes        float32 [n, 4]: corners in pixels
//   labels       int64 [n]: class numbers, with names
//   difficult    bool [n]
//   truncated    bool [n]
// if all images have a file in SegmentationClass:
//   mask         image: 0 is the background, 255 counts as nothing, others are a class number + 1
// if all images have a file in SegmentationObject:
//   instances    image: 0 is the background, 255 counts as nothing, others are an object's number
//   numbers      int64 [n]: the numbers, 1, 2, ..., n
// An annotation without an image, and a name of the set without an annotation, is one of `unread`.
// Reads all annotations, and keeps 24 bytes for each object. Warns if some images, but not all,
// have masks, and of boxes that begin at 0. Errors: NotFoundError; IoError; those of parse_voc;
// those of images_by_stem; CorruptError for an object whose class is not one of `classes`, and if
// there is nothing to pack. `read` has those of set_image and set_mask, and CorruptError for an
// image whose size is not that in its annotation.
std::unique_ptr<SampleSource> open_voc(const std::string& root, const VocOptions& options);

}  // namespace fuelrail::pack
