// `.bzna` files for tests.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fuelrail/base/crc32.h"
#include "fuelrail/base/endian.h"
#include "fuelrail/container/bzna/bzna_container.h"
#include "fuelrail/container/bzna/file_writer.h"
#include "fuelrail/container/file_identity.h"
#include "fuelrail/container/sidecar/sidecar_store.h"
#include "fuelrail/mp4/nested_file_writer.h"
#include "fuelrail/storage/file_system.h"
#include "fuelrail/testing/temporary_directory.h"

namespace fuelrail::bzna {

// A record whose bitstreams are any bytes. Default: an image of 600 x 535 pixels in a picture of
// 1024 x 1024, with its thumbnail.
struct MadeRecord {
  std::string input = "input bitstream";
  std::string thumb = "thumb";  // empty: none
  std::string parameters = "the parameter sets of a decoder";
  std::optional<int64_t> label = 0;
  std::string name{};

  std::string bytes() const {
    mp4::NewRecord record{.input = {.bitstream = as_bytes(input),
                                    .parameters = as_bytes(parameters),
                                    .coded = {.height = 1024, .width = 1024},
                                    .visible = {.height = 535, .width = 600}},
                          .label = label,
                          .name = name};
    if (!thumb.empty()) {
      record.thumb = mp4::NewStill{.bitstream = as_bytes(thumb),
                                   .parameters = as_bytes(parameters),
                                   .coded = {.height = 512, .width = 512},
                                   .visible = {.height = 456, .width = 512}};
    }
    std::vector<std::byte> out;
    mp4::write_nested_file(record, out);
    return std::string(as_text(out));
  }
};

// With and without a thumbnail of their own, a label and a name.
inline std::vector<std::string> four_records() {
  return {MadeRecord{.label = 3, .name = "cat.jpg"}.bytes(),
          MadeRecord{.input = "second", .thumb = "another", .label = {}, .name = {}}.bytes(),
          MadeRecord{.thumb = "third", .label = -7, .name = "dog.jpg"}.bytes(),
          MadeRecord{.thumb = "the last one", .label = 1, .name = "a"}.bytes()};
}

// Writes a file with these records and, if `with_sidecar`, its sidecar.
inline void write_bzna(const std::string& path, const std::vector<std::string>& records,
                       bool with_sidecar) {
  const std::unique_ptr<Sink> data = file_system_for(path).create(path);
  SidecarWriter sidecar;
  const auto writer = make_writer({*data, nullptr, sidecar});
  for (const std::string& record : records) {
    writer->append(as_bytes(record), crc32(as_bytes(record)), 0);
  }
  writer->finish();
  if (with_sidecar) {
    const std::unique_ptr<Sink> beside = file_system_for(path).create(sidecar_uri(path));
    sidecar.write_to(identify(*data), *beside);
    beside->commit();
  }
  data->commit();
}

// A file in a directory of its own.
struct BznaFile {
  explicit BznaFile(const std::vector<std::string>& records, bool with_sidecar = true) {
    write_bzna(path, records, with_sidecar);
  }

  std::shared_ptr<const RecordFile> open(const std::string& track = {}) {
    return open_bzna(path, {.track = track, .warn = [this](const std::string& warning) {
                              warnings.push_back(warning);
                            }});
  }

  TemporaryDirectory directory;
  std::string path = directory / "x.bzna";
  std::string sidecar = path + ".frx";
  std::vector<std::string> warnings;
};

// A record of a container. Lifetime: the container outlives it.
struct Read {
  explicit Read(const Container& container, uint64_t i) {
    read_sample(container, i, framed, sample);
  }
  std::string field(size_t f) const { return std::string(as_text(sample.fields[f].bytes)); }
  const FieldValue& image() const { return sample.fields[0]; }
  int64_t label() const { return load_le<int64_t>(sample.fields[1].bytes.data()); }
  std::vector<std::byte> framed;
  Sample sample;
};

}  // namespace fuelrail::bzna
