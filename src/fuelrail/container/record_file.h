// A container that is one record file with its sidecar. Each format has a derived class, which
// knows how the file stores records. Commands use only this interface, so they work with every
// format.
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
#include "fuelrail/container/payload.h"
#include "fuelrail/container/record_split.h"
#include "fuelrail/container/sidecar/sidecar_store.h"

namespace fuelrail {

// The remedy for a truncated file.
inline constexpr const char* kRecover =
    "Restore the file, or save its readable records to a new file with 'fuelrail recover IN OUT'";

class RecordFile : public Container {
 public:
  // Schema and samples are those that payload.h defines for the kind of payloads in the sidecar. In
  // sample records, a label is an index in its field's class names, if the sidecar has any. A
  // format with different samples overrides both methods. An image has hints only if the record's
  // checksum was verified.
  const Schema& schema() const override { return parser_.schema(); }
  void parse(uint64_t i, Bytes framed, Sample& out) const override;

  const std::vector<std::string>& classes() const override { return sidecar().classes(); }
  const std::vector<std::string>& classes_of(std::string_view field) const override;

  const std::shared_ptr<const Source>& source() const { return source_; }
  const std::string& uri() const { return source_->uri(); }
  const Sidecar& sidecar() const { return *stored_.sidecar; }
  const SidecarLocation& sidecar_location() const { return stored_.location; }

  // The payload in `framed`, the bytes of record_extent(i); no checksum is verified. Lifetime: a
  // view into `framed`, or into `storage` if the payload had to be assembled. Errors: those of the
  // framing.
  virtual Bytes payload(uint64_t i, Bytes framed, std::vector<std::byte>& storage) const = 0;

  // The payload's CRC-32; empty if neither the file nor its sidecar stores it. Errors: CorruptError
  // for a damaged sidecar.
  virtual std::optional<uint32_t> payload_crc(uint64_t i) const = 0;

  // The hints of the image of record i (EncodedImage::hints). `crc`: the payload's CRC-32, which
  // the caller has just verified. No bytes if the sidecar has no hints of this image; an empty
  // optional if they are those of another payload, or cannot be read: decoding needs no hints, so
  // that is no error. Lifetime: a view into `storage`.
  std::optional<Bytes> hints(uint64_t i, uint32_t crc, std::vector<std::byte>& storage) const;

  // The number of records whose image has hints; 0 if that cannot be read. Empty if none can have
  // any, because records do not have exactly one image.
  std::optional<uint64_t> hinted_records() const;

  // Checks that the file's other companion, its index, belongs to the file. `ignore_sidecar`: do
  // not compare the index with the sidecar's number of records. Errors: CorruptError or
  // TruncatedError for an index that does not belong to the file; IoError. Default: the format has
  // no index.
  virtual void check_companions(bool /*ignore_sidecar*/) const {}

  // Whether records may be too long to be read in one piece. If true, a record's bytes in the file
  // are its payload, and the format also overrides `read_pieces`. Default: no.
  virtual bool has_long_records() const { return false; }

  // Reads record i in pieces that fill `buffer`, and passes each to `take`. A wrong checksum is
  // detected only at the end. Errors, with the place: those of the source; CorruptError; anything
  // that `take` throws. Default: throws a StateError.
  virtual void read_pieces(uint64_t i, MutableBytes buffer,
                           const std::function<void(Bytes piece)>& take) const;

  // Checks that record i does not contradict the file's tables. `copied`: also that the payload
  // alone has all that they store about the record. Errors: CorruptError; those of parsing the
  // payload. Default: nothing.
  virtual void check_record(uint64_t /*i*/, Bytes /*payload*/, bool /*copied*/) const {}

  // The splits that the file stores; none by default. Errors: CorruptError for a damaged table;
  // those of the source.
  virtual std::vector<RecordSplit> splits() const { return {}; }

  // The number of files in a packed folder; empty (the default) if the file is not a packed folder.
  // Errors: those of the source.
  virtual std::optional<uint64_t> packed_files() const { return std::nullopt; }

 protected:
  RecordFile(std::shared_ptr<const Source> source, StoredSidecar sidecar);

  // The ends of the file that have changed since the sidecar was built.
  const ChangedEnds& changed() const { return stored_.changed; }

 private:
  std::shared_ptr<const Source> source_;
  StoredSidecar stored_;
  PayloadParser parser_;
  std::optional<size_t> hinted_;  // the field whose images may have hints
};

// The readable part of a damaged or truncated file.
struct Salvage {
  std::shared_ptr<const RecordFile> file;    // the readable records; checksums may be wrong
  std::shared_ptr<const Sidecar> own{};      // the file's sidecar; null if there is none
  std::optional<uint64_t> records_before{};  // before the damage; empty if unknown

  // Returns the index key of the record at `offset`. If the index does not have the record, returns
  // `wanted` or, if another record has that key, an unused key. The first call reads the index. The
  // function is empty if the format has no index.
  std::function<uint64_t(uint64_t offset, uint64_t wanted)> key{};
};

}  // namespace fuelrail
