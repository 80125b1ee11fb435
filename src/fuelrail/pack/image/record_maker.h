// Makes the payloads of records from images: what pack/image/image_pipeline.h does to their pixels,
// and how a format stores the result.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "fuelrail/container/formats.h"
#include "fuelrail/pack/image/image_pipeline.h"
#include "fuelrail/pack/image/quality.h"
#include "fuelrail/pack/source/pack_source.h"

namespace fuelrail::pack {

// What happened to an image on its way into a record.
struct MadeRecord {
  std::optional<MeasuredStill> measured{};  // set for a still that was encoded, with `measure`
  uint64_t recoded = 0;                     // images that became baseline JPEGs
};

// Threads: one maker for each thread; it keeps its working memory between calls.
class RecordMaker {
 public:
  virtual ~RecordMaker() = default;
  RecordMaker& operator=(RecordMaker&&) = delete;

  // Replaces `payload` with the record of the image, which is number `place` of its source.
  // Errors: those of ImagePipeline; UnsupportedError for an image that is too long for a record,
  // and for labels that the format cannot store.
  virtual MadeRecord make(const SourceImage& image, uint64_t place,
                          std::vector<std::byte>& payload) = 0;
};

// Requires: check(steps) has passed. Lifetime: `steps` outlives the maker.
std::unique_ptr<RecordMaker> make_record_maker(RecordContent content, const ImageSteps& steps);

// Replaces `payload` with an image record with these encoded bytes. Errors: UnsupportedError for an
// image that is too long for a record.
void make_image_record(const SourceImage& image, Bytes encoded, std::vector<std::byte>& payload);

}  // namespace fuelrail::pack
