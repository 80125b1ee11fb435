// A `.bzna` file whose still is H.264, as x264 encodes it. Needs the plugin for H.265.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "fuelrail/base/error.h"
#include "fuelrail/container/bzna/bzna_container.h"
#include "fuelrail/testing/crop_job.h"
#include "fuelrail/testing/mp4_file.h"
#include "fuelrail/testing/plugin_test.h"
#include "fuelrail/testing/temporary_directory.h"

namespace fuelrail::bzna {
namespace {

using namespace fuelrail::mp4;  // the boxes of a file

using fuelrail::testing::CropJob;
using ::testing::HasSubstr;

constexpr Size kSize{18, 24};
constexpr Box kWhole{0, 0, 18, 24};

std::string golden(const char* name) {
  return file_contents(std::string(FUELRAIL_SOURCE_DIR "/tests/golden/h264/") + name);
}

// The image that tests/golden/h264/make.py encodes.
std::string encoded_pixels() {
  std::string pixels;
  for (int64_t y = 0; y < kSize.height; ++y) {
    for (int64_t x = 0; x < kSize.width; ++x) {
      for (const int64_t value : {40 + 8 * x, 30 + 10 * y, 200 - 4 * x}) {
        pixels += static_cast<char>(value);
      }
    }
  }
  return pixels;
}

// The rows of each plane, without the bytes between them.
std::string bytes_of(const Planes& picture) {
  std::string bytes;
  for (const auto& plane : picture.planes) {
    for (int64_t y = 0; y < plane.size.height; ++y) {
      bytes +=
          as_text({plane.first + y * plane.stride_bytes, static_cast<size_t>(plane.size.width)});
    }
  }
  return bytes;
}

// `.bzna` files with an H.264 still are written by other programs only: this one has one record.
class BznaH264 : public fuelrail::testing::PluginTest {
 protected:
  void open(const char* still) {
    const std::string record = golden(still), type = mp4_box("ftyp", "isom" + be32(0));
    const std::string tables = stsd(mp4_box("mett", std::string(10, '\0'))) +
                               stsz({static_cast<uint32_t>(record.size())}) + stsc() +
                               co64({type.size() + 8});
    write_file(path, type + mp4_box("mdat", record) +
                         mp4_box("moov", trak(tkhd(0, 0), hdlr("meta", "bzna_input"), tables)));
    container = open_bzna(path, {.track = "bzna_input"});
    read_sample(*container, 0, framed, sample);
  }

  const EncodedImage& image() const { return sample.fields[0]; }

  TemporaryDirectory directory;
  const std::string path = directory / "x.bzna";
  const std::unique_ptr<Decoder> decoder = make_decoder();
  std::shared_ptr<const Container> container;  // the sample refers to it
  std::vector<std::byte> framed;
  Sample sample;
};

TEST_F(BznaH264, stills_are_decoded_as_by_ffmpeg) {
  open("still.mp4");
  CropJob job(image(), probe(image()), kWhole);
  job.decode_with(*decoder);
  if (!decodes_with_libavcodec()) {
    EXPECT_TRUE(job.failed_with<UnsupportedError>());
    EXPECT_THAT(job.error(), HasSubstr("the plugin for H.265 images cannot decode H.264 images: "
                                       "expected a plugin built with libavcodec, found libde265"));
    return;
  }
  ASSERT_EQ(job.error(), "");
  EXPECT_LE(job.distance_to(encoded_pixels()), 8);
  std::string planes;
  job.job.take_planes = [&](const Planes& picture) { planes = bytes_of(picture); };
  job.decode_with(*decoder);
  ASSERT_EQ(job.error(), "");
  EXPECT_EQ(planes, golden("still.yuv"));
}

TEST_F(BznaH264, stills_that_say_nothing_of_their_colours_are_as_in_a_jpeg) {
  if (!decodes_with_libavcodec()) GTEST_SKIP() << "libde265 decodes no H.264";
  std::vector<std::string> pixels;
  for (const char* const still : {"still.mp4", "unsaid.mp4"}) {
    open(still);
    CropJob job(image(), probe(image()), kWhole);
    job.decode_with(*decoder);
    ASSERT_EQ(job.error(), "");
    pixels.push_back(job.packed());
  }
  EXPECT_TRUE(pixels[0] == pixels[1]);
}

}  // namespace
}  // namespace fuelrail::bzna
