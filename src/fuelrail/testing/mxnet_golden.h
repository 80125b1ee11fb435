// Shared by the golden tests for MXNet: the files of tests/golden/mxnet, their decoded records, and
// the arguments of their configurations. A test that includes this links fuelrail_dep::deflate and
// fuelrail_dep::json.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "fuelrail/container/image_record.h"
#include "fuelrail/container/recordio/record_reader.h"
#include "fuelrail/decode/decoder.h"
#include "fuelrail/decode/orientation.h"
#include "fuelrail/decode/probe.h"
#include "fuelrail/mxnet/mx_shape.h"
#include "fuelrail/storage/file_system.h"
#include "fuelrail/testing/npz.h"

namespace fuelrail {

inline std::string mxnet_golden(const std::string& name) {
  return std::string(FUELRAIL_SOURCE_DIR) + "/tests/golden/mxnet/" + name;
}

struct GoldenRecord {
  uint64_t id = 0;
  std::vector<float> labels;
  ConstImageView image;  // upright if it has 1 or 3 channels, as in MXNet
  std::vector<uint8_t> pixels;
};

inline void decode_golden(Bytes encoded, int64_t channels, GoldenRecord& record) {
  const ImageInfo info = probe(encoded);
  std::vector<uint8_t> stored(
      static_cast<size_t>(info.stored.height * info.stored.width * channels));
  const ImageView view{stored.data(), info.stored.height, info.stored.width, channels,
                       info.stored.width * channels};
  DecodeJob job{encoded, info, whole(info.stored), view};
  make_decoder()->decode({&job, 1});
  if (job.error) std::rethrow_exception(job.error);
  const Size size = channels == 4 ? info.stored : info.oriented();
  record.pixels.resize(stored.size());
  const ImageView upright{record.pixels.data(), size.height, size.width, channels,
                          size.width * channels};
  turn_upright(view, channels == 4 ? 1 : info.orientation, upright);
  record.image = upright;
}

inline std::vector<GoldenRecord> golden_records(const std::string& name, int64_t channels) {
  const std::string path = mxnet_golden(name);
  recordio::RecordReader reader(file_system_for(path).open(path));
  std::vector<GoldenRecord> records;
  while (const auto record = reader.next()) {
    const ImageRecord image = parse_image_record(record->payload);
    GoldenRecord golden;
    golden.id = image.id;
    for (size_t i = 0; i < image.label_count(); ++i) golden.labels.push_back(image.label(i));
    decode_golden(image.image, channels, golden);
    records.push_back(std::move(golden));
  }
  return records;
}

inline const nlohmann::json& golden_configs() {
  static const nlohmann::json configs = [] {
    std::ifstream stream(mxnet_golden("iter/iter.json"));
    return nlohmann::json::parse(stream)["configs"];
  }();
  return configs;
}

inline mxnet::MxShape shape_of(const nlohmann::json& arguments) {
  const auto sides = arguments.at("data_shape").get<std::vector<int64_t>>();
  return {sides[0], sides[1], sides[2]};
}

// Sets `value` if the argument exists.
template <typename Value>
void take(const nlohmann::json& arguments, const char* name, Value& value) {
  if (arguments.contains(name)) value = arguments.at(name).get<Value>();
}

// A text about the difference of two rows of bytes; empty if they are equal.
inline std::string difference(const std::vector<std::byte>& row, const testing::NpyArray& golden,
                              size_t i) {
  if (row.size() != golden.row_bytes()) return "another length";
  if (std::memcmp(row.data(), golden.row(i), row.size()) == 0) return {};
  size_t count = 0;
  double most = 0;
  const bool floats = golden.type == "f4";
  const size_t step = floats ? 4 : 1;
  for (size_t at = 0; at < row.size(); at += step) {
    double have = std::to_integer<int>(row[at]);
    double want = std::to_integer<int>(golden.row(i)[at]);
    if (floats) {
      have = load_le<float>(row.data() + at);
      want = load_le<float>(golden.row(i) + at);
    }
    if (have != want) ++count;
    most = std::max(most, std::abs(have - want));
  }
  return std::to_string(count) + " elements differ, by " + std::to_string(most) + " at most";
}

}  // namespace fuelrail
