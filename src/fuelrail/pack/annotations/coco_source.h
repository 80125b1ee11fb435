// The images of a COCO annotation file (coco_file.h) as samples to pack.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "fuelrail/base/listener.h"
#include "fuelrail/pack/source/sample_source.h"

namespace fuelrail::pack {

struct CocoOptions {
  // The class names, by number. Default: the names of the categories, in the order of their ids.
  std::vector<std::string> classes{};
  Warn warn{};
  KeepGoing keep_going{};
};

// One sample for each image, in the file's order; its id is the image's. `images`: the folder that
// the file names are relative to. Fields, n the number of the image's objects in the file's order
// (all that have n rows are of one group):
//   image        image
//   file_name    text: that of the file
//   image_id     int64 []
// if the file has categories:
//   boxes        float32 [n, 4]: corners in pixels
//   labels       int64 [n]: class numbers, with names
//   category_ids int64 [n]: the file's own
//   iscrowd      bool [n]
//   area         float32 [n]
// if an object has key points, k the largest number of them:
//   keypoints    float32 [n, k, 3]: x, y and visibility of the middles of pixels; 0 where an
//                object has fewer
// if an object has a segmentation:
//   mask         image of 8 or 16 bits: the pixels of the j-th object are j, from 1; others 0.
//                Where objects overlap, the later one wins
//   numbers      int64 [n]: 1, 2, ..., n
// if the file has captions:
//   captions     list of text
//
// `read` has these CorruptErrors, besides those of SampleSource: an image whose height or width is
// not the file's, run lengths of another size or a wrong sum, and more objects than a mask can
// number. A remark counts the pixels where objects overlap. Errors: those of CocoFile; CorruptError
// for an object whose category is not one of the classes and, without classes, for categories with
// an empty or a repeated name; InvalidArgumentError for classes and a file without categories.
std::unique_ptr<SampleSource> open_coco(const std::string& annotations, const std::string& images,
                                        const CocoOptions& options = {});

}  // namespace fuelrail::pack
