// Information about one record, for `ls`, `info` and `cat`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fuelrail/base/bytes.h"
#include "fuelrail/cli/piece_reader.h"
#include "fuelrail/container/container.h"
#include "fuelrail/decode/probe.h"

namespace fuelrail::cli {

struct RecordInfo {
  uint64_t id = 0;
  std::vector<double> labels;
  std::string class_name;               // empty when unknown
  std::string name{};                   // of the image's file; empty if the record has none
  std::optional<uint64_t> objects{};    // rows in all groups; only without a field `label`
  std::optional<ImageInfo> image;       // empty if the record has no readable image
  const ImageFormat* format = nullptr;  // of the image, even if it cannot be decoded; null: unknown
  uint64_t content_bytes = 0;           // size of `content`, even if `is_long`
  // The inspected field, or the whole record if that field does not stand alone.
  // Valid until the next `inspect`. Empty if `is_long`.
  Bytes content;
  EncodedImage encoded{};  // the image in it; as long valid
  bool is_long = false;    // only the beginning was read, and no checksum was verified
};

// As read_sample, but reads the whole record (Container::record_extent), so that all its bytes are
// checked, for commands that continue with the next record after an error. Errors: those
// of read_sample; IoError, with the record's place, if there is not enough memory for the record;
// Interrupted.
void read_record(const Container& container, uint64_t i, std::vector<std::byte>& framed,
                 Sample& out);

// The field with the name of the image's file: `name` or `file_name`; empty if there is none.
std::string_view name_field(const Schema& schema);

// Reads records one after the other into the same memory.
class RecordInspector {
 public:
  // `field`: the field to inspect. Default: content_field (opening.h).
  explicit RecordInspector(const Container& container, std::optional<size_t> field = {});

  // Reads record i, or only its beginning if it is long (piece_reader.h). Of a list, the content is
  // its first item. Errors: those of read_record.
  RecordInfo inspect(uint64_t i);

  // The sample that `inspect` read, unless the record is long. As long valid as
  // RecordInfo::content.
  const Sample& sample() const { return sample_; }

  // The reader of long records.
  PieceReader& pieces() { return pieces_; }

 private:
  RecordInfo inspect_long(uint64_t i);
  std::vector<double> labels() const;
  std::string name() const;
  std::optional<uint64_t> objects() const;
  std::string class_of(const std::vector<double>& labels) const;

  const Container& container_;
  const size_t field_;
  PieceReader pieces_;
  std::vector<std::byte> framed_;
  Sample sample_;
};

}  // namespace fuelrail::cli
