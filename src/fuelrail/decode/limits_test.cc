// Small files that declare large images. An image that the bytes cannot hold, or that takes too
// much work, is refused before memory is touched. The smallest files of real encoders are accepted.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <string>

#include "fuelrail/base/crc32.h"
#include "fuelrail/base/endian.h"
#include "fuelrail/base/error.h"
#include "fuelrail/decode/decoder.h"
#include "fuelrail/testing/crop_job.h"
#include "fuelrail/testing/made_jpeg.h"
#include "fuelrail/testing/refusal.h"

namespace fuelrail {
namespace {

using testing::DecodeAttempt;
using ::testing::HasSubstr;
using namespace std::string_literals;

constexpr int64_t kSide = 13300;  // nearly the largest allowed number of pixels

std::string be(uint32_t value, int bytes) {
  std::string text;
  for (int i = bytes; i-- > 0;) text += static_cast<char>(value >> 8 * i);
  return text;
}

std::string png_chunk(const std::string& type, const std::string& data) {
  const std::string checked = type + data;
  return be(static_cast<uint32_t>(data.size()), 4) + checked + be(crc32(as_bytes(checked)), 4);
}

std::string png(int64_t height, int64_t width, bool interlaced) {
  std::string header = be(static_cast<uint32_t>(width), 4) + be(static_cast<uint32_t>(height), 4);
  header += "\x08\x02\0\0"s;
  header += static_cast<char>(interlaced);
  return "\x89PNG\r\n\x1a\n" + png_chunk("IHDR", header) + png_chunk("IDAT", "\x78\x01");
}

std::string bmp(int64_t height, int64_t width) {
  std::string text(54, '\0');
  text.replace(0, 2, "BM");
  const auto put = [&](size_t at, int64_t value) {
    store_le<int32_t>(reinterpret_cast<std::byte*>(text.data() + at), static_cast<int32_t>(value));
  };
  put(10, 54), put(14, 40), put(18, width), put(22, height), put(26, 1 | 24 << 16);
  return text;
}

std::string segment(char marker, const std::string& payload) {
  return std::string{'\xff', marker} + be(static_cast<uint32_t>(payload.size()) + 2, 2) + payload;
}

// A grey JPEG of one level. Its first scan has one bit for each block's first coefficient, which is
// 0. Each further scan declares in 15 bits that a run of 16,384 blocks has no other coefficients.
std::string grey_jpeg(int64_t side, int empty_scans) {
  const int64_t blocks = (side + 7) / 8 * ((side + 7) / 8);
  const auto bits = [](int64_t count) {
    return std::string(static_cast<size_t>(count / 8 + 1), 0);
  };
  const std::string size = be(static_cast<uint32_t>(side), 2);
  const auto table = [](char place, char symbol) {  // one code, of one bit
    return segment('\xc4', std::string{place, 1} + std::string(15, '\0') + symbol);
  };
  std::string text = "\xff\xd8" + segment('\xdb', '\0' + std::string(64, 1)) +
                     segment('\xc2', '\x08' + size + size + "\x01\x01\x11\0"s) +
                     table('\x00', '\x00') + table('\x10', '\xe0');
  text += segment('\xda', "\x01\x01\0\0\0\0"s) + bits(blocks);
  const std::string empty =
      segment('\xda', "\x01\x01\0\x01\x3f\0"s) + bits((blocks + 16383) / 16384 * 15);
  for (int i = 0; i < empty_scans; ++i) text += empty;
  return text + "\xff\xd9";
}

// Returns the error of decoding the first columns of all rows.
std::string error_of(const std::string& encoded) {
  const ImageInfo info = probe(as_bytes(encoded));
  DecodeAttempt attempt(encoded, info, {0, 0, info.stored.height, 8}, *make_decoder());
  EXPECT_TRUE(!attempt->job.error || attempt->failed_with<TruncatedError>() ||
              attempt->failed_with<DecodeError>())
      << attempt->error();
  return attempt->error();
}

TEST(DecodeLimits, a_header_that_its_bytes_cannot_honour_is_refused) {
  EXPECT_THAT(error_of(png(kSide, kSide, false)), HasSubstr("expected at least 514215 bytes"));
  EXPECT_THAT(error_of(png(kSide, kSide, true)), HasSubstr("expected at least 514215 bytes"));
  EXPECT_THAT(error_of(bmp(kSide, kSide)), HasSubstr("expected at least 530670054 bytes"));
  EXPECT_THAT(error_of(bmp(-kSide, kSide)), HasSubstr("expected at least 530670054 bytes"));
  std::string header = grey_jpeg(kSide, 0);
  header.resize(300);
  EXPECT_THAT(error_of(header), HasSubstr("expected at least 345696 bytes"));
  const size_t frame = header.find("\xff\xc2");
  header[frame + 1] = '\xc0';
  EXPECT_THAT(error_of(header), HasSubstr("expected at least 345488 bytes"));
}

TEST(DecodeLimits, the_smallest_files_of_an_encoder_hold_what_they_claim) {
  for (const bool progressive : {false, true}) {
    for (const auto colour : {MadeJpeg::Colour::kGrey, MadeJpeg::Colour::kYcc}) {
      for (const std::array<int, 2> sampling : {std::array{1, 1}, {2, 2}, {1, 4}}) {
        for (const bool interleaved : {true, false}) {
          const MadeJpeg wanted{.size = {523, 301},
                                .colour = colour,
                                .sampling = {sampling},
                                .progressive = progressive,
                                .interleaved = interleaved,
                                .flat = true,
                                .own_codes = true};
          EXPECT_EQ(error_of(std::string(as_text(make_jpeg(wanted)))), "") << describe(wanted);
        }
      }
    }
  }
  EXPECT_EQ(error_of(grey_jpeg(1000, 1)), "");
}

TEST(DecodeLimits, scans_that_cost_work_and_no_bytes_are_refused) {
  const std::string encoded = grey_jpeg(kSide, 490);
  EXPECT_LT(encoded.size(), 520'000u);
  const std::string error = error_of(encoded);
  EXPECT_THAT(error, HasSubstr("scans contain too many blocks"));
  EXPECT_THAT(error, HasSubstr("expected at most 88498208 blocks in total"));
  EXPECT_THAT(error, HasSubstr("found 1357894379 for an image of 2765569 blocks"));
}

TEST(DecodeLimits, a_small_image_may_have_many_scans) {
  EXPECT_EQ(error_of(grey_jpeg(64, 490)), "");
}

TEST(DecodeLimits, a_side_may_have_65535_pixels) {
  const auto refusal = [](const std::string& encoded) {
    return testing::refusal_of<DecodeError>([&] { probe(as_bytes(encoded)); });
  };
  EXPECT_EQ(probe(as_bytes(png(1, 65535, false))).stored, (Size{1, 65535}));
  EXPECT_EQ(probe(as_bytes(bmp(65535, 1))).stored, (Size{65535, 1}));
  EXPECT_THAT(refusal(png(1, 65536, false)),
              HasSubstr("a height and width of at most 65535 pixels"));
  EXPECT_THAT(refusal(png(1, 65536, false)), HasSubstr("found 1 x 65536 (height x width)"));
  EXPECT_THAT(refusal(bmp(-65536, 1)), HasSubstr("a height and width of at most 65535 pixels"));
}

TEST(DecodeLimits, a_side_of_a_jpeg_may_have_65500_pixels) {
  const auto jpeg = [](uint32_t width) {
    std::string text = grey_jpeg(8, 0);
    const size_t frame = text.find("\xff\xc2");
    return text.replace(frame + 7, 2, be(width, 2));
  };
  EXPECT_EQ(probe(as_bytes(jpeg(65500))).stored, (Size{8, 65500}));
  EXPECT_THAT(testing::refusal_of<DecodeError>([&] { probe(as_bytes(jpeg(65501))); }),
              HasSubstr("a height and width of at most 65500 pixels"));
}

}  // namespace
}  // namespace fuelrail
