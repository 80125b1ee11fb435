// A fixture for the packer's tests: creates photographs of three classes, packs them and reads the
// result.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "fuelrail/base/error.h"
#include "fuelrail/container/image_record.h"
#include "fuelrail/container/recordio/record_reader.h"
#include "fuelrail/pack/packer.h"
#include "fuelrail/storage/file_system.h"
#include "fuelrail/testing/photograph_folder.h"
#include "fuelrail/testing/refusal.h"

namespace fuelrail {

struct Packed {
  uint64_t id = 0;
  std::vector<float> labels;
  std::string image;
};

inline std::vector<Packed> records_of(const std::string& uri) {
  recordio::RecordReader reader(file_system_for(uri).open(uri));
  std::vector<Packed> records;
  while (const auto record = reader.next()) {
    const ImageRecord image = parse_image_record(record->payload);
    records.push_back({.id = image.id, .labels = {}, .image = std::string(as_text(image.image))});
    for (size_t i = 0; i < image.label_count(); ++i) {
      records.back().labels.push_back(image.label(i));
    }
  }
  return records;
}

// Three classes, "ant", "bee" and "cat dog", with 5, 4 and 3 photographs of different sizes.
class Packer : public PhotographFolder {
 protected:
  Packer() {
    uint64_t seed = 0;
    for (const auto& [name, count] : {std::pair("ant", 5), {"bee", 4}, {"cat dog", 3}}) {
      for (int i = 0; i < count; ++i, ++seed) {
        const auto side = static_cast<int64_t>(20 + seed * 7 % 50);
        images_.push_back(std::string(name) + "/" + std::to_string(i) + ".jpg");
        put_photograph(images_.back(), side, 90 - side, seed);
      }
    }
  }

  // Replaces an existing file.
  pack::PackResult pack_photos(pack::PackOptions options = {.threads = 2}) const {
    options.job.overwrite = true;
    return pack::pack(photos(), out("x.rec"), options);
  }

  // The error text of a `pack` that must fail.
  template <typename Expected>
  std::string refusal(const std::string& source, const std::string& output,
                      const pack::PackOptions& options = {}) const {
    return testing::refusal_of<Expected>([&] { pack::pack(source, output, options); });
  }

  std::vector<std::string> images_;  // in the order of packing
};

}  // namespace fuelrail
