// Checks records, and says what it finds: for `verify`.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fuelrail/base/error.h"
#include "fuelrail/base/scratch.h"
#include "fuelrail/cli/piece_reader.h"
#include "fuelrail/container/container.h"
#include "fuelrail/container/damage.h"
#include "fuelrail/decode/decoder.h"

namespace fuelrail::cli {

struct Finding {
  std::string text;     // one line, with the place
  std::string problem;  // what is wrong
  std::string path;
  std::optional<uint64_t> record{};
  std::optional<uint64_t> offset{};
  std::optional<uint64_t> skipped_bytes{};  // of damaged framing
  bool unread = false;                      // nothing is known to be damaged: it could not be read
  bool in_image = false;                    // the record was read; its image cannot be
};

Finding finding_of(const Error& error);
Finding finding_of(const Damage& damage);

struct CheckedRecord {
  std::optional<Finding> finding{};  // what is wrong; empty when nothing is
  uint32_t tolerated = 0;            // oddities that decoding passed over (decode/decoder.h)
};

// Reads one record after the other, checking all that can be checked. One a thread.
class RecordChecker {
 public:
  // Lifetime: the container outlives the checker.
  RecordChecker(const Container& container, bool decode);

  // Long records (piece_reader.h) are checked against their checksums alone. After an interrupt the
  // result says nothing. Errors: StateError, where this machine cannot decode the images' format;
  // all others are findings. Requires: i < container.size().
  CheckedRecord check(uint64_t i);

 private:
  Finding finding_at(uint64_t i, Error& error) const;
  // Returns: what was tolerated.
  uint32_t check_image(const EncodedImage& encoded);

  const Container& container_;
  PieceReader pieces_;
  std::unique_ptr<Decoder> decoder_;
  std::vector<std::byte> framed_;
  Sample sample_;
  Scratch pixels_;
};

}  // namespace fuelrail::cli
