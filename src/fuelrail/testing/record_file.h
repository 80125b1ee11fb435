// RecordIO files for tests: written from payloads or copied from golden files, each in its own
// directory.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fuelrail/base/bytes.h"
#include "fuelrail/container/image_record.h"
#include "fuelrail/container/recordio/record_writer.h"
#include "fuelrail/container/recordio/recordio_container.h"
#include "fuelrail/testing/collecting_sink.h"
#include "fuelrail/testing/container_conformance.h"
#include "fuelrail/testing/temporary_directory.h"

namespace fuelrail::recordio {

inline const std::string kGolden = std::string(FUELRAIL_SOURCE_DIR) + "/tests/golden/";
inline const std::string kMagicText = "\x0a\x23\xd7\xce";

inline std::string image_payload(uint64_t id, const std::vector<float>& labels,
                                 std::string_view image) {
  std::vector<std::byte> payload;
  append_image_record(id, labels, as_bytes(image), payload);
  return std::string(as_text(payload));
}

inline std::string framed_file(const std::vector<std::string>& payloads) {
  CollectingSink sink;
  RecordWriter writer(sink);
  for (const std::string& payload : payloads) writer.append(as_bytes(payload));
  return std::string(as_text(sink.bytes()));
}

inline std::string as_label(int64_t value) {
  std::string bytes(sizeof value, '\0');
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

inline std::string as_labels(const std::vector<float>& values) {
  return std::string(as_text(std::as_bytes(std::span(values))));
}

// A `.rec` in its own directory.
struct RecordFile {
  explicit RecordFile(const std::vector<std::string>& payloads) {
    write_file(path, framed_file(payloads));
  }
  struct Golden {
    std::string name{};
  };
  explicit RecordFile(const Golden& golden) {
    write_file(path, file_contents(kGolden + golden.name));
  }

  std::shared_ptr<const fuelrail::RecordFile> open() {
    return open_recordio(path, {.warn = [this](const std::string& w) { warnings.push_back(w); }});
  }

  TemporaryDirectory directory;
  std::string path = directory / "x.rec";
  std::string sidecar = path + ".frx";
  std::vector<std::string> warnings;
};

// Reads records one after the other into the same memory.
class Reader {
 public:
  explicit Reader(const Container& container) : container_(container) {}
  const Sample& operator()(uint64_t i) {
    read_sample(container_, i, framed_, sample_);
    return sample_;
  }
  std::string field(uint64_t i, size_t f) {
    return std::string(as_text((*this)(i).fields[f].bytes));
  }

 private:
  const Container& container_;
  std::vector<std::byte> framed_;
  Sample sample_;
};

// Records with one integer label; the magic occurs in an image, in an id and in the place of a
// label.
struct ImageFile {
  static constexpr bool kDetectsTruncation = true;
  static std::vector<std::string> payloads() {
    return {image_payload(7, {1}, "first image"), image_payload(0xCED7230A, {0}, "second"),
            image_payload(1, {-5}, "abcd" + kMagicText + "ef"), image_payload(2, {16777216}, "")};
  }
  std::shared_ptr<const Container> make() { return file.open(); }
  std::shared_ptr<const Container> make_copy() { return copy.open(); }
  std::vector<ExpectedSample> expected() {
    return {{.fields = {"first image", as_label(1)}, .id = 7},
            {.fields = {"second", as_label(0)}, .id = 0xCED7230A},
            {.fields = {"abcd" + kMagicText + "ef", as_label(-5)}, .id = 1},
            {.fields = {"", as_label(16777216)}, .id = 2}};
  }
  RecordFile file{payloads()};
  RecordFile copy{payloads()};
};

struct MultiLabelFile {
  static constexpr bool kDetectsTruncation = true;
  static std::vector<std::string> payloads() {
    return {image_payload(1, {1, 2, 3}, "x"), image_payload(2, {0.5f}, "yy"),
            image_payload(3, {4, 5}, "zzz")};
  }
  std::shared_ptr<const Container> make() { return file.open(); }
  std::shared_ptr<const Container> make_copy() { return copy.open(); }
  std::vector<ExpectedSample> expected() {
    return {{.fields = {"x", as_labels({1, 2, 3})}, .id = 1, .shapes = {{}, {3}}},
            {.fields = {"yy", as_labels({0.5f})}, .id = 2, .shapes = {{}, {1}}},
            {.fields = {"zzz", as_labels({4, 5})}, .id = 3, .shapes = {{}, {2}}}};
  }
  RecordFile file{payloads()};
  RecordFile copy{payloads()};
};

}  // namespace fuelrail::recordio
