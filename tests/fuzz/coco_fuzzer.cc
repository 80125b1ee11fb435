// Annotations in COCO's format: the file, its polygons, and its run lengths.
#include <string_view>
#include <variant>

#include "fuelrail/pack/annotations/coco_file.h"
#include "fuelrail/pack/annotations/polygon.h"
#include "fuelrail/pack/annotations/rle.h"
#include "fuelrail/storage/file_system.h"
#include "fuzzing.h"

namespace {

using namespace fuelrail;
using fuzzing::require;

constexpr const char* kUri = "memory://fuzzed.json";
constexpr size_t kMostCorners = 32;  // an edge may have a million steps

void check_polygons(const pack::Polygons& polygons, Size image) {
  for (const std::vector<double>& polygon : polygons) {
    require(polygon.size() >= 6 && polygon.size() % 2 == 0, "a polygon has corners");
    if (polygon.size() > 2 * kMostCorners) continue;
    pack::check_run_lengths(pack::rasterise(polygon, image), image);
  }
}

void check_runs(const pack::EncodedRuns& runs) {
  fuzzing::succeeds([&] {
    const auto* text = std::get_if<std::string>(&runs.lengths);
    const pack::RunLengths lengths =
        text != nullptr ? pack::parse_run_lengths(*text) : std::get<pack::RunLengths>(runs.lengths);
    pack::check_run_lengths(lengths, runs.image);
  });
}

void check_object(const pack::CocoFile& file, const pack::CocoObject& object, Size image) {
  require(file.position_of(object.category_id) < file.categories().size(), "a class has a name");
  require(object.box[0] <= object.box[2] && object.box[1] <= object.box[3],
          "a box is not inverted");
  require(object.key_points.size() <= 3 * file.key_points(), "key points are counted");
  const bool has_mask = object.segmentation.index() != 0;
  require(!has_mask || file.has_masks(), "masks are announced");
  if (const auto* polygons = std::get_if<pack::Polygons>(&object.segmentation)) {
    check_polygons(*polygons, image);
  } else if (const auto* runs = std::get_if<pack::EncodedRuns>(&object.segmentation)) {
    check_runs(*runs);
  }
}

void check_file(Bytes text) {
  const auto sink = file_system_for(kUri).create(kUri);
  sink->write(text);
  sink->commit();
  const pack::CocoFile file(kUri);
  for (uint64_t i = 0; i < file.size(); ++i) {
    require(!file.file_name(i).empty() && file.id(i) >= 0, "an image has a name and an id");
    uint64_t next = 0;
    for (const pack::CocoAnnotation& annotation : file.annotations(i)) {
      require(annotation.number >= next, "annotations are in order");
      next = annotation.number + 1;
      require(annotation.object || annotation.caption, "an annotation has content");
      if (annotation.object) check_object(file, *annotation.object, file.image_size(i));
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const Bytes bytes = fuzzing::as_bytes(data, size);
  fuzzing::succeeds([&] {
    require(pack::parse_run_lengths(as_text(bytes)).size() <= size, "a length has a character");
  });
  fuzzing::succeeds([&] { check_file(bytes); });
  return 0;
}
