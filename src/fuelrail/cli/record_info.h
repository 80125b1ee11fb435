// What a record says of itself: for `ls`, `info` and `cat`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fuelrail/base/bytes.h"
#include "fuelrail/cli/piece_reader.h"
#include "fuelrail/container/container.h"
#include "fuelrail/decode/probe.h"

namespace fuelrail::cli {

struct RecordInfo {
  uint64_t id = 0;
  std::vector<double> labels;
  std::string class_name;          // empty when unknown
  std::optional<ImageInfo> image;  // empty when the record holds no image that can be read
  uint64_t content_bytes = 0;      // of the first encoded image, or of the whole payload
  Bytes content;                   // these, valid until the next; empty where `is_long`
  bool is_long = false;            // only its beginning was read, and no checksum verified
};

// read_sample, for a command that goes on with the next record. Errors: those of read_sample; with
// the place, IoError where the system refuses the memory for this one record; Interrupted.
void read_record(const Container& container, uint64_t i, std::vector<std::byte>& framed,
                 Sample& out);

// Reads records one after the other, reusing its memory.
class RecordInspector {
 public:
  explicit RecordInspector(const Container& container)
      : container_(container), pieces_(container) {}

  // Of a long record (piece_reader.h) only the beginning is read. Errors: those of read_record.
  RecordInfo inspect(uint64_t i);

  // For those that are long.
  PieceReader& pieces() { return pieces_; }

 private:
  RecordInfo inspect_long(uint64_t i);
  std::vector<double> labels() const;
  std::string class_of(const std::vector<double>& labels) const;

  const Container& container_;
  PieceReader pieces_;
  std::vector<std::byte> framed_;
  Sample sample_;
};

}  // namespace fuelrail::cli
