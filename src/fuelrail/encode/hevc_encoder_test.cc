// Pictures that x265 encodes and the plugin decodes. Needs the plugin.
#include "fuelrail/encode/hevc_encoder.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <malloc.h>

#include <algorithm>
#include <climits>
#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include "fuelrail/base/error.h"
#include "fuelrail/base/hevc_library.h"
#include "fuelrail/decode/decoder.h"
#include "fuelrail/decode/hevc/nal_units.h"
#include "fuelrail/testing/crop_job.h"
#include "fuelrail/testing/plugin_test.h"
#include "fuelrail/testing/refusal.h"
#include "fuelrail/testing/temporary_directory.h"

namespace fuelrail {
namespace {

using testing::CropJob;
using ::testing::HasSubstr;
using testing::refusal_of;

// An image of smooth colours with some texture.
struct Pixels {
  Pixels(int64_t rows, int64_t columns, int seed = 0) : height(rows), width(columns) {
    for (int64_t y = 0; y < height; ++y) {
      for (int64_t x = 0; x < width; ++x) {
        for (int64_t c = 0; c < 3; ++c) {
          const int64_t texture = (x * 7 + y * 13 + seed * 5) % 11;
          const int64_t slope = std::abs((x + c * y / 2 + seed * 31) % 200 - 100);
          bytes.push_back(static_cast<uint8_t>(60 + slope + texture));
        }
      }
    }
  }
  ConstImageView view() const { return {bytes.data(), height, width, 3, width * 3}; }
  std::string_view text() const {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
  int64_t height, width;
  std::vector<uint8_t> bytes;
};

// A still as a container describes it.
struct Stored {
  Stored(const HevcStill& of, Size coded, Size shown) : still(of), visible(shown) {
    codec = {.format = &kHevcFormat, .coded = coded, .parameters = still.parameters};
  }
  Stored& operator=(Stored&&) = delete;
  EncodedImage image() const {
    EncodedImage image(still.bitstream);
    image.codec = &codec;
    image.visible = visible;
    return image;
  }
  HevcStill still;
  Size visible;
  ImageCodec codec;
};

class HevcStills : public testing::PluginTest {
 protected:
  static HevcStill encoded(const Pixels& pixels, Size coded, const HevcSettings& settings = {}) {
    HevcStill still;
    HevcEncoder(settings).encode(pixels.view(), coded, still);
    return still;
  }

  // The pixels of a box, or the error.
  std::string decode(const Stored& stored, Box box, std::string* pixels = nullptr) {
    const EncodedImage image = stored.image();
    CropJob job(image, probe(image), box);
    job.decode_with(*decoder);
    if (pixels != nullptr) *pixels = job.packed();
    return job.error();
  }

