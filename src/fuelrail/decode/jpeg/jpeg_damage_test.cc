// Odd, damaged and truncated JPEGs: which are tolerated, which are refused, and with which errors.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <random>

#include "fuelrail/base/error.h"
#include "fuelrail/decode/jpeg/jpeg_decoder.h"
#include "fuelrail/testing/crop_job.h"
#include "fuelrail/testing/made_jpeg.h"

namespace fuelrail {
namespace {

using testing::CropJob;
using Colour = MadeJpeg::Colour;

constexpr char kSof0 = '\xc0', kDht = '\xc4', kEoi = '\xd9', kSos = '\xda', kDqt = '\xdb';
const std::string kEnd{'\xff', kEoi};

const Size kSize{96, 80};
const Box kAll = whole(kSize);

ImageInfo info() {
  ImageInfo info;
  info.stored = kSize;
  info.channels = 3;
  return info;
}

// Chroma halved in both directions, in one scan.
MadeJpeg halved() {
  MadeJpeg made;
  made.size = kSize;
  made.sampling = {{2, 2}};
  return made;
}

std::string made(const MadeJpeg& wanted) { return std::string(as_text(make_jpeg(wanted))); }

std::string pixels_of(const std::string& encoded) {
  return rgb_of(decode_plainly(as_bytes(encoded)));
}

// Where each marker with this code begins.
std::vector<size_t> places_of(const std::string& encoded, char code) {
  std::vector<size_t> places;
  const std::string marker{'\xff', code};
  for (size_t at = encoded.find(marker); at != encoded.npos; at = encoded.find(marker, at + 2)) {
    places.push_back(at);
  }
  return places;
}

std::string without_segments(std::string encoded, char code) {
  for (auto places = places_of(encoded, code); !places.empty(); places = places_of(encoded, code)) {
    const size_t at = places.back();
    const auto byte = [&](size_t i) {
      return static_cast<size_t>(static_cast<uint8_t>(encoded[i]));
    };
    encoded.erase(at, 2 + (byte(at + 2) << 8 | byte(at + 3)));
  }
  return encoded;
}

// Decodes a box of an encoded image with a new decoder.
struct Attempt : testing::DecodeAttempt {
  explicit Attempt(const std::string& encoded, Box box = kAll)
      : DecodeAttempt(encoded, info(), box, *make_jpeg_decoder()) {}
};

TEST(JpegDamage, what_is_cut_off_below_the_box_is_not_missed) {
  const std::string encoded = made(halved());
  const std::string cut = encoded.substr(0, encoded.size() * 2 / 3);
  Attempt above(cut, {3, 5, 30, 40});
  EXPECT_EQ(above->error(), "");
  EXPECT_EQ(above->distance_to(pixels_of(encoded)), 0);
  EXPECT_EQ(above->job.tolerated, 0u);
  Attempt below(cut, {3, 5, 90, 40});
  EXPECT_TRUE(below->failed_with<TruncatedError>());
  EXPECT_NE(below->error().find(fmt::format("ends after {} bytes", cut.size())), std::string::npos)
      << below->error();
}

TEST(JpegDamage, damage_below_the_box_is_not_noticed) {
  std::string encoded = made(halved());
  const std::string rgb = pixels_of(encoded);
  encoded.replace(encoded.size() * 3 / 4, 2, kEnd);
  Attempt above(encoded, {0, 0, 20, 80});
  EXPECT_EQ(above->error(), "");
  EXPECT_EQ(above->distance_to(rgb), 0);
  Attempt all(encoded);
  EXPECT_TRUE(all->failed_with<DecodeError>()) << all->error();
}

TEST(JpegDamage, a_missing_end_marker_is_tolerated) {
  for (const bool progressive : {false, true}) {
    for (const bool interleaved : {false, true}) {
      MadeJpeg wanted = halved();
      wanted.progressive = progressive;
      wanted.interleaved = interleaved;
      const std::string encoded = made(wanted);
      Attempt attempt(encoded.substr(0, encoded.size() - 2));
      EXPECT_EQ(attempt->error(), "");
      EXPECT_EQ(attempt->distance_to(pixels_of(encoded)), 0);
      EXPECT_LE(attempt->job.tolerated, 1u);
    }
  }
}

TEST(JpegDamage, an_end_between_scans_is_truncation) {
  for (const bool progressive : {false, true}) {
    MadeJpeg wanted = halved();
    wanted.progressive = progressive;
    wanted.interleaved = false;
    const std::string encoded = made(wanted);
    const std::vector<size_t> scans = places_of(encoded, kSos);
    ASSERT_GE(scans.size(), 3u);
    for (size_t i = 1; i < scans.size(); ++i) {
      for (const size_t back : {size_t{0}, size_t{1}, size_t{5}}) {
        Attempt attempt(encoded.substr(0, scans[i] - back), {0, 0, 1, 1});
        EXPECT_TRUE(attempt->failed_with<TruncatedError>()) << attempt->error();
      }
    }
  }
}

TEST(JpegDamage, an_end_marker_before_a_component_is_damage) {
  MadeJpeg wanted = halved();
  wanted.interleaved = false;
  const std::string encoded = made(wanted);
  for (const size_t scan : {size_t{1}, size_t{2}}) {
    Attempt attempt(encoded.substr(0, places_of(encoded, kSos)[scan]) + kEnd);
    EXPECT_TRUE(attempt->failed_with<DecodeError>()) << attempt->error();
  }
}

// libjpeg smooths such images across blocks, so no block may be skipped.
TEST(JpegDamage, a_progressive_image_that_leaves_bits_out_is_decoded_exactly) {
  MadeJpeg wanted = halved();
  wanted.quality = 40;
  wanted.progressive = true;
  const std::string encoded = made(wanted);
  const std::vector<size_t> scans = places_of(encoded, kSos);
  std::mt19937_64 random(15);
  for (size_t i = 1; i < scans.size(); ++i) {
    const std::string early = encoded.substr(0, scans[i]) + kEnd;
    const std::string rgb = pixels_of(early);
    for (const Box& box : boxes_in(kSize, random, 30)) {
      Attempt attempt(early, box);
      ASSERT_EQ(attempt->error(), "");
      ASSERT_EQ(attempt->distance_to(rgb), 0) << "without scan " << i;
    }
  }
}

TEST(JpegDamage, a_progressive_image_without_its_last_scans_is_counted) {
  MadeJpeg wanted = halved();
  wanted.progressive = true;
  const std::string encoded = made(wanted);
  const std::vector<size_t> scans = places_of(encoded, kSos);
  ASSERT_GE(scans.size(), 3u);
  for (size_t i = 1; i < scans.size(); ++i) {
    for (const Box& box : {kAll, Box{0, 0, 1, 1}}) {
      Attempt early(encoded.substr(0, scans[i]) + kEnd, box);
      EXPECT_EQ(early->error(), "");
      EXPECT_EQ(early->job.tolerated, 1u) << "without scan " << i;
    }
  }
  EXPECT_EQ(Attempt(encoded)->job.tolerated, 0u);
}

TEST(JpegDamage, harmless_oddities_are_tolerated_and_counted) {
  const std::string encoded = made(halved());
  const size_t jfif = encoded.find("JFIF");
  ASSERT_NE(jfif, encoded.npos);
  std::string extraneous = encoded, revision = encoded, selection = encoded, behind = encoded;
  extraneous.insert(places_of(encoded, kDqt)[0], "abc");
  revision[jfif + 5] = 9;
  selection[places_of(encoded, kSos)[0] + 11] = 7;  // spectral selection in a sequential scan
  behind += "bytes behind the end";
  const std::pair<std::string, uint32_t> oddities[] = {
      {extraneous, 1}, {revision, 1}, {selection, 1}, {behind, 0}};
  for (const auto& [odd, count] : oddities) {
    Attempt attempt(odd);
    EXPECT_EQ(attempt->error(), "");
    EXPECT_EQ(attempt->job.tolerated, count);
    EXPECT_EQ(attempt->distance_to(pixels_of(encoded)), 0);
  }
}

// Changed bytes in the middle of an image have the same effect: wrong pixels, coded in fewer bits.
TEST(JpegDamage, bytes_of_the_scan_that_no_pixel_takes_are_counted_at_the_last_row) {
  const std::string encoded = made(halved());
  std::string longer = encoded;
  longer.insert(encoded.size() - 2, 30, 'x');
  Attempt all(longer);
  EXPECT_EQ(all->error(), "");
  EXPECT_EQ(all->job.tolerated, 1u);
  EXPECT_EQ(all->distance_to(pixels_of(encoded)), 0);
  EXPECT_EQ(Attempt(longer, {0, 0, 20, 80})->job.tolerated, 0u);
  std::string marked = encoded;
  marked.insert(encoded.size() - 2, "\xff\xc4", 2);  // a marker for tables, without tables
  EXPECT_EQ(Attempt(marked)->job.tolerated, 1u);
  EXPECT_EQ(Attempt(marked)->distance_to(pixels_of(encoded)), 0);
}

TEST(JpegDamage, an_unknown_adobe_transform_is_tolerated_and_counted) {
  MadeJpeg wanted = halved();
  wanted.colour = Colour::kYcck;
  std::string encoded = made(wanted);
  const size_t adobe = encoded.find("Adobe");
  ASSERT_NE(adobe, encoded.npos);
  encoded[adobe + 11] = 5;
  Attempt attempt(encoded);
  EXPECT_EQ(attempt->error(), "");
  EXPECT_EQ(attempt->job.tolerated, 1u);
  EXPECT_EQ(attempt->distance_to(pixels_of(encoded)), 0);
}

TEST(JpegDamage, rgb_is_known_by_its_component_names_too) {
  MadeJpeg wanted = halved();
  wanted.colour = Colour::kRgb;
  wanted.adobe_marker = false;
  const std::string encoded = made(wanted);
  Attempt attempt(encoded);
  EXPECT_EQ(attempt->error(), "");
  EXPECT_EQ(attempt->distance_to(pixels_of(encoded)), 0);
}

TEST(JpegDamage, a_missing_restart_marker_is_damage) {
  MadeJpeg wanted = halved();
  wanted.restart_interval = 5;
  std::string encoded = made(wanted);
  encoded.erase(encoded.find("\xff\xd2"), 2);
  Attempt attempt(encoded);
  EXPECT_TRUE(attempt->failed_with<DecodeError>()) << attempt->error();
  // libjpeg's text is a quotation, not a second "found".
  EXPECT_NE(attempt->error().find("of the image (libjpeg reports: "), std::string::npos)
      << attempt->error();
}

TEST(JpegDamage, the_memory_limit_of_the_environment_refuses_no_image) {
  MadeJpeg wanted = halved();
  wanted.progressive = true;  // its coefficients are kept: 2 bytes for each sample of the image
  const std::string encoded = made(wanted);
  const std::string expected = pixels_of(encoded);
  ASSERT_EQ(::setenv("JPEGMEM", "1", 1), 0);  // a limit of 1,000 bytes in libjpeg
  Attempt attempt(encoded);
  ::unsetenv("JPEGMEM");
  EXPECT_EQ(attempt->error(), "");
  EXPECT_EQ(attempt->distance_to(expected), 0);
}

TEST(JpegDamage, motion_jpeg_without_huffman_tables_gets_the_standard_ones) {
  const std::string encoded = made(halved());
  Attempt attempt(without_segments(encoded, kDht));
  EXPECT_EQ(attempt->error(), "");
  EXPECT_EQ(attempt->distance_to(pixels_of(encoded)), 0);
}

TEST(JpegDamage, tables_are_never_inherited_from_the_last_image) {
  const std::string good = made(halved()), bare = without_segments(good, kDqt);
  const auto decoder = make_jpeg_decoder();
  for (const std::string& encoded : {bare, good, bare, good}) {
    CropJob crop(as_bytes(encoded), info(), kAll);
    crop.decode_with(*decoder);
    EXPECT_EQ(crop.error().empty(), encoded == good) << crop.error();
  }
}

TEST(JpegDamage, more_scans_than_any_encoder_writes_are_refused) {
  MadeJpeg wanted = halved();
  wanted.interleaved = false;
  const std::string encoded = made(wanted);
  const std::vector<size_t> scans = places_of(encoded, kSos);
  const std::string first = encoded.substr(scans[0], scans[1] - scans[0]);
  const auto with_scans = [&](int count) {
    std::string many;
    for (int i = 0; i < count; ++i) many += first;
    return encoded.substr(0, scans[0]) + many + encoded.substr(scans[0]);
  };
  Attempt refused(with_scans(600));
  EXPECT_NE(refused->error().find("more than 500 scans"), std::string::npos) << refused->error();
  Attempt allowed(with_scans(100));
  EXPECT_EQ(allowed->error(), "");
}

TEST(JpegDamage, fractional_subsampling_is_unsupported) {
  MadeJpeg wanted = halved();
  wanted.sampling = {{3, 1}};
  std::string encoded = made(wanted);
  encoded[places_of(encoded, kSof0)[0] + 14] = '\x21';  // Cb: 2 of 3 columns
  Attempt attempt(encoded);
  EXPECT_TRUE(attempt->failed_with<UnsupportedError>()) << attempt->error();
}

TEST(JpegDamage, damage_is_reported_with_its_place) {
  std::string encoded = made(halved());
  const size_t middle = encoded.size() / 2;
  encoded.replace(middle, 2, kEnd);
  const std::string error = Attempt(encoded)->error();
  size_t at = 0;
  ASSERT_EQ(std::sscanf(error.c_str(), "the JPEG is damaged near byte %zu", &at), 1) << error;
  EXPECT_LE(at, middle + 2);
  EXPECT_GT(at + 200, middle);  // libjpeg knows where the MCU begins
}

TEST(JpegDamage, info_of_another_size_is_refused) {
  const std::string encoded = made(halved());
  ImageInfo wrong = info();
  wrong.stored.width += 1;
  CropJob crop(as_bytes(encoded), wrong, {0, 0, 5, 5});
  crop.decode_with(*make_jpeg_decoder());
  EXPECT_TRUE(crop.failed_with<InvalidArgumentError>()) << crop.error();
}

}  // namespace
}  // namespace fuelrail
