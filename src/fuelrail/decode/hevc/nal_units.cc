#include "fuelrail/decode/hevc/nal_units.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "fuelrail/base/error.h"

namespace fuelrail::hevc {
namespace {

// Types of units (ITU-T H.265, table 7-1; ITU-T H.264, table 7-1).
constexpr int kHevcFirstIntra = 16, kHevcLastIntra = 21, kHevcLastSlice = 31;
constexpr int kHevcVps = 32, kHevcSps = 33, kHevcPps = 34;
constexpr int kH264Slice = 1, kH264LastPartition = 4, kH264Intra = 5, kH264Sps = 7, kH264Pps = 8;

constexpr size_t kHevcHeaderBytes = 2;

uint32_t byte(Bytes bytes, size_t at) { return std::to_integer<uint32_t>(bytes[at]); }
int hevc_type(Bytes unit) { return static_cast<int>(byte(unit, 0) >> 1 & 63); }
int h264_type(Bytes unit) { return static_cast<int>(byte(unit, 0) & 31); }

// Takes fields from the front of a box.
class Fields {
 public:
  explicit Fields(Bytes box) : left_(box) {}

  uint32_t number(size_t bytes) {
    uint32_t value = 0;
    for (const std::byte b : take(bytes)) value = value << 8 | std::to_integer<uint32_t>(b);
    return value;
  }
  Bytes take(size_t bytes) {
    if (bytes > left_.size()) {
      throw DecodeError("the parameters of the image's decoder are truncated",
                        {.expected = fmt::format("at least {} more bytes", bytes),
                         .found = fmt::to_string(left_.size())});
    }
    const Bytes taken = left_.first(bytes);
    left_ = left_.subspan(bytes);
    return taken;
  }

 private:
  Bytes left_;
};

void check_version(uint32_t version) {
  if (version == 1) return;
  throw DecodeError("the parameters of the image's decoder have an unknown version",
                    {.expected = "1", .found = fmt::to_string(version)});
}

size_t checked_length_bytes(uint32_t field) {
  if (field != 2) return field + 1;
  throw DecodeError("the parameters of the image's decoder have an invalid length of lengths",
                    {.expected = "1, 2 or 4 bytes", .found = "3"});
}

void append_units(Fields& fields, uint32_t count, size_t header_bytes, std::vector<Bytes>& units) {
  for (uint32_t i = 0; i < count; ++i) {
    const Bytes unit = fields.take(fields.number(2));
    if (unit.size() > header_bytes) units.push_back(unit);
  }
}

// Calls `take` for each unit of the sample.
template <typename Take>
void each_unit(Bytes sample, size_t length_bytes, size_t header_bytes, const Take& take) {
  if (sample.empty()) throw DecodeError("the record's image has no bytes");
  const size_t all = sample.size();
  while (!sample.empty()) {
    const size_t at = all - sample.size();
    uint64_t length = 0;
    const bool has_length = sample.size() >= length_bytes;
    for (size_t i = 0; has_length && i < length_bytes; ++i) length = length << 8 | byte(sample, i);
    if (!has_length || length > sample.size() - length_bytes) {
      throw TruncatedError(
          fmt::format("the image ends inside a NAL unit, which begins after {} bytes", at),
          {.expected = fmt::format("{} bytes", length_bytes + length),
           .found = fmt::to_string(sample.size())});
    }
    if (length < header_bytes) {
      throw DecodeError(fmt::format("a NAL unit of the image is too short, after {} bytes", at),
                        {.expected = fmt::format("at least {} bytes", header_bytes),
                         .found = fmt::to_string(length)});
    }
    take(sample.subspan(length_bytes, length));
    sample = sample.subspan(length_bytes + length);
  }
}

// Counts the pictures of a sample, of which there must be one that needs no other.
class OnePicture {
 public:
  void add(bool begins, bool is_intra) {
    pictures_ += begins ? 1 : 0;
    if (pictures_ == 0) throw DecodeError("the image lacks its first slice");
    if (!is_intra) refuse("a picture that is predicted from others");
    if (pictures_ > 1) refuse("more than one picture");
    has_slices_ = true;
  }
  void finish() const {
    if (!has_slices_) throw DecodeError("the record's image has no picture");
  }

