// Compares decoded pixels with those of MXNet 1.9.1: every record of tests/golden/mxnet/codec.rec
// in 1, 3 and 4 channels (codec.tsv, written by make_codec.py there).
#include <gtest/gtest.h>

#include <cstdio>
#include <sstream>
#include <string>

#include "fuelrail/base/crc32.h"
#include "fuelrail/decode/orientation.h"
#include "fuelrail/decode/tiff/tiff_decoder.h"
#include "fuelrail/testing/crop_job.h"
#include "fuelrail/testing/temporary_directory.h"

namespace fuelrail {
namespace {

std::string golden_file(const std::string& name) {
  return file_contents(std::string(FUELRAIL_SOURCE_DIR) + "/tests/golden/mxnet/" + name);
}

struct Line {
  std::string name;
  size_t offset = 0, bytes = 0;
  int64_t channels = 0;
  Size size;
  std::string crc;  // "-": MXNet refuses
};

// Decoded and, unless there are four channels, turned upright.
struct Decoded {
  Decoded(Bytes encoded, int64_t channels) {
    const ImageInfo info = probe(encoded);
    testing::CropJob job(encoded, info, whole(info.stored), 0, 0, channels);
    job.decode_with(*make_decoder());
    error = job.error();
    if (!error.empty()) return;
    const int orientation = channels == 4 ? 1 : info.orientation;
    size = channels == 4 ? info.stored : info.oriented();
    pixels.resize(job.packed().size());
    turn_upright(job.job.output, orientation,
                 {reinterpret_cast<uint8_t*>(pixels.data()), size.height, size.width, channels,
                  size.width * channels});
  }
  std::string crc() const {
    char text[9];
    std::snprintf(text, sizeof text, "%08x", crc32(as_bytes(pixels)));
    return text;
  }
  Size size;
  std::string pixels, error;
};

TEST(MxnetGolden, records_have_mxnets_pixels_in_1_3_and_4_channels) {
  const std::string records = golden_file("codec.rec");
  std::istringstream lines(golden_file("codec.tsv"));
  Line line;
  int compared = 0;
  while (lines >> line.name >> line.offset >> line.bytes >> line.channels >> line.size.height >>
         line.size.width >> line.crc) {
    SCOPED_TRACE(line.name + " in " + std::to_string(line.channels));
    if (line.name.starts_with("tiff") && libtiff_version().empty()) continue;
    // fuelrail decodes WebP, which MXNet does not decode, and refuses the other formats in `probe`.
    if (line.name == "webp_lossless" || line.name == "gif" || line.name == "ppm") continue;
    const Decoded decoded(as_bytes(records).subspan(line.offset, line.bytes), line.channels);
    if (line.crc == "-") {
      EXPECT_NE(decoded.error.find("no alpha"), std::string::npos) << decoded.error;
      continue;
    }
    ASSERT_EQ(decoded.error, "");
    EXPECT_EQ(decoded.size, line.size);
    // CMYK: OpenCV rounds down, but fuelrail rounds to the nearest, like Pillow.
    if (line.name == "jpeg_cmyk" && line.channels == 3) continue;
    EXPECT_EQ(decoded.crc(), line.crc);
    ++compared;
  }
  EXPECT_GE(compared, 50);
}

TEST(MxnetGolden, inks_are_within_a_level) {
  const std::string expected = golden_file("codec_cmyk.rgb");
  const std::string records = golden_file("codec.rec");
  std::istringstream lines(golden_file("codec.tsv"));
  Line line;
  while (lines >> line.name >> line.offset >> line.bytes >> line.channels >> line.size.height >>
         line.size.width >> line.crc) {
    if (line.name != "jpeg_cmyk" || line.channels != 3) continue;
    const Decoded decoded(as_bytes(records).subspan(line.offset, line.bytes), 3);
    ASSERT_EQ(decoded.pixels.size(), expected.size());
    for (size_t i = 0; i < expected.size(); ++i) {
      ASSERT_NEAR(static_cast<uint8_t>(decoded.pixels[i]), static_cast<uint8_t>(expected[i]), 1);
    }
    return;
  }
  FAIL() << "no record of inks";
}

}  // namespace
}  // namespace fuelrail
