// The conformance suite for decoders. Instantiate it with the functions that make a decoder:
//
//   INSTANTIATE_TEST_SUITE_P(Some, DecoderConformance, ::testing::Values(
//       DecoderCase{"name", make_some_decoder, {".jpg"}}), case_name);
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <ostream>
#include <random>
#include <string>
#include <vector>

#include "fuelrail/base/error.h"
#include "fuelrail/decode/decoder.h"
#include "fuelrail/testing/crop_job.h"
#include "fuelrail/testing/golden_images.h"

namespace fuelrail::testing {

struct DecoderCase {
  std::string name;
  std::function<std::unique_ptr<Decoder>()> make;
  std::vector<std::string> endings;  // file name endings of the golden images that it decodes
};

inline void PrintTo(const DecoderCase& decoder, std::ostream* out) { *out << decoder.name; }

inline std::string case_name(const ::testing::TestParamInfo<DecoderCase>& info) {
  return info.param.name;
}

inline Box random_box(std::mt19937_64& random, Size size) {
  const auto below = [&](int64_t limit) {
    return static_cast<int64_t>(random() % static_cast<uint64_t>(limit));
  };
  Box box{below(size.height), below(size.width), 0, 0};
  box.height = 1 + below(size.height - box.top);
  box.width = 1 + below(size.width - box.left);
  return box;
}

class DecoderConformance : public ::testing::TestWithParam<DecoderCase> {
 protected:
  std::vector<GoldenImage> images() const {
    std::vector<GoldenImage> mine;
    for (const GoldenImage& image : golden_images()) {
      for (const std::string& ending : GetParam().endings) {
        if (image.name.ends_with(ending)) mine.push_back(image);
      }
    }
    return mine;
  }
  // One image of each kind that is decoded differently.
  std::vector<GoldenImage> few_images() const {
    std::vector<GoldenImage> few;
    for (const GoldenImage& image : images()) {
      for (const char* name : {"s420.jpg",
                               "s444.jpg",
                               "grey.jpg",
                               "progressive.jpg",
                               "restart.jpg",
                               "cmyk.jpg",
                               "rgb8.png",
                               "palette4_interlaced.png",
                               "rgba16.png",
                               "lossy.webp",
                               "lossless_alpha.webp",
                               "animated_part.webp",
                               "rgb24.bmp",
                               "rgb565.bmp",
                               "palette4.bmp",
                               "rle8.bmp",
                               "rle4.bmp",
                               "rgb8.npy",
                               "rgb8.tif",
                               "rgb16_tiles.tif",
                               "tiff_lzw.tif",
                               "jpeg.tif",
                               "group4.tif"}) {
        if (image.name == name) few.push_back(image);
      }
    }
    return few;
  }
  const std::unique_ptr<Decoder> decoder_ = GetParam().make();
};

TEST_P(DecoderConformance, golden_images_have_pillows_pixels) {
  ASSERT_FALSE(images().empty());
  for (const GoldenImage& image : images()) {
    SCOPED_TRACE(image.name);
    CropJob job(image.bytes(), probe(image.bytes()), whole(image.stored));
    job.decode_with(*decoder_);
    ASSERT_EQ(job.error(), "");
    EXPECT_LE(job.distance_to(image.rgb), image.tolerance);
    EXPECT_TRUE(job.padding_is_untouched());
  }
}

TEST_P(DecoderConformance, boxes_are_parts_of_the_whole) {
  std::mt19937_64 random(3);
  for (const GoldenImage& image : images()) {
    SCOPED_TRACE(image.name);
    for (int i = 0; i < 40; ++i) {
      const Box box = random_box(random, image.stored);
      CropJob job(image.bytes(), probe(image.bytes()), box);
      job.decode_with(*decoder_);
      ASSERT_EQ(job.error(), "");
      ASSERT_LE(job.distance_to(image.rgb), image.tolerance);
      ASSERT_TRUE(job.padding_is_untouched());
    }
  }
}

// The image in one channel and, if it has alpha, in four.
inline std::vector<std::string> in_other_channels(Decoder& decoder, const GoldenImage& image) {
  std::vector<std::string> found;
  for (const int64_t channels : {1, 4}) {
    CropJob job(image.bytes(), probe(image.bytes()), whole(image.stored), 0x5a, 0, channels);
    job.decode_with(decoder);
    EXPECT_TRUE(job.padding_is_untouched());
    if (channels == 4 && job.failed_with<UnsupportedError>()) continue;
    EXPECT_EQ(job.error(), "");
    found.push_back(job.packed());
  }
  return found;
}

TEST_P(DecoderConformance, boxes_of_one_and_four_channels_are_parts_of_the_whole) {
  std::mt19937_64 random(4);
  for (const GoldenImage& image : images()) {
    SCOPED_TRACE(image.name);
    for (const std::string& all : in_other_channels(*decoder_, image)) {
      const int64_t channels =
          static_cast<int64_t>(all.size()) / (image.stored.height * image.stored.width);
      for (int i = 0; i < 20; ++i) {
        const Box box = random_box(random, image.stored);
        const int64_t margin = i % 2 == 0 ? 0 : kDecodeMargin;
        CropJob job(image.bytes(), probe(image.bytes()), box, 0x5a, margin, channels);
        job.decode_with(*decoder_);
        ASSERT_EQ(job.error(), "");
        ASSERT_EQ(job.distance_to(all), 0);
        ASSERT_TRUE(job.padding_is_untouched());
      }
    }
  }
}

TEST_P(DecoderConformance, four_channels_are_the_three_and_alpha) {
  for (const GoldenImage& image : images()) {
    SCOPED_TRACE(image.name);
    const std::string last = in_other_channels(*decoder_, image).back();
    if (last.size() != image.rgb.size() / 3 * 4) {
      // An image with two or four channels has alpha, unless it is CMYK.
      const bool inks = image.name.find("cmyk") != std::string::npos || image.name == "ycck.jpg";
      EXPECT_TRUE(image.channels % 2 == 1 || inks);
      continue;
    }
    std::string rgb;
    for (size_t i = 0; i < last.size(); i += 4) rgb += last.substr(i, 3);
    EXPECT_EQ(rgb, image.rgb);
  }
}

// A JPEG's luma may differ from the grey of its RGB pixels, which are clipped.
TEST_P(DecoderConformance, one_channel_is_the_grey_of_the_three) {
  for (const GoldenImage& image : images()) {
    if (image.name.ends_with(".jpg") && image.channels != 1) continue;
    SCOPED_TRACE(image.name);
    const std::string grey = in_other_channels(*decoder_, image).front();
    ASSERT_EQ(grey.size(), image.rgb.size() / 3);
    for (size_t i = 0; i < grey.size(); ++i) {
      const auto level = [&](size_t c) { return static_cast<uint8_t>(image.rgb[3 * i + c]); };
      const double expected = 0.299 * level(0) + 0.587 * level(1) + 0.114 * level(2);
      ASSERT_NEAR(static_cast<uint8_t>(grey[i]), expected, 1.0 + image.tolerance) << "pixel " << i;
    }
  }
}

// Expects that an image has these values, as a whole and in random boxes.
inline void expect_values(Decoder& decoder, const GoldenImage& image, ValueEncoding encoding,
                          const std::string& expected, std::mt19937_64& random) {
  const ImageInfo info = probe(image.bytes());
  ValueJob all(image.bytes(), info, whole(image.stored), encoding);
  all.decode_with(decoder);
  ASSERT_EQ(all.error(), "");
  EXPECT_TRUE(all.packed() == expected);
  EXPECT_TRUE(all.padding_is_untouched());
  for (int i = 0; i < 30; ++i) {
    const Box box = random_box(random, image.stored);
    ValueJob part(image.bytes(), info, box, encoding);
    part.decode_with(decoder);
    ASSERT_EQ(part.error(), "");
    ASSERT_TRUE(part.packed() == all.packed(box));
    ASSERT_TRUE(part.padding_is_untouched());
  }
}

// Expects that the wanted values are refused, before decoding and by the decoder.
inline void expect_no_values(Decoder& decoder, const GoldenImage& image, ValueEncoding encoding) {
  const ImageInfo info = probe(image.bytes());
  EXPECT_THROW(value_layout(info, encoding), UnsupportedError);
  CropJob job(image.bytes(), info, {0, 0, 4, 4});
  std::vector<int32_t> memory(16);
  job.job.values = {reinterpret_cast<std::byte*>(memory.data()), 4, 4, 1, DType::kInt32, 16};
  job.job.encoding = encoding;
  job.decode_with(decoder);
  EXPECT_TRUE(job.failed_with<UnsupportedError>()) << job.error();
}

TEST_P(DecoderConformance, stored_values_are_pillows_array_and_boxes_are_parts_of_it) {
  std::mt19937_64 random(6);
  for (const GoldenImage& image : images()) {
    SCOPED_TRACE(image.name);
    if (image.dtype == "-") {
      expect_no_values(*decoder_, image, ValueEncoding::kStored);
      continue;
    }
    EXPECT_EQ(name_of(value_layout(probe(image.bytes()), ValueEncoding::kStored).dtype),
              image.dtype);
    expect_values(*decoder_, image, ValueEncoding::kStored, image.values, random);
  }
}

// The numbers that exact 8-bit colours stand for.
inline std::string numbers_of_colours(const std::string& rgb) {
  std::string numbers;
  for (size_t i = 0; i < rgb.size(); i += 3) (numbers += rgb.substr(i, 3)) += '\0';
  return numbers;
}

TEST_P(DecoderConformance, rgb_values_are_combined_colours_of_lossless_images) {
  std::mt19937_64 random(7);
  for (const GoldenImage& image : images()) {
    SCOPED_TRACE(image.name);
    const ImageInfo info = probe(image.bytes());
    const bool colours = info.channels == 3 || (info.channels == 4 && info.alpha);
    if (colours && !info.lossy && (info.bits == 8 || info.palette)) {
      expect_values(*decoder_, image, ValueEncoding::kRgb, numbers_of_colours(image.rgb), random);
    } else {
      expect_no_values(*decoder_, image, ValueEncoding::kRgb);
    }
  }
}

TEST_P(DecoderConformance, values_into_another_array_are_refused) {
  for (const GoldenImage& image : images()) {
    if (image.dtype == "-") continue;
    SCOPED_TRACE(image.name);
    const auto refuses = [&](const std::function<void(DecodeJob&)>& change) {
      ValueJob job(image.bytes(), probe(image.bytes()), {0, 0, 4, 4});
      change(job.job);
      job.decode_with(*decoder_);
      EXPECT_TRUE(job.failed_with<InvalidArgumentError>()) << job.error();
    };
    refuses([](DecodeJob& job) { job.values.dtype = DType::kInt8; });
    refuses([](DecodeJob& job) { job.values.channels = 3; });
    refuses([](DecodeJob& job) { job.values.height = 3; });
    refuses([](DecodeJob& job) { job.values.width = 3; });
    return;
  }
}

TEST_P(DecoderConformance, other_numbers_of_channels_are_refused) {
  const GoldenImage image = few_images().front();
  for (const int64_t channels : {0, 2, 5}) {
    CropJob job(image.bytes(), probe(image.bytes()), {0, 0, 4, 4});
    job.job.output.channels = channels;
    job.decode_with(*decoder_);
    EXPECT_TRUE(job.failed_with<InvalidArgumentError>()) << job.error();
  }
}

TEST_P(DecoderConformance, a_bad_image_spoils_only_its_own_job) {
  const std::vector<GoldenImage> few = few_images();  // outlives the jobs, which view its bytes
  std::vector<std::unique_ptr<CropJob>> owned;
  std::vector<DecodeJob> jobs;
  for (const GoldenImage& image : few) {
    const ImageInfo info = probe(image.bytes());
    const Bytes half = image.bytes().first(image.encoded.size() / 2);
    for (const Bytes encoded : {image.bytes(), half, image.bytes()}) {
      owned.push_back(std::make_unique<CropJob>(encoded, info, whole(image.stored)));
      jobs.push_back(owned.back()->job);
    }
  }
  decoder_->decode(jobs);
  for (size_t i = 0; i < jobs.size(); ++i) {
    owned[i]->job = jobs[i];
    const GoldenImage& image = few[i / 3];
    SCOPED_TRACE(image.name);
    if (i % 3 == 1) {
      EXPECT_NE(owned[i]->error(), "");
    } else {
      EXPECT_EQ(owned[i]->error(), "");
      EXPECT_LE(owned[i]->distance_to(image.rgb), image.tolerance);
    }
  }
}

TEST_P(DecoderConformance, an_old_error_is_forgotten) {
  const GoldenImage image = few_images().front();
  CropJob job(image.bytes(), probe(image.bytes()), whole(image.stored));
  job.job.error = std::make_exception_ptr(DecodeError("of another image"));
  job.job.tolerated = 7;
  job.decode_with(*decoder_);
  EXPECT_EQ(job.error(), "");
  EXPECT_EQ(job.job.tolerated, 0u);
}

TEST_P(DecoderConformance, a_job_whose_pixels_are_not_wanted_any_more_ends) {
  std::stop_source unwanted;
  unwanted.request_stop();
  for (const GoldenImage& image : few_images()) {
    SCOPED_TRACE(image.name);
    CropJob job(image.bytes(), probe(image.bytes()), whole(image.stored));
    job.job.stop = unwanted.get_token();
    job.decode_with(*decoder_);
    EXPECT_TRUE(job.failed_with<StateError>()) << job.error();
    job.job.stop = {};
    job.decode_with(*decoder_);
    EXPECT_EQ(job.error(), "");
  }
}

TEST_P(DecoderConformance, no_jobs_are_no_work) { decoder_->decode({}); }

TEST_P(DecoderConformance, a_box_that_is_empty_or_outside_is_refused) {
  const GoldenImage image = few_images().front();
  const auto [height, width] = image.stored;
  for (const Box& box : {Box{0, 0, height + 1, width}, Box{0, 0, height, width + 1},
                         Box{height, 0, 1, 1}, Box{0, 0, 0, 5}, Box{0, 0, 5, 0}}) {
    CropJob job(image.bytes(), probe(image.bytes()), box);
    job.decode_with(*decoder_);
    EXPECT_TRUE(job.failed_with<InvalidArgumentError>()) << job.error();
  }
  CropJob negative(image.bytes(), probe(image.bytes()), {0, 0, 4, 4});
  negative.job.box.top = -1;
  negative.decode_with(*decoder_);
  EXPECT_TRUE(negative.failed_with<InvalidArgumentError>()) << negative.error();
}

TEST_P(DecoderConformance, an_output_of_another_size_is_refused) {
  const GoldenImage image = few_images().front();
  CropJob job(image.bytes(), probe(image.bytes()), {0, 0, 4, 4});
  job.job.output.height = 3;
  job.decode_with(*decoder_);
  EXPECT_TRUE(job.failed_with<InvalidArgumentError>()) << job.error();
}

TEST_P(DecoderConformance, info_of_another_image_is_refused) {
  for (const GoldenImage& image : few_images()) {
    SCOPED_TRACE(image.name);
    ImageInfo info = probe(image.bytes());
    info.stored.height += 8;
    CropJob job(image.bytes(), info, whole(info.stored));
    job.decode_with(*decoder_);
    EXPECT_NE(job.error(), "");
  }
}

// Truncated at any byte, a decode gives the right pixels or an error.
TEST_P(DecoderConformance, every_truncation_is_reported_or_harmless) {
  for (const GoldenImage& image : few_images()) {
    SCOPED_TRACE(image.name);
    const ImageInfo info = probe(image.bytes());
    for (size_t size = 0; size < image.encoded.size(); ++size) {
      // A copy of this size, so that a sanitizer detects reads past its end.
      const std::vector<char> cut(image.encoded.begin(),
                                  image.encoded.begin() + static_cast<std::ptrdiff_t>(size));
      CropJob job(as_bytes({cut.data(), cut.size()}), info, whole(image.stored));
      job.decode_with(*decoder_);
      if (job.error().empty()) {
        ASSERT_LE(job.distance_to(image.rgb), image.tolerance) << "cut to " << size;
      }
    }
  }
}

// Damage may be undetected, but on success every pixel is written. The fuzz targets test more
// damage, because sanitizers make this test slow.
TEST_P(DecoderConformance, damaged_bytes_never_leave_pixels_untouched) {
#ifdef FUELRAIL_SANITIZED
  constexpr int kDamages = 300;
#else
  constexpr int kDamages = 3000;
#endif
  std::mt19937_64 random(5);
  for (const GoldenImage& image : few_images()) {
    SCOPED_TRACE(image.name);
    std::vector<char> bytes(image.encoded.begin(), image.encoded.end());
    for (int i = 0; i < kDamages; ++i) {
      const size_t at = random() % bytes.size();
      const char before = bytes[at];
      bytes[at] = static_cast<char>(bytes[at] ^ static_cast<char>(1 + random() % 255));
      const Bytes damaged = as_bytes({bytes.data(), bytes.size()});
      ImageInfo info;
      try {
        info = probe(damaged, 100'000);
      } catch (const Error&) {
        bytes[at] = before;
        continue;
      }
      CropJob first(damaged, info, whole(info.stored), 0x00);
      CropJob second(damaged, info, whole(info.stored), 0xff);
      first.decode_with(*decoder_);
      second.decode_with(*decoder_);
      ASSERT_EQ(first.error(), second.error()) << "byte " << at;
      ASSERT_TRUE(first.padding_is_untouched() && second.padding_is_untouched()) << "byte " << at;
      if (first.error().empty()) {
        for (int64_t y = 0; y < info.stored.height; ++y) {
          const uint8_t* row = first.job.output.row(y);
          ASSERT_TRUE(std::equal(row, row + info.stored.width * 3, second.job.output.row(y)))
              << "byte " << at << ", row " << y;
        }
      }
      bytes[at] = before;
    }
  }
}

}  // namespace fuelrail::testing
