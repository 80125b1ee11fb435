// For tests: a RecordIO file of small photographs in memory.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "fuelrail/container/image_record.h"
#include "fuelrail/container/open.h"
#include "fuelrail/container/recordio/record_writer.h"
#include "fuelrail/storage/file_system.h"
#include "fuelrail/testing/photographs.h"

namespace fuelrail {

struct ImageSet {
  std::vector<std::vector<std::byte>> jpegs;
  std::vector<Size> sizes;
  std::shared_ptr<const Container> container;
};

// `count` JPEGs with sides of 24 to 63 pixels; labels count from 0, or are all `labels`; ids are
// 1000 + index. The record at `broken`, if set, holds bytes that are not an image.
inline ImageSet make_image_set(const std::string& uri, size_t count, size_t broken = SIZE_MAX,
                               const std::vector<float>& labels = {}) {
  ImageSet set;
  {
    file_system_for(uri).make_directory(uri.substr(0, uri.rfind('/')));
    const std::unique_ptr<Sink> sink = file_system_for(uri).create(uri);
    recordio::RecordWriter writer(*sink);
    for (size_t i = 0; i < count; ++i) {
      const Size size{24 + static_cast<int64_t>(i * 7 % 40),
                      24 + static_cast<int64_t>(i * 11 % 40)};
      set.sizes.push_back(size);
      set.jpegs.push_back(make_jpeg(size.height, size.width, i));
      const Bytes image =
          i == broken ? as_bytes("these bytes are no image") : Bytes(set.jpegs.back());
      std::vector<std::byte> payload;
      const std::vector<float> number{static_cast<float>(i)};
      append_image_record(1000 + i, labels.empty() ? number : labels, image, payload);
      writer.append(payload);
    }
    sink->commit();
  }
  set.container = open_container(uri);
  return set;
}

}  // namespace fuelrail
