// MP4 files for tests, built from ISO/IEC 14496-12 and without the writer's code, as an independent
// check of reader and writer.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fuelrail::mp4 {

template <typename T>
std::string big_endian(T value) {
  std::string bytes(sizeof value, '\0');
  for (size_t i = 0; i < sizeof value; ++i) {
    bytes[sizeof value - 1 - i] = static_cast<char>(static_cast<uint64_t>(value) >> (8 * i));
  }
  return bytes;
}
inline std::string be16(uint16_t value) { return big_endian(value); }
inline std::string be32(uint32_t value) { return big_endian(value); }
inline std::string be64(uint64_t value) { return big_endian(value); }

inline std::string mp4_box(std::string_view type, const std::string& body) {
  return be32(static_cast<uint32_t>(8 + body.size())) + std::string(type) + body;
}
// A box whose length has 64 bits.
inline std::string long_mp4_box(std::string_view type, const std::string& body) {
  return be32(1) + std::string(type) + be64(16 + body.size()) + body;
}
inline std::string full_mp4_box(std::string_view type, const std::string& body,
                                uint8_t version = 0) {
  return mp4_box(type, be32(uint32_t{version} << 24) + body);
}

inline std::string tkhd(uint16_t width, uint16_t height, uint8_t version = 0) {
  const std::string before(version == 1 ? 84 : 72, '\0');
  return full_mp4_box("tkhd", before + be32(uint32_t{width} << 16) + be32(uint32_t{height} << 16),
                      version);
}
inline std::string hdlr(std::string_view handler, std::string_view name) {
  return full_mp4_box("hdlr",
                      be32(0) + std::string(handler) + std::string(12, '\0') + std::string(name));
}

inline std::string stsz(const std::vector<uint32_t>& sizes) {
  std::string body = be32(0) + be32(static_cast<uint32_t>(sizes.size()));
  for (const uint32_t size : sizes) body += be32(size);
  return full_mp4_box("stsz", body);
}
inline std::string stsz_of_equal(uint32_t size, uint32_t count) {
  return full_mp4_box("stsz", be32(size) + be32(count));
}
inline std::string stco(const std::vector<uint32_t>& offsets) {
  std::string body = be32(static_cast<uint32_t>(offsets.size()));
  for (const uint32_t offset : offsets) body += be32(offset);
  return full_mp4_box("stco", body);
}
inline std::string co64(const std::vector<uint64_t>& offsets) {
  std::string body = be32(static_cast<uint32_t>(offsets.size()));
  for (const uint64_t offset : offsets) body += be64(offset);
  return full_mp4_box("co64", body);
}
struct ChunkRun {
  uint32_t first_chunk = 1;
  uint32_t samples_per_chunk = 1;
};
inline std::string stsc(const std::vector<ChunkRun>& runs = {{}}) {
  std::string body = be32(static_cast<uint32_t>(runs.size()));
  for (const ChunkRun& run : runs) {
    body += be32(run.first_chunk) + be32(run.samples_per_chunk) + be32(1);
  }
  return full_mp4_box("stsc", body);
}
inline std::string stsd(const std::string& entry) { return full_mp4_box("stsd", be32(1) + entry); }
// A sample entry of video with these boxes at its end.
inline std::string video_entry(std::string_view type, uint16_t width, uint16_t height,
                               const std::string& boxes) {
  return mp4_box(
      type, std::string(24, '\0') + be16(width) + be16(height) + std::string(50, '\0') + boxes);
}

inline std::string trak(const std::string& header, const std::string& handler,
                        const std::string& tables) {
  return mp4_box("trak",
                 header + mp4_box("mdia", handler + mp4_box("minf", mp4_box("stbl", tables))));
}

}  // namespace fuelrail::mp4