 private:
  [[noreturn]] static void refuse(const char* found) {
    throw UnsupportedError("the record's image is not a single still picture",
                           {.expected = "one picture that needs no others", .found = found});
  }
  int pictures_ = 0;
  bool has_slices_ = false;
};

// A picture that needs no others is of the base layer and of temporal layer 0 (ITU-T H.265, section
// 7.4.2.2); a decoder passes over units of other layers.
void check_slice_header(Bytes unit) {
  if ((byte(unit, 0) & 0x81) == 0 && byte(unit, 1) == 1) return;
  throw DecodeError("the header of a slice is damaged",
                    {.expected = "layer 0, temporal layer 0",
                     .found = fmt::format("bytes {:02x} {:02x}", byte(unit, 0), byte(unit, 1))});
}

}  // namespace

DecoderConfiguration read_hvcc(Bytes box) {
  constexpr size_t kBeforeLengths = 20;  // profile, level, parallelism, chroma, bits, frame rate
  DecoderConfiguration result;
  Fields fields(box);
  check_version(fields.number(1));
  fields.take(kBeforeLengths);
  result.length_bytes = checked_length_bytes(fields.number(1) & 3);
  const uint32_t arrays = fields.number(1);
  for (uint32_t i = 0; i < arrays; ++i) {
    const int type = static_cast<int>(fields.number(1) & 63);
    const size_t before = result.units.size();
    append_units(fields, fields.number(2), kHevcHeaderBytes, result.units);
    if (type < kHevcVps || type > kHevcPps) result.units.resize(before);
  }
  return result;
}

DecoderConfiguration read_avcc(Bytes box) {
  DecoderConfiguration result;
  Fields fields(box);
  check_version(fields.number(1));
  fields.take(3);  // profile and level
  result.length_bytes = checked_length_bytes(fields.number(1) & 3);
  append_units(fields, fields.number(1) & 31, 1, result.units);
  append_units(fields, fields.number(1), 1, result.units);
  return result;
}

void append_hevc_units(Bytes sample, size_t length_bytes, std::vector<Bytes>& units) {
  OnePicture picture;
  each_unit(sample, length_bytes, kHevcHeaderBytes, [&](Bytes unit) {
    const int type = hevc_type(unit);
    if (type <= kHevcLastSlice) {
      check_slice_header(unit);
      // The first bit of a slice's header: it is the first of its picture.
      const bool begins = unit.size() > kHevcHeaderBytes && byte(unit, kHevcHeaderBytes) >> 7 != 0;
      picture.add(begins, type >= kHevcFirstIntra && type <= kHevcLastIntra);
    }
    if (type <= kHevcLastSlice || (type >= kHevcVps && type <= kHevcPps)) units.push_back(unit);
  });
  picture.finish();
}

void append_h264_units(Bytes sample, size_t length_bytes, std::vector<Bytes>& units) {
  OnePicture picture;
  each_unit(sample, length_bytes, 1, [&](Bytes unit) {
    const int type = h264_type(unit);
    const bool is_slice = (type >= kH264Slice && type <= kH264LastPartition) || type == kH264Intra;
    if (is_slice) {
      // The header begins with first_mb_in_slice as ue(v), whose 0 is the bit 1.
      picture.add(unit.size() > 1 && byte(unit, 1) >> 7 != 0, type == kH264Intra);
    }
    if (is_slice || type == kH264Sps || type == kH264Pps) units.push_back(unit);
  });
  picture.finish();
}

void sort_sets(std::vector<Bytes>& units) {
  const auto rank = [](Bytes unit) {
    const int type = hevc_type(unit);
    return type >= kHevcVps && type <= kHevcPps ? type - kHevcVps : kHevcPps;
  };
  std::stable_sort(units.begin(), units.end(), [&](Bytes a, Bytes b) { return rank(a) < rank(b); });
  const auto is_same = [](Bytes a, Bytes b) { return as_text(a) == as_text(b); };
  units.erase(std::unique(units.begin(), units.end(), is_same), units.end());
}

void check_units(const std::vector<Bytes>& units) {
  constexpr size_t kMostBytes = size_t{1} << 30;
  size_t bytes = 0;
  for (const Bytes unit : units) {
    bytes += unit.size();
    const std::string_view text = as_text(unit);
    for (size_t at = 0; (at = text.find(std::string_view("\0\0", 2), at)) != text.npos; ++at) {
      if (at + 2 < text.size() && static_cast<uint8_t>(text[at + 2]) > 2) continue;
      throw DecodeError("a NAL unit of the image contains a start code",
                        {.found = fmt::format("two bytes of 0 after {} bytes", at)});
    }
  }
  if (bytes <= kMostBytes) return;
  throw DecodeError(
      "the image is too long",
      {.expected = fmt::format("at most {} bytes", kMostBytes), .found = fmt::to_string(bytes)});
}

Bytes find_sps(const std::vector<Bytes>& units) {
  Bytes sps;
  bool has_pps = false;
  for (const Bytes unit : units) {
    has_pps = has_pps || hevc_type(unit) == kHevcPps;
    if (hevc_type(unit) != kHevcSps) continue;
    if (!sps.empty() && as_text(sps) != as_text(unit)) {
      throw DecodeError("the image has different sequence parameter sets (SPS)",
                        {.expected = "one for all of its pictures"});
    }
    sps = unit;
  }
  if (!sps.empty() && has_pps) return sps;
  throw DecodeError("the image lacks parameter sets",
                    {.expected = "an SPS and a PPS", .found = sps.empty() ? "no SPS" : "no PPS"});
}

}  // namespace fuelrail::hevc
