// Lists of images (`.lst`): read as `fuelrail pack` reads them, and opened as a container.
#include <cmath>
#include <string_view>

#include "fuelrail/container/files/image_list.h"
#include "fuelrail/container/files/list_container.h"
#include "fuelrail/storage/file_system.h"
#include "fuzzing.h"

namespace {

using namespace fuelrail;
using fuzzing::require;

// The container of the same text has the same images. None of the image files exists.
void check_container(Bytes text, const ImageList& images) {
  constexpr const char* kUri = "memory://fuzzed.lst";
  const auto sink = file_system_for(kUri).create(kUri);
  sink->write(text);
  sink->commit();
  std::shared_ptr<const Container> list;
  const bool opened =
      fuzzing::succeeds([&] { list = files::open_list(kUri, {.root = "memory://root"}); });
  if (!opened) return;  // an empty list, or an unknown file system
  require(list->size() == images.size(), "every line is a record");
  require(list->classes() == images.classes(), "the classes are the list's words");
  const FieldSpec& label = list->schema().fields[1];
  for (uint64_t i = 0; i < images.size(); ++i) {
    require(list->place(i).path == listed_uri(images.path(i), "memory://root"),
            "a place is the image's path");
    require(!list->knows_extent(i), "opening looks at no image");
    const auto labels = static_cast<int64_t>(images.labels(i).size());
    const int64_t width = label.shape.empty() ? 1 : label.shape[0];
    require(width == -1 || width == labels, "the schema holds every line's labels");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  ImageList images;
  if (!fuzzing::succeeds([&] { images = parse_image_list(text, "fuzzed.lst"); })) return 0;
  uint64_t line = 0;
  for (uint64_t i = 0; i < images.size(); ++i) {
    require(images.line(i) > line, "lines count up");
    require(!images.path(i).empty(), "an image has a path");
    require(!images.labels(i).empty(), "an image has a label");
    const bool named = images.classes().empty() ||
                       (images.labels(i).size() == 1 &&
                        images.labels(i)[0] < static_cast<float>(images.classes().size()));
    require(named, "a word's label is the number of a class");
    for (const float label : images.labels(i)) require(std::isfinite(label), "labels are finite");
    line = images.line(i);
  }
  repeated_ids(images);
  check_container(fuzzing::as_bytes(data, size), images);
  return 0;
}
