#include "fuelrail/pack/record_format.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <vector>

#include "fuelrail/base/error.h"
#include "fuelrail/container/ffrecord/file_writer.h"
#include "fuelrail/container/recordio/index_file.h"
#include "fuelrail/container/recordio/record_writer.h"
#include "fuelrail/storage/file_system.h"

namespace fuelrail {
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
  void finish() override {}

 private:
  Sink& data_;
  recordio::RecordWriter records_;
  recordio::IndexWriter index_;
  SidecarWriter& sidecar_;
};

// The file itself says where its records are, and their checksums.
class FfrecordWriter final : public RecordFileWriter {
 public:
  FfrecordWriter(const RecordFileSinks& sinks, uint64_t expected)
      : records_(sinks.data, expected), sidecar_(sinks.sidecar) {}

  void append(Bytes payload, uint32_t crc, uint64_t) override {
    records_.append(payload, crc);
    sidecar_.add_length(payload.size());
  }
  void finish() override { records_.finish(); }

 private:
  ffrecord::FileWriter records_;
  SidecarWriter& sidecar_;
};

template <typename Writer>
std::unique_ptr<RecordFileWriter> make(const RecordFileSinks& sinks, uint64_t expected) {
  return std::make_unique<Writer>(sinks, expected);
}

constexpr std::array kFormats{
    RecordFormat{".rec", ".idx", make<RecordIoWriter>},
    RecordFormat{".ffr", "", make<FfrecordWriter>},
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

std::string stem_of(const std::string& uri, const RecordFormat& format) {
  return uri.substr(0, uri.size() - format.extension.size());
}

std::string index_uri_of(const std::string& uri, const RecordFormat& format) {
  return stem_of(uri, format).append(format.index_extension);
}

}  // namespace fuelrail
