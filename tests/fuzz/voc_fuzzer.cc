// Annotations in PASCAL VOC's format.
#include "fuelrail/pack/annotations/voc_file.h"
#include "fuzzing.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace fuelrail;
  using fuzzing::require;
  pack::VocAnnotation annotation;
  if (!fuzzing::succeeds(
          [&] { annotation = pack::parse_voc(fuzzing::as_bytes(data, size), "fuzzed.xml"); })) {
    return 0;
  }
  if (annotation.size) {
    require(annotation.size->height > 0 && annotation.size->width > 0, "a size is not empty");
  }
  for (const pack::VocObject& object : annotation.objects) {
    require(!object.name.empty(), "an object has a class");
    require(object.box[0] <= object.box[2] && object.box[1] <= object.box[3],
            "a box is not inverted");
  }
  return 0;
}
