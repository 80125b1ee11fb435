// What a record says of itself: for `ls`, `info` and `cat`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fuelrail/base/bytes.h"
#include "fuelrail/container/container.h"
#include "fuelrail/decode/probe.h"

namespace fuelrail::cli {

struct RecordInfo {
  uint64_t id = 0;
  std::vector<double> labels;
  std::string class_name;          // empty when unknown
  std::optional<ImageInfo> image;  // empty when the record holds no image that can be read
  Bytes content;                   // the encoded image, or the whole payload; valid until the next
};

// read_sample, for a command that goes on with the next record. Errors: those of read_sample; with
// the place, UnsupportedError for a record of 2 GiB or more, and IoError where the system refuses
// the memory for this one record.
void read_record(const Container& container, uint64_t i, std::vector<std::byte>& framed,
                 Sample& out);

// Reads records one after the other, reusing its memory.
class RecordInspector {
 public:
  explicit RecordInspector(const Container& container) : container_(container) {}

  // Errors: those of read_record.
  RecordInfo inspect(uint64_t i);

  // Where in a sample the image is: "image", or the first field.
  static size_t content_field(const Schema& schema);

 private:
  std::vector<double> labels() const;
  std::string class_of(const std::vector<double>& labels) const;

  const Container& container_;
  std::vector<std::byte> framed_;
  Sample sample_;
};

}  // namespace fuelrail::cli
