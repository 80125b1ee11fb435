// A container that is one file of records with a sidecar. Each format derives a class that knows
// how records are stored in the file. Commands use this interface and name no format.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fuelrail/base/bytes.h"
#include "fuelrail/container/container.h"
#include "fuelrail/container/damage.h"
#include "fuelrail/container/image_record.h"
#include "fuelrail/container/sidecar/sidecar_store.h"

namespace fuelrail {

// The remedy for a truncated file.
inline constexpr const char* kRecover =
    "Restore the file, or save its readable records to a new file with 'fuelrail recover IN OUT'";

class RecordFile : public Container {
 public:
  // As image_record.h defines them for the sidecar's labels. A format with other samples overrides
  // both.
  const Schema& schema() const override { return parser_.schema(); }
  void parse(uint64_t i, Bytes framed, Sample& out) const override;

  const std::vector<std::string>& classes() const override { return sidecar().classes(); }

  const std::shared_ptr<const Source>& source() const { return source_; }
  const std::string& uri() const { return source_->uri(); }
  const Sidecar& sidecar() const { return *stored_.sidecar; }
  const SidecarLocation& sidecar_location() const { return stored_.location; }

  // The payload in the bytes of extent(i), without verifying a checksum. Lifetime: a view into
  // `framed`, or into `storage` if the payload had to be assembled. Errors: those of the framing.
  virtual Bytes payload(uint64_t i, Bytes framed, std::vector<std::byte>& storage) const = 0;

  // The payload's CRC-32, if the file or its sidecar has it. Errors: CorruptError for a damaged
  // sidecar.
  virtual std::optional<uint32_t> payload_crc(uint64_t i) const = 0;

  // Checks that other companions of the file (an index) belong to it. `ignore_sidecar`: do not
  // compare with the sidecar's number of records. Errors: those of an index that does not belong;
  // IoError. Default: there are none.
  virtual void check_companions(bool /*ignore_sidecar*/) const {}

  // Whether records may be too long to be read in one piece. If so, a record's bytes in the file
  // are its payload, and the format also overrides `read_pieces`. Default: no.
  virtual bool has_long_records() const { return false; }

  // Reads record i in pieces that fill `buffer`, and passes each to `take`. A wrong checksum is
  // detected only at the end. Errors, with the place: those of the source; CorruptError; anything
  // that `take` throws; StateError by default.
  virtual void read_pieces(uint64_t i, MutableBytes buffer,
                           const std::function<void(Bytes piece)>& take) const;

  // The number of packed files, if the file can be read as a packed folder. Default: it cannot.
  // Errors: those of the source.
  virtual std::optional<uint64_t> packed_files() const { return std::nullopt; }

 protected:
  RecordFile(std::shared_ptr<const Source> source, StoredSidecar sidecar)
      : source_(std::move(source)),
        stored_(std::move(sidecar)),
        parser_(stored_.sidecar->labels()) {}

  // The ends of the file that have changed since the sidecar was built.
  const ChangedEnds& changed() const { return stored_.changed; }

 private:
  std::shared_ptr<const Source> source_;
  StoredSidecar stored_;
  PayloadParser parser_;
};

// The readable part of a damaged or truncated file.
struct Salvage {
  std::shared_ptr<const RecordFile> file;    // the readable records; checksums may be wrong
  std::shared_ptr<const Sidecar> own{};      // the file's sidecar; null without one
  std::optional<uint64_t> records_before{};  // the file's original number; empty if unknown

  // The index key of the record at this offset, or `wanted` if the index does not have the record.
  // The first call reads the index. Empty if the format has no index.
  std::function<uint64_t(uint64_t offset, uint64_t wanted)> key{};
};

}  // namespace fuelrail
