// Checks records and returns the problems found, for `verify`.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fuelrail/base/error.h"
#include "fuelrail/cli/piece_reader.h"
#include "fuelrail/container/container.h"
#include "fuelrail/container/damage.h"
#include "fuelrail/container/hint_workers.h"
#include "fuelrail/container/record_file.h"
#include "fuelrail/pack/image/whole_decoder.h"

namespace fuelrail::cli {

struct Finding {
  std::string text;     // the printed line, with the place
  std::string problem;  // for --json
  std::string path;
  std::optional<uint64_t> record{};
  std::optional<uint64_t> offset{};
  std::optional<uint64_t> skipped_bytes{};  // only for damaged framing
  bool unread = false;                      // could not be read; not known to be damaged
  bool in_image = false;                    // the record could be read, but its image is bad
  bool in_hints = false;                    // only the sidecar's hints of the image are wrong
};

Finding finding_of(const Error& error);
Finding finding_of(const Damage& damage);

struct CheckedRecord {
  std::optional<Finding> finding{};  // the problem, or empty
  uint32_t tolerated = 0;            // oddities that decoding tolerated (decode/decoder.h)
  std::optional<Finding> suspect{};  // an image decodes without a warning, but may be damaged
};

// Reads records, and checks everything that can be checked. One checker per thread.
class RecordChecker {
 public:
  // `full`: the same records with their images in full size; null if `container` has these or if
  // they are not checked. Lifetime: the containers outlive the checker.
  RecordChecker(const Container& container, bool decode, const Container* full = nullptr);

  // Checks record i. For a long record (piece_reader.h), checks only the checksum. After an
  // interrupt the result is meaningless. Requires: i < container.size(). Errors: StateError if this
  // machine cannot decode the images' format; all other errors become findings.
  CheckedRecord check(uint64_t i);

 private:
  void check_tables(uint64_t i) const;
  Finding finding_at(uint64_t i, Error& error) const;
  uint32_t check_images(const Container& container);
  // Returns: the number of tolerated oddities. Masks and maps are decoded to values.
  uint32_t check_image(const FieldSpec& field, const EncodedImage& encoded);
  bool has_own_hints(const EncodedImage& encoded) const;

  bool has_suspect_ = false;  // the record that is checked
  bool has_wrong_hints_ = false;
  const Container& container_;
  const Container* full_;
  const std::vector<const RecordFile*> files_;
  PieceReader pieces_;
  std::optional<pack::WholeDecoder> decoder_;
  const MakeHints make_hints_;
  std::vector<std::byte> framed_;
  Sample sample_;
  const std::byte* checked_ = nullptr;  // the record's image that was checked last
};

}  // namespace fuelrail::cli
