#include "fuelrail/container/recordio/format.h"

#include <vector>

#include "fuelrail/base/error.h"
#include "fuelrail/container/recordio/framing.h"
#include "fuelrail/container/recordio/index_file.h"
#include "fuelrail/container/recordio/record_writer.h"
#include "fuelrail/container/recordio/recordio_container.h"

namespace fuelrail::recordio {
namespace {

class Writer final : public RecordFileWriter {
 public:
  explicit Writer(const RecordFileSinks& sinks)
      : data_(sinks.data), records_(data_), index_(*sinks.index), sidecar_(sinks.sidecar) {}

  void append(Bytes payload, uint32_t crc, uint64_t key) override {
    const uint64_t offset = records_.append(payload);
    index_.add(key, offset);
    sidecar_.add_record({.offset = offset, .length = data_.position() - offset}, crc);
  }
  std::optional<Bytes> payload_of(Bytes framed) override {
    try {
      const Unframed record = unframe(framed, unframed_);
      if (record.framed_bytes != framed.size()) return std::nullopt;
      return record.payload;
    } catch (const CorruptError&) {
    } catch (const TruncatedError&) {
    }
    return std::nullopt;
  }
  void adopt(uint64_t framed_bytes, uint64_t, uint32_t crc, uint64_t key) override {
    index_.add(key, adopted_);
    sidecar_.add_record({.offset = adopted_, .length = framed_bytes}, crc);
    adopted_ += framed_bytes;
  }
  uint64_t first_offset() const override { return 0; }
  void finish() override {}

 private:
  Sink& data_;
  std::vector<std::byte> unframed_;
  uint64_t adopted_ = 0;
  RecordWriter records_;
  IndexWriter index_;
  SidecarWriter& sidecar_;
};

}  // namespace

constexpr FileFormat kFormat{
    .extension = ".rec",
    .name = "RecordIO",
    .signature = {.bytes = "\x0A\x23\xD7\xCE"},
    .index_extension = ".idx",
    .damage_hides_rest = true,
    .max_payload_bytes = kMaxPayloadBytes,
    .open = [](const std::string& uri, const OpenOptions& options)
        -> std::shared_ptr<const Container> { return open_recordio(uri, options); },
    .sidecar_recipe = sidecar_recipe,
    .make_writer = [](const RecordFileSinks& sinks, uint64_t) -> std::unique_ptr<RecordFileWriter> {
      return std::make_unique<Writer>(sinks);
    },
    .open_stream = open_stream,
    .open_damaged = open_damaged,
};

}  // namespace fuelrail::recordio