  std::unique_ptr<Decoder> decoder = make_decoder();
};

TEST_F(HevcStills, come_back_nearly_as_they_were) {
  const Pixels pixels(61, 45);
  for (const int chroma : {420, 444}) {
    const Stored stored(
        encoded(pixels, {64, 64}, {.crf = 4, .preset = "veryfast", .chroma = chroma}), {64, 64},
        {61, 45});
    const EncodedImage image = stored.image();
    CropJob job(image, probe(image), {0, 0, 61, 45});
    job.decode_with(*decoder);
    ASSERT_EQ(job.error(), "");
    EXPECT_LE(job.distance_to(pixels.text()), 8);
  }
}

TEST_F(HevcStills, are_the_same_bytes_whatever_was_encoded_before) {
  constexpr int kPictures = 12;
  const auto picture = [](int seed) { return Pixels(96, 32 + 8 * (seed % 5), seed); };
  const auto size = [](int seed) { return seed % 3 == 0 ? Size{128, 64} : Size{96, 128}; };
  HevcEncoder encoder({});
  for (int seed = 0; seed < kPictures; ++seed) {
    const Pixels pixels = picture(seed);
    HevcStill still, again;
    encoder.encode(picture((seed * 5 + 3) % kPictures).view(), size(seed), again);
    encoder.encode(pixels.view(), size(seed), still);
    const HevcStill alone = encoded(pixels, size(seed));
    EXPECT_TRUE(still.bitstream == alone.bitstream) << seed;
    EXPECT_TRUE(still.parameters == alone.parameters) << seed;
  }
}

TEST_F(HevcStills, repeat_the_edges_of_the_image) {
  const Pixels pixels(31, 33);
  const Stored stored(encoded(pixels, {64, 64}, {.crf = 0, .preset = "veryfast", .chroma = 444}),
                      {64, 64}, {});
  std::string all;
  ASSERT_EQ(decode(stored, {0, 0, 64, 64}, &all), "");
  for (const auto& [y, x] : {std::pair{0, 63}, {20, 50}, {63, 0}, {50, 20}, {63, 63}}) {
    const int64_t edge = std::min(y, 30) * 33 + std::min(x, 32);
    for (int64_t c = 0; c < 3; ++c) {
      EXPECT_NEAR(static_cast<uint8_t>(all[static_cast<size_t>((y * 64 + x) * 3 + c)]),
                  pixels.bytes[static_cast<size_t>(edge * 3 + c)], 6)
          << y << ", " << x;
    }
  }
}

TEST_F(HevcStills, boxes_equal_the_whole_in_any_order) {
  std::vector<std::unique_ptr<Stored>> stills;
  std::vector<std::string> whole;
  for (int seed = 0; seed < 6; ++seed) {
    const Size coded = seed % 2 == 0 ? Size{64, 64} : Size{96, 64};
    const HevcSettings settings{
        .crf = 10.0 + seed, .preset = "veryfast", .chroma = seed % 3 == 0 ? 444 : 420};
    const Pixels pixels(coded.height, coded.width, seed);
    stills.push_back(std::make_unique<Stored>(encoded(pixels, coded, settings), coded, coded));
    ASSERT_EQ(decode(*stills.back(), {0, 0, coded.height, coded.width}, &whole.emplace_back()), "");
  }
  for (const size_t i : {5, 0, 3, 3, 1, 4, 2, 0}) {
    const Box box{7, 11, 30, 21};
    std::string part;
    if (i == 3) decoder = make_decoder();  // one that has decoded nothing yet
    ASSERT_EQ(decode(*stills[i], box, &part), "");
    for (int64_t y = 0; y < box.height; ++y) {
      const auto from = static_cast<size_t>(((box.top + y) * 64 + box.left) * 3);
      const auto bytes = static_cast<size_t>(box.width * 3);
      EXPECT_EQ(part.substr(static_cast<size_t>(y) * bytes, bytes), whole[i].substr(from, bytes));
    }
  }
}

TEST_F(HevcStills, that_are_cut_never_show_the_picture_before) {
  const HevcSettings settings{.crf = 10, .preset = "veryfast"};
  const HevcStill still = encoded(Pixels(128, 128), {128, 128}, settings);
  const Stored before(encoded(Pixels(128, 128, 1), {128, 128}, settings), {128, 128}, {});
  const Stored other(encoded(Pixels(128, 128, 2), {128, 128}, settings), {128, 128}, {});
  const Box all{0, 0, 128, 128};
  const size_t bytes = still.bitstream.size();
  for (const size_t left : {size_t{12}, size_t{16}, bytes / 8, bytes / 2, bytes * 7 / 8}) {
    HevcStill cut = still;
    cut.bitstream.resize(left);
    EXPECT_THAT(decode(Stored(cut, {128, 128}, {}), all),
                HasSubstr("the image ends inside a NAL unit"));
    const size_t unit = cut.bitstream.size() - 4;  // with a valid length, only the library can see
    for (size_t i = 0; i < 4; ++i) {
      cut.bitstream[i] = static_cast<std::byte>(unit >> (24 - 8 * i));
    }
    std::string first, second;
    ASSERT_EQ(decode(before, all), "");
    const std::string error = decode(Stored(cut, {128, 128}, {}), all, &first);
    ASSERT_EQ(decode(other, all), "");
    EXPECT_EQ(decode(Stored(cut, {128, 128}, {}), all, &second), error);
    EXPECT_EQ(first, second);
    // libavcodec conceals what is missing; libde265 says nothing of a slice without data.
    if (!decodes_with_libavcodec() && left >= bytes / 8) {
      EXPECT_THAT(error, HasSubstr("damaged"));
    }
  }
}

// Found by fuzzing: a picture without its last rows, of which libde265 does not warn.
TEST_F(HevcStills, without_all_their_parts_never_show_other_memory) {
  const std::string file =
      file_contents(FUELRAIL_SOURCE_DIR "/tests/fuzz/corpus/still/missing-parts");
  const EncodedImage image(as_bytes(file));
  std::vector<std::string> results;
  for (const int fill : {1, 254}) {  // of the bytes that malloc returns
    ::mallopt(M_PERTURB, fill);
    const ImageInfo info = probe(image);
    CropJob job(image, info, whole(info.stored));
    job.decode_with(*decoder);
    results.push_back(job.error().empty() ? job.packed() : job.error());
  }
  ::mallopt(M_PERTURB, 0);
  EXPECT_TRUE(results[0] == results[1]);
}

// Neither library reports all damage; only a sidecar's checksum is certain. The numbers are those
// that the libraries of Debian 12 find, on any processor.
TEST_F(HevcStills, flipped_bits_are_found) {
  const HevcStill still = encoded(Pixels(128, 128), {128, 128}, {.crf = 10, .preset = "veryfast"});
  const Stored intact(still, {128, 128}, {});
  constexpr size_t kFlips = 1000, kHeaderBytes = 8;
  size_t found = 0;
  for (size_t i = 0; i < kFlips; ++i) {
    HevcStill damaged = still;
    const size_t bit = 8 * kHeaderBytes + i * 7919 % (8 * (still.bitstream.size() - kHeaderBytes));
    damaged.bitstream[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
    if (!decode(Stored(damaged, {128, 128}, {}), {0, 0, 128, 128}).empty()) ++found;
    if (i % 16 == 0) {
      ASSERT_EQ(decode(intact, {0, 0, 8, 8}), "") << bit;
    }
  }
  EXPECT_GE(found, decodes_with_libavcodec() ? 12u : 920u) << hevc_library().description;
}

// The picture as bytes.
std::string planes_of(const fuelrail_planes& picture) {
  std::string bytes = fmt::format("{} bits, chroma format {};", picture.bits, picture.chroma);
  const int size = picture.bits > 8 ? 2 : 1;
  for (int i = 0; i < (picture.chroma == 0 ? 1 : 3); ++i) {
    for (int32_t y = 0; y < picture.heights[i]; ++y) {
      bytes.append(static_cast<const char*>(picture.planes[i]) + y * picture.strides[i],
                   static_cast<size_t>(picture.widths[i] * size));
    }
  }
  return bytes;
}

std::string planes_from(const fuelrail_hevc_table& library, const HevcStill& still) {
  hevc::DecoderConfiguration configuration = hevc::read_hvcc(still.parameters);
  hevc::append_hevc_units(still.bitstream, configuration.length_bytes, configuration.units);
  std::vector<fuelrail_nal> units;
  for (const Bytes unit : configuration.units) {
    units.push_back({reinterpret_cast<const uint8_t*>(unit.data()), unit.size()});
  }
  fuelrail_failure failure{};
  fuelrail_planes picture{};
  void* decoder = nullptr;
  EXPECT_EQ(library.make_decoder(FUELRAIL_H265, &decoder, &failure), FUELRAIL_OK);
  const auto status =
      library.decode(decoder, units.data(), units.size(), INT64_MAX, &picture, &failure);
  std::string planes = status == FUELRAIL_OK ? planes_of(picture) : failure.text;
  library.free_decoder(decoder);
  return planes;
}

// Limits every allocation of libavcodec, as long as it lives.
class AvcodecMemory {
 public:
  explicit AvcodecMemory(size_t most_bytes) {
    Dl_info info{};
    ::dladdr(reinterpret_cast<const void*>(hevc_library().decode), &info);
    plugin_ = ::dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD);
    limit_ = reinterpret_cast<void (*)(size_t)>(::dlsym(plugin_, "av_max_alloc"));
    limit_(most_bytes);
  }
  ~AvcodecMemory() {
    limit_(INT_MAX);  // the default
    ::dlclose(plugin_);
  }
  AvcodecMemory& operator=(AvcodecMemory&&) = delete;

 private:
  void* plugin_;
  void (*limit_)(size_t);
};

TEST_F(HevcStills, are_decoded_after_memory_was_lacking) {
  if (!decodes_with_libavcodec()) GTEST_SKIP() << "libde265's memory cannot be limited";
  const HevcSettings settings{.crf = 10, .preset = "veryfast"};
  const Stored before(encoded(Pixels(64, 64), {64, 64}, settings), {64, 64}, {});
  const Stored other(encoded(Pixels(96, 64), {96, 64}, settings), {96, 64}, {});
  ASSERT_EQ(decode(before, {0, 0, 64, 64}), "");
  {
    const AvcodecMemory limited(2000);  // enough for a context, but not for its decoder
    EXPECT_EQ(decode(other, {0, 0, 96, 64}), std::bad_alloc().what());
    EXPECT_EQ(decode(other, {0, 0, 96, 64}), std::bad_alloc().what());
    EXPECT_EQ(decode(before, {0, 0, 64, 64}), std::bad_alloc().what());
  }
  EXPECT_EQ(decode(before, {0, 0, 64, 64}), "");
  EXPECT_EQ(decode(other, {0, 0, 96, 64}), "");
}

// `./run test` builds the plugin with either decoder.
TEST_F(HevcStills, are_decoded_equally_by_both_libraries) {
  const char* const other = std::getenv("FUELRAIL_OTHER_HEVC");
  if (other == nullptr) GTEST_SKIP() << "FUELRAIL_OTHER_HEVC does not name another plugin";
  void* const opened = ::dlopen(other, RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(opened, nullptr) << ::dlerror();
  const auto table = reinterpret_cast<fuelrail_hevc_function>(::dlsym(opened, "fuelrail_hevc"));
  ASSERT_NE(table, nullptr);
  ASSERT_STRNE(table()->description, hevc_library().description);
  for (int seed = 0; seed < 6; ++seed) {
    const Size coded{64 + 32 * (seed % 3), 128};
    const HevcSettings settings{.crf = 4.0 + 6 * seed, .chroma = seed % 2 == 0 ? 420 : 444};
    const HevcStill still = encoded(Pixels(coded.height - 3, 121, seed), coded, settings);
    EXPECT_EQ(planes_from(*table(), still), planes_from(hevc_library(), still)) << seed;
  }
}

TEST_F(HevcStills, of_invalid_settings_are_refused) {
  const auto refused = [](const HevcSettings& settings) {
    return refusal_of<InvalidArgumentError>([&] { HevcEncoder encoder(settings); });
  };
  EXPECT_THAT(refused({.crf = 52}),
              HasSubstr("the CRF is out of range: expected 0 to 51, found 52"));
  EXPECT_THAT(refused({.crf = std::nan("")}), HasSubstr("found nan"));
  EXPECT_THAT(refused({.preset = "mediun"}), HasSubstr("Did you mean 'medium'?"));
  EXPECT_THAT(refused({.chroma = 422}), HasSubstr("expected 420 or 444, found 422"));
}

}  // namespace
}  // namespace fuelrail
