// Reads images of a source and makes the payloads of their records.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fuelrail/base/error.h"
#include "fuelrail/container/hint_workers.h"
#include "fuelrail/container/payload.h"
#include "fuelrail/pack/image/record_maker.h"
#include "fuelrail/pack/image/spare_buffers.h"
#include "fuelrail/pack/source/pack_source.h"

namespace fuelrail::pack {

struct PackedImage {
  uint64_t id = 0;
  std::vector<std::byte> payload;
  uint32_t crc = 0;
  std::vector<std::byte> hints{};  // of the payload's image (EncodedImage::hints)
  MadeRecord made{};               // as RecordMaker::make returns it
  std::string failure;             // the reason for a missing payload; empty on success
  bool ended = false;              // the source is a stream that has no image i
};

// The error's message without its path and record, because the report stores the path separately.
std::string reason_of(const Error& error);

// Threads: one reader for each thread, which creates, uses and destroys it; it keeps its working
// memory between calls.
class ImageReader {
 public:
  // `make_hints`: empty: no hints are made. `first_label_only`: as in PackOptions. `spares`: for
  // payloads; give them back. Requires: check(steps) has passed. Lifetime: `source`, `steps` and
  // `spares` outlive the reader.
  ImageReader(const PackSource& source, const ImageSteps& steps, RecordContent content,
              MakeHints make_hints, bool first_label_only, SpareBuffers& spares);

  // Reads and prepares image i. An error that affects only this image is not thrown but returned in
  // PackedImage::failure. Requires: as in PackSource::read. Errors, which name the image's path:
  // StepsError; MissingCodecError.
  PackedImage read(uint64_t i);

 private:
  const PackSource& source_;
  std::shared_ptr<const void> thread_;
  bool first_label_only_;
  SpareBuffers& spares_;
  std::unique_ptr<RecordMaker> maker_;
  MakeHints make_hints_;  // empty: none are made
  OnlyImage only_image_;
  SourceImage image_;
};

}  // namespace fuelrail::pack
