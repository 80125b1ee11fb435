// A container that is one file of records with a sidecar. A format derives from it and says how its
// records lie in the file; commands ask it here what else there is, and name no format.
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

// What to do with a file that was cut.
inline constexpr const char* kRecover =
    "Restore the file, or save its readable records to a new file with 'fuelrail recover IN OUT'";

class RecordFile : public Container {
 public:
  // As image_record.h makes it of the sidecar's labels. A format whose samples are others overrides
  // both.
  const Schema& schema() const override { return parser_.schema(); }
  void parse(uint64_t i, Bytes framed, Sample& out) const override;

  const std::vector<std::string>& classes() const override { return sidecar().classes(); }

  const std::shared_ptr<const Source>& source() const { return source_; }
  const std::string& uri() const { return source_->uri(); }
  const Sidecar& sidecar() const { return *stored_.sidecar; }
  const SidecarLocation& sidecar_location() const { return stored_.location; }

  // What was written as the record, in the bytes of extent(i): no checksum is verified. Lifetime:
  // views `framed`, or `storage` where it could not be a view. Errors: those of the framing.
  virtual Bytes payload(uint64_t i, Bytes framed, std::vector<std::byte>& storage) const = 0;

  // The CRC-32 of that, where the file or its sidecar has it. Errors: CorruptError for a damaged
  // sidecar.
  virtual std::optional<uint32_t> payload_crc(uint64_t i) const = 0;

  // Whether what lies beside the file besides its sidecar (an index) is the file's.
  // `ignore_sidecar`: the sidecar is not asked how many records there should be. Errors: those of
  // an index that is not; IoError. Default: there is nothing.
  virtual void check_companions(bool /*ignore_sidecar*/) const {}

  // Whether records may be too long to be read at once; then their bytes in the file are the
  // payload, and the format overrides `read_pieces`, too. Default: no.
  virtual bool has_long_records() const { return false; }

  // Reads record i in pieces that fill `buffer`, and gives them to `take`; a wrong checksum is
  // known at the end. Errors, with the place: the source's; CorruptError; what `take` throws;
  // StateError by default.
  virtual void read_pieces(uint64_t i, MutableBytes buffer,
                           const std::function<void(Bytes piece)>& take) const;

  // How many files it holds, where a schema of the format makes them of it. Default: it is no such.
  // Errors: the source's.
  virtual std::optional<uint64_t> packed_files() const { return std::nullopt; }

 protected:
  RecordFile(std::shared_ptr<const Source> source, StoredSidecar sidecar)
      : source_(std::move(source)),
        stored_(std::move(sidecar)),
        parser_(stored_.sidecar->labels()) {}

  // The file's ends that are not as when the sidecar was made.
  const ChangedEnds& changed() const { return stored_.changed; }

 private:
  std::shared_ptr<const Source> source_;
  StoredSidecar stored_;
  PayloadParser parser_;
};

// What is left of a damaged or cut file.
struct Salvage {
  std::shared_ptr<const RecordFile> file;    // the records that are left; checksums may be wrong
  std::shared_ptr<const Sidecar> own{};      // the file's; null without one
  std::optional<uint64_t> records_before{};  // empty where nothing says how many it had

  // The key of the record at this offset, by an index, which the first call reads; `wanted` where
  // that does not say. Empty where the format has none.
  std::function<uint64_t(uint64_t offset, uint64_t wanted)> key{};
};

}  // namespace fuelrail
