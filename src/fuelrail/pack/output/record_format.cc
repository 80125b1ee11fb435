#include "fuelrail/pack/output/record_format.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <vector>

#include "fuelrail/base/error.h"
#include "fuelrail/container/container.h"
#include "fuelrail/container/ffrecord/file_writer.h"
#include "fuelrail/container/ffrecord/record_table.h"
#include "fuelrail/container/recordio/framing.h"
#include "fuelrail/container/recordio/index_file.h"
#include "fuelrail/container/recordio/record_writer.h"
#include "fuelrail/storage/file_system.h"

namespace fuelrail::pack {
namespace {

class RecordIoWriter final : public RecordFileWriter {
 public:
  RecordIoWriter(const RecordFileSinks& sinks, uint64_t)
      : data_(sinks.data), records_(data_), index_(*sinks.index), sidecar_(sinks.sidecar) {}

  void append(Bytes payload, uint32_t crc, uint64_t key) override {
    const uint64_t offset = records_.append(payload);
    index_.add(key, offset);
    sidecar_.add_record({.offset = offset, .length = data_.position() - offset}, crc);
  }
  std::optional<Bytes> payload_of(Bytes framed) override {
    try {
      const recordio::Unframed record = recordio::unframe(framed, unframed_);
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
  recordio::RecordWriter records_;
  recordio::IndexWriter index_;
  SidecarWriter& sidecar_;
};

// The file itself says where its records are, and their checksums.
class FfrecordWriter final : public RecordFileWriter {
 public:
  FfrecordWriter(const RecordFileSinks& sinks, uint64_t expected)
      : records_(begin(sinks.data, expected)),
        first_offset_(ffrecord::table_bytes(expected)),
        sidecar_(sinks.sidecar) {}

  void append(Bytes payload, uint32_t crc, uint64_t) override {
    records_.append(payload, crc);
    sidecar_.add_length(payload.size());
  }
  std::optional<Bytes> payload_of(Bytes framed) override { return framed; }
  void adopt(uint64_t, uint64_t payload_bytes, uint32_t crc, uint64_t) override {
    records_.adopt(payload_bytes, crc);
    sidecar_.add_length(payload_bytes);
  }
  uint64_t first_offset() const override { return first_offset_; }
  void finish() override { records_.finish(); }

 private:
  static ffrecord::FileWriter begin(Sink& data, uint64_t expected) {
    if (data.position() >= ffrecord::table_bytes(expected) && data.position() > 0) {
      return {data, expected, ffrecord::FileWriter::AsLeft{}};
    }
    if (data.position() > 0) data.truncate(0);
    return {data, expected};
  }

  ffrecord::FileWriter records_;
  uint64_t first_offset_;
  SidecarWriter& sidecar_;
};

template <typename Writer>
std::unique_ptr<RecordFileWriter> make(const RecordFileSinks& sinks, uint64_t expected) {
  return std::make_unique<Writer>(sinks, expected);
}

constexpr std::array kFormats{
    RecordFormat{".rec", ".idx", recordio::kMaxPayloadBytes, make<RecordIoWriter>},
    RecordFormat{".ffr", "", kDefaultMaxRecordBytes, make<FfrecordWriter>},
};

}  // namespace

const RecordFormat& record_format_of(const std::string& uri) {
  std::vector<std::string_view> extensions;
  for (const RecordFormat& format : kFormats) {
    if (uri.ends_with(format.extension) && base_name(uri) != format.extension) return format;
    extensions.push_back(format.extension);
  }
  throw InvalidArgumentError(
      "this is not named as a record file",
      {.path = uri,
       .expected = fmt::format("a name that ends in {}", fmt::join(extensions, " or "))});
}

void check_payload_bytes(uint64_t bytes, const RecordFormat& to) {
  if (bytes <= to.max_payload_bytes) return;
  throw UnsupportedError("the record is too long for the output",
                         {.expected = fmt::format("at most {} bytes", to.max_payload_bytes),
                          .found = fmt::to_string(bytes),
                          .remedy = "Copy it with fuelrail.ffrecord.FileReader and FileWriter"});
}

std::string stem_of(const std::string& uri, const RecordFormat& format) {
  return uri.substr(0, uri.size() - format.extension.size());
}

std::string index_uri_of(const std::string& uri, const RecordFormat& format) {
  return stem_of(uri, format).append(format.index_extension);
}

}  // namespace fuelrail::pack
