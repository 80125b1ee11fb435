#include "fuelrail/container/recordio/image_header.h"

#include <fmt/format.h>

#include <array>

#include "fuelrail/base/endian.h"
#include "fuelrail/base/error.h"

namespace fuelrail::recordio {
namespace {

// The fields' places in the header.
constexpr size_t kFlagAt = 0;
constexpr size_t kLabelAt = 4;
constexpr size_t kIdAt = 8;
constexpr size_t kId2At = 16;

[[noreturn]] void throw_too_short(uint64_t expected, size_t found) {
  throw CorruptError(
      "the record is too short for its image header",
      {.expected = fmt::format("at least {} bytes", expected), .found = fmt::format("{}", found)});
}

}  // namespace

float ImageRecord::label(size_t i) const {
  return load_le<float>(labels.data() + i * sizeof(float));
}

uint64_t image_prefix_bytes(Bytes payload) {
  return kImageHeaderBytes + uint64_t{load_le<uint32_t>(payload.data() + kFlagAt)} * sizeof(float);
}

ImageRecord parse_image_record(Bytes payload) {
  if (payload.size() < kImageHeaderBytes) throw_too_short(kImageHeaderBytes, payload.size());
  const uint64_t prefix = image_prefix_bytes(payload);
  if (payload.size() < prefix) throw_too_short(prefix, payload.size());
  const bool label_in_header = prefix == kImageHeaderBytes;
  return {.id = load_le<uint64_t>(payload.data() + kIdAt),
          .id2 = load_le<uint64_t>(payload.data() + kId2At),
          .labels = label_in_header
                        ? payload.subspan(kLabelAt, sizeof(float))
                        : payload.subspan(kImageHeaderBytes, prefix - kImageHeaderBytes),
          .image = payload.subspan(prefix)};
}

void append_image_record(uint64_t id, std::span<const float> labels, Bytes image,
                         std::vector<std::byte>& out) {
  std::array<std::byte, kImageHeaderBytes> header{};
  const bool label_in_header = labels.size() == 1;
  store_le(header.data() + kFlagAt, label_in_header ? 0u : static_cast<uint32_t>(labels.size()));
  store_le(header.data() + kLabelAt, label_in_header ? labels[0] : 0.0f);
  store_le(header.data() + kIdAt, id);
  out.insert(out.end(), header.begin(), header.end());
  if (!label_in_header) {
    const Bytes values = std::as_bytes(labels);
    out.insert(out.end(), values.begin(), values.end());
  }
  out.insert(out.end(), image.begin(), image.end());
}

}  // namespace fuelrail::recordio
