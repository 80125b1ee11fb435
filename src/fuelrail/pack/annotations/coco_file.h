// An annotation file in COCO's JSON format: boxes, masks, key points and captions of images.
// Source of the format: https://cocodataset.org/#format-data.
//
//   {"images":      [{"id": 9, "file_name": "a.jpg", "height": 480, "width": 640}],
//    "categories":  [{"id": 3, "name": "car"}],
//    "annotations": [{"id": 1, "image_id": 9, "category_id": 3, "bbox": [x, y, width, height],
//                     "segmentation": [[x, y, x, y, x, y]], "area": 12.5, "iscrowd": 0,
//                     "keypoints": [x, y, visibility]},
//                    {"id": 2, "image_id": 9, "caption": "A red car."}]}
//
// Other members are ignored. `segmentation` is a list of polygons or run lengths ({"size": [height,
// width], "counts": a list or a string}). `iscrowd` is 0 by default, `area` that of the box.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "fuelrail/base/box.h"
#include "fuelrail/base/listener.h"
#include "fuelrail/pack/annotations/coco_annotation.h"

namespace fuelrail::pack {

struct CocoCategory {
  int64_t id = 0;
  std::string name;
};

// Immutable. Threads: any number may call any method at once. Memory: the text of the annotations
// that are used, 36 bytes for each of them, and 40 bytes and the name for each image; while
// it is being read, 16 bytes more for each. That is less than three times the file's length.
class CocoFile {
 public:
  // Reads the whole file and checks it. `warn` is told of polygons with fewer than three corners,
  // which cover no pixels and are left out, and of annotation ids that repeat. Errors:
  // NotFoundError; IoError; StateError when `keep_going` returns false; CorruptError for a file
  // that is not JSON (with the offset), and, with the place in the JSON
  // (`annotations[12].bbox`), for a file without `images`, a member that is missing, repeats
  // or has the wrong type, an id of an image or category that repeats, one that no image or
  // category has, a box that is not finite or whose width or height is negative, a polygon with an
  // odd number of coordinates or a corner farther away than kFarthestCorner, and run lengths
  // without a size.
  explicit CocoFile(const std::string& uri, const Warn& warn = {},
                    const KeepGoing& keep_going = {});

  const std::string& uri() const { return uri_; }

  uint64_t size() const { return images_.size(); }  // images, in the file's order
  int64_t id(uint64_t i) const { return images_[i].id; }
  Size image_size(uint64_t i) const { return {images_[i].height, images_[i].width}; }
  std::string_view file_name(uint64_t i) const;

  // The annotations of image i, in the file's order.
  std::vector<CocoAnnotation> annotations(uint64_t i) const;

  // A CRC-32 of the annotations that are used, and of the images' sizes.
  uint32_t checksum() const;

  // By id.
  const std::vector<CocoCategory>& categories() const { return categories_; }
  size_t position_of(int64_t category_id) const;

  // Reads all annotations' category ids. Requires: a category's id.
  bool has_objects_of(int64_t category_id) const;

  bool has_objects() const { return has_objects_; }    // categories, or an annotation that has one
  bool has_captions() const { return has_captions_; }  // at least one
  bool has_masks() const { return has_masks_; }        // at least one object has a segmentation
  size_t key_points() const { return key_points_; }    // of the object with the most

 private:
  friend class CocoReader;
  struct Image {
    int64_t id;
    uint32_t height;
    uint32_t width;
    uint64_t name_end;  // in `names_`
  };
  struct Row {            // an annotation
    uint64_t image;       // while the file is being read, the image's id
    int64_t category_id;  // of an object
    uint64_t text_end;    // in `texts_`
  };

  std::string uri_;
  std::vector<Image> images_;
  std::string names_;
  std::vector<Row> rows_;
  std::string texts_;               // the members that are used, as JSON
  std::vector<uint32_t> in_order_;  // the rows of image 0, of image 1, ...
  std::vector<uint64_t> ends_;      // of each image's, in `in_order_`
  std::vector<CocoCategory> categories_;
  bool has_objects_ = false;
  bool has_captions_ = false;
  bool has_masks_ = false;
  size_t key_points_ = 0;
};

}  // namespace fuelrail::pack
