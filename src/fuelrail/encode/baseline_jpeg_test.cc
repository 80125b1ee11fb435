#include "fuelrail/encode/baseline_jpeg.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

// Needs <cstdio>.
#include <jpeglib.h>

#include "fuelrail/testing/made_jpeg.h"

namespace fuelrail {
namespace {

using ::testing::ElementsAre;

std::string text_of(Bytes bytes) { return std::string(as_text(bytes)); }

// A segment with its marker and length.
std::string segment(int marker, const std::string& content) {
  const size_t length = content.size() + 2;
  return std::string{'\xFF', static_cast<char>(marker), static_cast<char>(length >> 8),
                     static_cast<char>(length & 0xFF)} +
         content;
}

struct Structure {
  std::vector<std::string> kept;  // the APPn and COM segments
  std::vector<int> frames;        // the markers SOFn
  int scans = 0;
};

// Requires: a valid JPEG without bytes after its end marker.
Structure structure_of(const std::string& jpeg) {
  Structure found;
  for (size_t at = 2; at + 4 <= jpeg.size();) {
    const auto byte = [&](size_t i) { return static_cast<unsigned char>(jpeg[at + i]); };
    const int marker = byte(1);
    if (byte(0) != 0xFF || marker == 0 || (marker >= JPEG_RST0 && marker < JPEG_RST0 + 8)) {
      ++at;  // of a scan
      continue;
    }
    const size_t bytes = 2 + byte(2) * size_t{256} + byte(3);
    if (marker >= JPEG_APP0 && marker <= JPEG_COM) found.kept.push_back(jpeg.substr(at, bytes));
    if (marker >= 0xC0 && marker <= 0xCF && marker != 0xC4) found.frames.push_back(marker);
    if (marker == 0xDA) ++found.scans;
    at += bytes;
  }
  return found;
}

// All coefficients, by component, row, column and place in the block.
std::vector<JCOEF> coefficients_of(Bytes jpeg) {
  jpeg_error_mgr errors;
  jpeg_decompress_struct codec;
  codec.err = jpeg_std_error(&errors);
  jpeg_create_decompress(&codec);
  jpeg_mem_src(&codec, reinterpret_cast<const unsigned char*>(jpeg.data()),
               static_cast<unsigned long>(jpeg.size()));
  jpeg_read_header(&codec, TRUE);
  jvirt_barray_ptr* const components = jpeg_read_coefficients(&codec);
  std::vector<JCOEF> all;
  for (int i = 0; i < codec.num_components; ++i) {
    const jpeg_component_info& component = codec.comp_info[i];
    for (JDIMENSION y = 0; y < component.height_in_blocks; ++y) {
      const JBLOCKROW row = codec.mem->access_virt_barray(reinterpret_cast<j_common_ptr>(&codec),
                                                          components[i], y, 1, FALSE)[0];
      all.insert(all.end(), row[0], row[component.width_in_blocks]);
    }
  }
  jpeg_destroy_decompress(&codec);
  return all;
}

// The JPEG with EXIF, XMP, ICC, a comment and another application's segment behind its own ones.
std::vector<std::byte> with_metadata(const std::vector<std::byte>& jpeg) {
  std::string text = text_of(jpeg);
  size_t at = 2;
  for (const std::string& own : structure_of(text).kept) at += own.size();
  text.insert(at, segment(0xE1, std::string("Exif\0\0MM\0\x2A\0\0\0\x08\0\0\0\0\0\0", 20)) +
                      segment(JPEG_COM, "first") +
                      segment(0xE2, "ICC_PROFILE" + std::string(7000, '\0')) +
                      segment(0xE2, std::string(65533, 'j')) + segment(0xED, "Photoshop") +
                      segment(0xE1, "http://ns.adobe.com/xap/1.0/") + segment(JPEG_COM, ""));
  const Bytes bytes = as_bytes(text);
  return {bytes.begin(), bytes.end()};
}

using Colour = MadeJpeg::Colour;

std::vector<MadeJpeg> kinds() {
  std::vector<MadeJpeg> all;
  for (const Size size : {Size{1, 1}, Size{61, 83}, Size{130, 40}}) {
    for (const auto& luma :
         std::vector<std::array<int, 2>>{{1, 1}, {2, 1}, {1, 2}, {2, 2}, {4, 1}}) {
      all.push_back({.size = size, .sampling = {luma}});
    }
    all.push_back({.size = size, .sampling = {{{2, 2}}}, .restart_interval = 3});
    all.push_back({.size = size, .colour = Colour::kGrey});
    all.push_back({.size = size, .colour = Colour::kRgb});
    all.push_back({.size = size, .colour = Colour::kCmyk});
    all.push_back(
        {.size = size, .colour = Colour::kYcck, .sampling = {{{2, 2}, {1, 1}, {1, 1}, {2, 2}}}});
    all.push_back({.size = size, .colour = Colour::kRgb, .adobe_marker = false});
    all.push_back({.size = size, .flat = true});
  }
  for (MadeJpeg& kind : all) kind.progressive = true;
  return all;
}

bool recodes(const std::vector<std::byte>& jpeg) {
  std::vector<std::byte> out;
  return recode_as_baseline(jpeg, out);
}

std::vector<std::byte> progressive() { return make_jpeg({.size = {40, 56}, .progressive = true}); }

TEST(BaselineJpeg, has_the_coefficients_segments_and_pixels_of_the_progressive_one) {
  for (const MadeJpeg& kind : kinds()) {
    for (const bool metadata : {false, true}) {
      SCOPED_TRACE(describe(kind));
      std::vector<std::byte> jpeg = make_jpeg(kind);
      if (metadata) jpeg = with_metadata(jpeg);
      ASSERT_TRUE(is_progressive_jpeg(jpeg));
      std::vector<std::byte> out;
      ASSERT_TRUE(recode_as_baseline(jpeg, out));
      EXPECT_FALSE(is_progressive_jpeg(out));
      EXPECT_TRUE(coefficients_of(out) == coefficients_of(jpeg));
      EXPECT_TRUE(decode_plainly(out).pixels == decode_plainly(jpeg).pixels);
      const Structure made = structure_of(text_of(out));
      EXPECT_TRUE(made.kept == structure_of(text_of(jpeg)).kept);
      EXPECT_THAT(made.frames, ElementsAre(0xC0));
      EXPECT_EQ(made.scans, 1);
    }
  }
}

TEST(BaselineJpeg, is_the_same_each_time) {
  std::vector<std::byte> once;
  std::vector<std::byte> again(7);
  ASSERT_TRUE(recode_as_baseline(progressive(), once));
  ASSERT_TRUE(recode_as_baseline(progressive(), again));
  EXPECT_EQ(once, again);
}

TEST(BaselineJpeg, does_not_depend_on_the_memory_limit_of_the_environment) {
  const std::vector<std::byte> jpeg = progressive();
  ::setenv("JPEGMEM", "1", 1);  // thousand bytes
  const bool made = recodes(jpeg);
  ::unsetenv("JPEGMEM");
  EXPECT_TRUE(made);
}

TEST(BaselineJpeg, only_progressive_jpegs_are_progressive) {
  EXPECT_FALSE(is_progressive_jpeg({}));
  EXPECT_FALSE(is_progressive_jpeg(as_bytes("no image")));
  EXPECT_FALSE(is_progressive_jpeg(make_jpeg({})));
  EXPECT_FALSE(is_progressive_jpeg(make_jpeg({.interleaved = false})));
  std::vector<std::byte> odd = progressive();
  odd.insert(odd.begin() + 2, 3, std::byte{7});  // bytes between markers
  EXPECT_FALSE(is_progressive_jpeg(odd));
  const size_t frame = text_of(progressive()).find("\xFF\xC2");
  ASSERT_NE(frame, std::string::npos);
  for (const int marker : {0xC0, 0xC1, 0xC3, 0xC5, 0xC6, 0xC7, 0xC9, 0xCA, 0xCB}) {
    std::vector<std::byte> other = progressive();
    other[frame + 1] = static_cast<std::byte>(marker);
    EXPECT_FALSE(is_progressive_jpeg(other)) << marker;
  }
  std::vector<std::byte> deep = progressive();
  deep[frame + 4] = std::byte{12};  // bits
  EXPECT_FALSE(is_progressive_jpeg(deep));
}

TEST(BaselineJpeg, is_not_made_of_any_truncated_jpeg) {
  const std::vector<std::byte> whole = progressive();
  for (size_t size = 0; size < whole.size(); ++size) {
    EXPECT_FALSE(recodes({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)}))
        << size;
  }
}

TEST(BaselineJpeg, no_damage_makes_it_crash) {
  const std::vector<std::byte> whole = progressive();
  for (size_t i = 0; i < whole.size(); ++i) {
    for (const auto flip : {std::byte{0xFF}, std::byte{0x01}, std::byte{0x80}}) {
      std::vector<std::byte> damaged = whole;
      damaged[i] ^= flip;
      std::vector<std::byte> out;
      if (!is_progressive_jpeg(damaged) || !recode_as_baseline(damaged, out)) continue;
      EXPECT_THAT(structure_of(text_of(out)).frames, ElementsAre(0xC0));
    }
  }
}

TEST(BaselineJpeg, is_not_made_where_bytes_after_the_end_would_be_lost) {
  std::vector<std::byte> jpeg = progressive();
  ASSERT_TRUE(recodes(jpeg));
  jpeg.push_back(std::byte{0});
  EXPECT_FALSE(recodes(jpeg));
}

TEST(BaselineJpeg, is_not_made_of_quantisers_above_255) {
  std::string text = text_of(progressive());
  const size_t tables = text.find("\xFF\xDB");
  ASSERT_EQ(text.substr(tables + 2, 3), std::string("\0\x43\0", 3));  // a table of 8 bits
  std::string wide("\xFF\xDB\0\x83\x10", 5);
  for (size_t i = 0; i < DCTSIZE2; ++i)
    wide += std::string{i == 63 ? '\1' : '\0', text[tables + 5 + i]};
  text.replace(tables, 69, wide);
  const Bytes bytes = as_bytes(text);
  ASSERT_TRUE(is_progressive_jpeg(bytes));
  EXPECT_FALSE(recodes({bytes.begin(), bytes.end()}));
}

}  // namespace
}  // namespace fuelrail
