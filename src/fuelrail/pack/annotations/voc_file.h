// An annotation in PASCAL VOC's XML format: the objects of one image. Source of the format: the
// development kit of VOC 2012.
//
//   <annotation>
//     <object><name>dog</name><truncated>1</truncated><difficult>0</difficult>
//       <bndbox><xmin>48</xmin><ymin>240</ymin><xmax>195</xmax><ymax>371</ymax></bndbox></object>
//   </annotation>
//
// Other elements are ignored, also the parts of an object.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "fuelrail/base/box.h"
#include "fuelrail/base/bytes.h"

namespace fuelrail::pack {

struct VocObject {
  std::string name;
  // x1, y1, x2, y2: corners in pixels. The file counts pixels from 1, and a box includes its last
  // pixels: the corners are xmin - 1, ymin - 1, xmax, ymax.
  std::array<float, 4> box{};
  bool is_difficult = false;
  bool is_truncated = false;
};

struct VocAnnotation {
  std::optional<Size> size;  // of the image
  std::vector<VocObject> objects;
};

// `uri` names the file in errors. Errors: CorruptError for a text that is not XML (with the offset)
// or has not one element `annotation` as its root, and, with the object, for a missing name or box,
// a text that is not UTF-8 or has an element inside, a number that is not one, a box that is not
// finite or whose minimum is above its maximum, and a flag other than 0 and 1.
VocAnnotation parse_voc(Bytes xml, const std::string& uri);

}  // namespace fuelrail::pack
