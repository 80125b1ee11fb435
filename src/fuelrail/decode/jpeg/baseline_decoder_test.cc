// Our decoder beside libjpeg-turbo's: which images it decodes, with which pixels, and which damage
// it leaves to libjpeg-turbo.
#include "fuelrail/decode/jpeg/baseline_decoder.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>

#include "fuelrail/decode/jpeg/libjpeg_decoder.h"
#include "fuelrail/testing/crop_job.h"
#include "fuelrail/testing/each_simd_target.h"
#include "fuelrail/testing/made_jpeg.h"

namespace fuelrail::jpeg {
namespace {

using testing::CropJob;
using Colour = MadeJpeg::Colour;
using Sampling = std::vector<std::array<int, 2>>;

const std::vector<Sampling>& samplings() {
  static const std::vector<Sampling> kSamplings{{}, {{2, 1}}, {{1, 2}}, {{2, 2}}};
  return kSamplings;
}

std::string describe(const Box& box) {
  return fmt::format("{} x {} at ({}, {})", box.height, box.width, box.top, box.left);
}

// Both decoders and how often each way was taken.
class Both {
 public:
  // Decodes with both. Returns: whether ours did. Fails if the pixels differ, or if ours decodes
  // what libjpeg-turbo refuses or finds odd.
  bool agree(Bytes encoded, const ImageInfo& info, const Box& box, int64_t channels) {
    SCOPED_TRACE(fmt::format("{}, {} channels", describe(box), channels));
    CropJob own(encoded, info, box, 0x5a, 3, channels);
    const bool mine = ours->decode(own.job);
    EXPECT_TRUE(own.padding_is_untouched());
    CropJob reference(encoded, info, box, 0x5a, 3, channels);
    reference.decode_with(*libjpeg);
    libjpeg_error = reference.error();
    libjpeg_tolerated = reference.job.tolerated;
    if (!mine) return false;
    EXPECT_EQ(libjpeg_error, "");
    EXPECT_EQ(libjpeg_tolerated, 0u);
    for (int64_t y = 0; y < box.height; ++y) {
      const uint8_t* const row = own.job.output.row(y);
      if (std::memcmp(row, reference.job.output.row(y),
                      static_cast<size_t>(box.width * channels)) != 0) {
        ADD_FAILURE() << "row " << y << " differs";
        break;
      }
    }
    return true;
  }
  bool agree(Bytes encoded, const Box& box, int64_t channels) {
    return agree(encoded, probe(encoded), box, channels);
  }

  std::unique_ptr<BaselineDecoder> ours = std::make_unique<BaselineDecoder>();
  std::unique_ptr<Decoder> libjpeg = make_libjpeg_decoder();
  std::string libjpeg_error;
  uint32_t libjpeg_tolerated = 0;
};

// AC codes of which those of 16 bits begin with so many ones or, for 9, with ten.
std::vector<uint8_t> long_codes(size_t ones) {
  if (ones == 9) return {1, 1, 1, 0, 0, 0, 0, 0, 30, 67, 0, 0, 0, 0, 0, 62};
  std::vector<uint8_t> counts(16);
  std::fill_n(counts.begin(), ones, uint8_t{1});
  counts[15] = static_cast<uint8_t>(162 - ones);
  return counts;
}

MadeJpeg random_image(std::mt19937_64& random, int64_t most) {
  const auto below = [&](uint64_t limit) { return random() % limit; };
  const auto side = [&] { return 1 + static_cast<int64_t>(below(static_cast<uint64_t>(most))); };
  return {.size = {side(), side()},
          .colour = below(6) == 0 ? Colour::kGrey : Colour::kYcc,
          .sampling = samplings()[below(4)],
          .quality = below(4) == 0 ? 1 + static_cast<int>(below(100)) : 75,
          .restart_interval = below(3) == 0 ? 1 + static_cast<int>(below(20)) : 0,
          .seed = random(),
          .own_codes = below(2) == 0,
          .code_counts = below(3) == 0 ? long_codes(below(10)) : std::vector<uint8_t>()};
}

bool is_ours(const MadeJpeg& made, int64_t channels) {
  const bool halved =
      made.colour != Colour::kGrey && !made.sampling.empty() && made.sampling[0][0] == 2;
  return !halved || channels == 1 || made.size.width > 4;
}

TEST(BaselineDecoder, has_the_pixels_of_libjpeg) {
  std::mt19937_64 random(1);
  Both both;
  for (int i = 0; i < 500; ++i) {
    const MadeJpeg made = random_image(random, i % 4 == 0 ? 150 : 70);
    SCOPED_TRACE(describe(made));
    const std::vector<std::byte> encoded = make_jpeg(made);
    both.ours->segments().set_streams(i % 3 == 0 ? 1 : kLanes);
    for (const Box& box : boxes_in(made.size, random, 6)) {
      for (const int64_t channels : {3, 1}) {
        const bool mine = both.agree(encoded, box, channels);
        if (made.quality >= 50) {
          ASSERT_EQ(mine, is_ours(made, channels)) << describe(box);
        }
      }
    }
    if (HasFailure()) return;
  }
}

TEST(BaselineDecoder, has_the_same_pixels_with_every_instruction_set) {
  testing::on_each_simd_target([] {
    std::mt19937_64 random(2);
    Both both;
    for (int i = 0; i < 60; ++i) {
      const MadeJpeg made = random_image(random, 90);
      SCOPED_TRACE(describe(made));
      const std::vector<std::byte> encoded = make_jpeg(made);
      for (const Box& box : boxes_in(made.size, random, 3)) {
        both.agree(encoded, box, 3);
        both.agree(encoded, box, 1);
      }
      if (HasFailure()) return;
    }
  });
}

// Sums of 16 bits overflow, and each kind of processor has pixels of its own.
TEST(BaselineDecoder, leaves_coefficients_that_no_camera_makes) {
  testing::on_each_simd_target([] {
    std::mt19937_64 random(3);
    Both both;
    int mine = 0;
    int others = 0;
    for (const int factor : {1, 2, 4, 8, 20, 60, 200}) {
      for (const int quantizer_factor : {1, 4, 255}) {
        MadeJpeg made = random_image(random, 60);
        made.size = {40, 50};
        SCOPED_TRACE(describe(made) + fmt::format(" times {} and {}", factor, quantizer_factor));
        const std::vector<std::byte> encoded =
            with_larger_coefficients(make_jpeg(made), factor, quantizer_factor);
        ++(both.agree(encoded, {3, 7, 30, 40}, 3) ? mine : others);
      }
    }
    EXPECT_GT(mine, 3);
    EXPECT_GT(others, 5);
  });
}

// Damage in a row of MCUs that libjpeg-turbo reads is an error, also where no pixel of the box
// needs the row.
TEST(BaselineDecoder, reads_the_rows_that_libjpeg_reads) {
  Both both;
  for (const Colour colour : {Colour::kYcc, Colour::kGrey}) {
    for (Sampling sampling : samplings()) {
      const int h = sampling.empty() ? 1 : sampling[0][0];
      const int v = sampling.empty() ? 1 : sampling[0][1];
      const bool grey = colour == Colour::kGrey;
      const Size size{8 * v * 3 + 5, 40};
      const int64_t mcu_height = grey ? 8 : 8 * v;
      const int64_t mcu_width = grey ? 8 : 8 * h;
      const MadeJpeg made{
          .size = size,
          .colour = colour,
          .sampling = sampling,
          .restart_interval = static_cast<int>((size.width + mcu_width - 1) / mcu_width)};
      SCOPED_TRACE(describe(made));
      const std::vector<std::byte> encoded = make_jpeg(made);
      const std::string text(as_text(encoded));
      const int64_t rows = (size.height + mcu_height - 1) / mcu_height;
      for (int64_t row = 0; row < rows; ++row) {
        std::string damaged = text;  // the row ends after one byte
        const size_t end = row + 1 < rows
                               ? text.find(std::string{'\xff', static_cast<char>(0xd0 + row)})
                               : text.size() - 2;
        const size_t begin = row > 0
                                 ? text.find(std::string{'\xff', static_cast<char>(0xcf + row)}) + 2
                                 : text.find("\xff\xda") + (grey ? 10 : 14);
        damaged.erase(begin + 1, end - begin - 1);
        for (int64_t bottom = 1; bottom <= size.height; ++bottom) {
          for (const int64_t top : {int64_t{0}, bottom - 1, bottom / 2}) {
            for (const int64_t channels : {3, 1}) {
              const Box box{top, 3, bottom - top, 20};
              const bool mine = both.agree(as_bytes(damaged), probe(encoded), box, channels);
              ASSERT_EQ(mine, both.libjpeg_error.empty())
                  << describe(box) << ", row " << row << " of " << rows << ", " << channels
                  << " channels: " << both.libjpeg_error;
            }
          }
        }
      }
    }
  }
}

// Changes, inserts or removes bytes and bits, or cuts the end off.
std::string damaged(std::string text, size_t from, std::mt19937_64& random) {
  const size_t at = from + random() % (text.size() - from);
  switch (random() % 5) {
    case 0:
      text[at] = static_cast<char>(random());
      break;
    case 1:
      text[at] = static_cast<char>(text[at] ^ 1 << random() % 8);
      break;
    case 2:
      text.erase(at, 1 + random() % 3);
      break;
    case 3:
      text.insert(at, 1 + random() % 3, static_cast<char>(random()));
      break;
    default:
      text.resize(at);
      break;
  }
  return text;
}

TEST(BaselineDecoder, decodes_no_damage_that_libjpeg_reports) {
  std::mt19937_64 random(5);
  Both both;
  int mine = 0;
  constexpr int kImages = 150;
  for (int i = 0; i < kImages; ++i) {
    const MadeJpeg made = random_image(random, 60);
    SCOPED_TRACE(describe(made));
    const std::vector<std::byte> encoded = make_jpeg(made);
    const std::string text(as_text(encoded));
    const size_t scan = text.find("\xff\xda") + 8;
    for (int k = 0; k < 20; ++k) {
      const std::string changed = damaged(text, k % 5 == 0 ? 2 : scan, random);
      for (const Box& box : boxes_in(made.size, random, 2)) {
        mine += both.agree(as_bytes(changed), probe(encoded), box, 3) ? 1 : 0;
      }
      if (HasFailure()) return;
    }
  }
  EXPECT_GT(mine, kImages * 20);  // of 7 boxes each
}

// libjpeg-turbo reads ahead, and counts that the file ends.
TEST(BaselineDecoder, leaves_files_that_end_behind_the_last_byte_that_is_needed) {
  const MadeJpeg made{.size = {64, 64}, .restart_interval = 8};
  const std::vector<std::byte> encoded = make_jpeg(made);
  const std::string text(as_text(encoded));
  const size_t fourth = text.find(std::string{'\xff', '\xd3'});
  ASSERT_NE(fourth, text.npos);
  const Box box{0, 0, 32, 64};
  Both both;
  EXPECT_FALSE(both.agree(as_bytes(text.substr(0, fourth)), probe(encoded), box, 3));
  EXPECT_EQ(both.libjpeg_tolerated, 1u);
  EXPECT_TRUE(both.agree(as_bytes(text.substr(0, fourth + 2)), probe(encoded), box, 3));
}

// The fewest bytes of an image with which libjpeg-turbo decodes the box without a warning.
size_t needed_bytes(Both& both, const std::string& image, const ImageInfo& info, const Box& box) {
  size_t too_few = 0;
  size_t enough = image.size();
  while (enough - too_few > 1) {
    const size_t middle = (too_few + enough) / 2;
    both.agree(as_bytes(image.substr(0, middle)), info, box, 3);
    const bool is_clean = both.libjpeg_error.empty() && both.libjpeg_tolerated == 0;
    (is_clean ? enough : too_few) = middle;
  }
  return enough;
}

// What lies behind the data that libjpeg-turbo reads does not matter, also to streams that have
// passed these, and also if the file ends soon.
TEST(BaselineDecoder, does_not_mind_damage_that_libjpeg_does_not_read) {
  const MadeJpeg made{.size = {512, 512}, .colour = Colour::kGrey, .quality = 75};
  const std::vector<std::byte> encoded = make_jpeg(made);
  const std::string image(as_text(encoded));
  const ImageInfo info = probe(encoded);
  Both both;
  for (int64_t height = 8; height < made.size.height - 8; height += 16) {
    const Box box{0, 0, height, made.size.width};
    const size_t needed = needed_bytes(both, image, info, box);
    EXPECT_TRUE(both.agree(as_bytes(image.substr(0, needed + 16)), info, box, 3)) << height;
    for (const char fill : {'\0', '\x55', '\xaa', '\xfe'}) {
      std::string damaged_behind = image.substr(0, needed + 16);
      damaged_behind.resize(image.size(), fill);
      EXPECT_TRUE(both.agree(as_bytes(damaged_behind), info, box, 3)) << height;
    }
    if (HasFailure()) return;
  }
}

// A marker may begin with several bytes FF (ITU-T T.81, B.1.1.2).
TEST(BaselineDecoder, accepts_fill_bytes_before_markers) {
  const MadeJpeg made{.size = {64, 64}, .restart_interval = 8};
  const std::vector<std::byte> encoded = make_jpeg(made);
  std::string filled(as_text(encoded));
  filled.insert(filled.size() - 2, 3, '\xff');
  filled.insert(filled.find("\xff\xd2"), 1, '\xff');
  Both both;
  EXPECT_TRUE(both.agree(as_bytes(filled), probe(encoded), whole(made.size), 3));
}

TEST(BaselineDecoder, builds_tables_only_for_other_codes) {
  Both both;
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    const std::vector<std::byte> encoded = make_jpeg({.sampling = {{2, 2}}, .seed = seed});
    EXPECT_TRUE(both.agree(encoded, whole({64, 64}), 3));
  }
  EXPECT_EQ(both.ours->tables().builds(), 1u);
  EXPECT_TRUE(both.agree(make_jpeg({.own_codes = true}), whole({64, 64}), 3));
  EXPECT_EQ(both.ours->tables().builds(), 2u);
}

TEST(BaselineDecoder, leaves_wrong_restart_markers) {
  const MadeJpeg made{.size = {64, 64}, .restart_interval = 8};
  const std::vector<std::byte> encoded = make_jpeg(made);
  const std::string text(as_text(encoded));
  const auto marker = [](int number) {
    return std::string{'\xff', static_cast<char>(0xd0 + number)};
  };
  const size_t third = text.find(marker(2));
  ASSERT_NE(third, text.npos);
  Both both;
  EXPECT_TRUE(both.agree(encoded, whole(made.size), 3));
  std::string wrong = text;
  wrong.erase(third, 2);  // missing
  EXPECT_FALSE(both.agree(as_bytes(wrong), probe(encoded), whole(made.size), 3));
  wrong = text;
  wrong.insert(third, marker(2));  // repeated
  EXPECT_FALSE(both.agree(as_bytes(wrong), probe(encoded), whole(made.size), 3));
  wrong = text;
  wrong.replace(third, 2, marker(5));  // of another number
  EXPECT_FALSE(both.agree(as_bytes(wrong), probe(encoded), whole(made.size), 3));
  wrong = text;
  wrong.erase(third, 2).insert(third - 7, marker(2));  // misplaced
  EXPECT_FALSE(both.agree(as_bytes(wrong), probe(encoded), whole(made.size), 3));
}

TEST(BaselineDecoder, may_guess_at_any_byte) {
  for (const Sampling& sampling : samplings()) {
    const MadeJpeg made{.size = {70, 90}, .sampling = sampling, .quality = 50, .own_codes = true};
    SCOPED_TRACE(describe(made));
    const std::vector<std::byte> encoded = make_jpeg(made);
    Both both;
    for (int64_t distance = 1; distance < 700; distance += distance < 40 ? 1 : 7) {
      both.ours->segments().set_streams(kLanes, distance);
      ASSERT_TRUE(both.agree(encoded, whole(made.size), 3)) << distance;
    }
    const SegmentDecoder::Work& work = both.ours->segments().work();
    EXPECT_GT(work.guesses, 2 * work.missed);
    EXPECT_GT(work.missed, 0u);
  }
}

TEST(BaselineDecoder, passes_constant_and_periodic_images_with_bounded_work) {
  std::mt19937_64 random(6);
  for (const Sampling& sampling : samplings()) {
    for (const bool flat : {true, false}) {
      for (const bool own_codes : {true, false}) {
        Both both;
        MadeJpeg made{.size = {700, 900},
                      .sampling = sampling,
                      .quality = 30,
                      .flat = flat,
                      .own_codes = own_codes};
        SCOPED_TRACE(describe(made));
        const std::vector<std::byte> encoded = make_jpeg(made);
        ASSERT_TRUE(both.agree(encoded, whole(made.size), 3));
        const uint64_t bytes = both.ours->segments().work().stream_bytes;
        EXPECT_LT(bytes, 3 * encoded.size());
        EXPECT_GT(bytes, encoded.size() / 2);
      }
    }
  }
}

// Decodes with hints. Returns: what ours has used.
DecodeWay way_with(Both& both, Bytes encoded, Bytes hints, const Box& box, int64_t channels = 3) {
  const ImageInfo info = probe(encoded);
  EncodedImage image(encoded);
  image.hints = hints;
  CropJob own(image, info, box, 0x5a, 3, channels);
  EXPECT_TRUE(both.ours->decode(own.job));
  CropJob reference(encoded, info, box, 0x5a, 3, channels);
  reference.decode_with(*both.libjpeg);
  for (int64_t y = 0; y < box.height; ++y) {
    EXPECT_EQ(std::memcmp(own.job.output.row(y), reference.job.output.row(y),
                          static_cast<size_t>(box.width * channels)),
              0)
        << describe(box) << ", row " << y;
  }
  return own.job.way;
}

TEST(EntryPoints, give_the_same_pixels) {
  std::mt19937_64 random(8);
  Both both;
  for (int i = 0; i < 60; ++i) {
    MadeJpeg made = random_image(random, 90);
    made.size.height += 40;
    made.size.width += i % 4 == 0 ? 1400 : 60;  // several entry points a row
    made.restart_interval = 0;
    SCOPED_TRACE(describe(made));
    const std::vector<std::byte> encoded = make_jpeg(made);
    const std::vector<std::byte> hints = hint_maker()(encoded);
    if (hints.empty()) {
      EXPECT_LT(encoded.size(), 3000u);
      continue;
    }
    EXPECT_LT(hints.size(), 28 + encoded.size() / 10);
    for (const Box& box : boxes_in(made.size, random, 6)) {
      const int64_t channels = random() % 4 == 0 ? 1 : 3;
      ASSERT_EQ(way_with(both, encoded, hints, box, channels), DecodeWay::kIndexed);
    }
    if (HasFailure()) return;
  }
}

TEST(EntryPoints, are_the_same_from_one_stream_and_from_guesses) {
  std::mt19937_64 random(12);
  EntryPointMaker one;
  one.segments().set_streams(1);
  EntryPointMaker three;
  int found = 0;
  for (int i = 0; i < 60; ++i) {
    MadeJpeg made = random_image(random, 300);
    made.size.width += i % 3 == 0 ? 1400 : 0;
    made.restart_interval = 0;
    SCOPED_TRACE(describe(made));
    const std::vector<std::byte> encoded = make_jpeg(made);
    const std::vector<std::byte> expected = one.make(encoded);
    found += expected.empty() ? 0 : 1;
    for (const int64_t distance : {0, 1, 2, 3, 30, 31, 100, 333, 5000}) {
      three.segments().set_streams(kLanes, distance);
      ASSERT_EQ(three.make(encoded), expected) << distance;
      std::vector<std::byte> damaged = encoded;  // nothing may be left over from it
      damaged[encoded.size() / 2] ^= std::byte{0xff};
      damaged.resize(encoded.size() * 3 / 4);
      EXPECT_TRUE(three.make(damaged).empty());
    }
  }
  EXPECT_GT(found, 40);
  const SegmentDecoder::Work& work = three.segments().work();
  EXPECT_GT(work.guesses, 2 * work.missed);
  EXPECT_GT(work.missed, 0u);
}

// In the unstuffed scan there is no FF whose zero would leave room.
TEST(EntryPoints, of_a_scan_without_stuffing_fit_into_memory) {
  const MadeJpeg made{.size = {980, 500}, .sampling = {{2, 2}}, .flat = true, .own_codes = true};
  const std::vector<std::byte> encoded = make_jpeg(made);
  const std::vector<std::byte> hints = hint_maker()(encoded);
  ASSERT_FALSE(hints.empty());
  Both both;
  EXPECT_EQ(way_with(both, encoded, hints, whole(made.size)), DecodeWay::kIndexed);
}

TEST(EntryPoints, are_made_only_for_whole_clean_images_without_restart_markers) {
  MadeJpeg made{.size = {100, 120}};
  const std::vector<std::byte> encoded = make_jpeg(made);
  EXPECT_FALSE(hint_maker()(encoded).empty());
  EXPECT_TRUE(hint_maker()(Bytes(encoded).first(encoded.size() - 2)).empty());
  EXPECT_TRUE(hint_maker()({}).empty());
  const std::vector<std::byte> narrow = make_jpeg({.size = {60000, 8}, .flat = true});
  EXPECT_TRUE(hint_maker()(narrow).empty());  // an entry point for every few bytes
  const std::vector<std::byte> hints = hint_maker()(encoded);
  made.restart_interval = 4;
  const std::vector<std::byte> with_restarts = make_jpeg(made);
  EXPECT_TRUE(hint_maker()(with_restarts).empty());
  Both both;
  EXPECT_EQ(way_with(both, with_restarts, hints, whole(made.size)), DecodeWay::kRestarts);
  made.progressive = true;
  EXPECT_TRUE(hint_maker()(make_jpeg(made)).empty());
  EXPECT_TRUE(hint_maker()(make_jpeg({.size = {16, 16}})).empty());
}

TEST(EntryPoints, of_other_bytes_are_refused) {
  std::mt19937_64 random(9);
  MadeJpeg made{.size = {150, 170}, .sampling = {{2, 2}}};
  const std::vector<std::byte> encoded = make_jpeg(made);
  const std::vector<std::byte> hints = hint_maker()(encoded);
  made.seed = 5;
  const std::vector<std::byte> other = make_jpeg(made);
  const Box box{40, 30, 60, 50};
  Both both;
  EXPECT_EQ(way_with(both, other, hints, box), DecodeWay::kGuessed);
  EXPECT_EQ(way_with(both, encoded, Bytes(hints).first(20), box), DecodeWay::kGuessed);
}

// Changed entry points may lie as long as all that is checked agrees; the tests of containers show
// that changed bytes do not get here.
TEST(EntryPoints, that_were_changed_lead_to_no_access_outside) {
  std::mt19937_64 random(10);
  const MadeJpeg made{.size = {150, 1170}, .sampling = {{2, 1}}, .own_codes = true};
  const std::vector<std::byte> encoded = make_jpeg(made);
  const std::vector<std::byte> hints = hint_maker()(encoded);
  const ImageInfo info = probe(encoded);
  Both both;
  int refused = 0;
  for (size_t i = 0; i < hints.size(); ++i) {
    std::vector<std::byte> changed = hints;
    changed[i] ^= static_cast<std::byte>(1 + random() % 255);
    EncodedImage image(encoded);
    image.hints = changed;
    CropJob job(image, info, whole(made.size));
    ASSERT_TRUE(both.ours->decode(job.job));
    EXPECT_TRUE(job.padding_is_untouched());
    refused += job.job.way == DecodeWay::kGuessed ? 1 : 0;
  }
  EXPECT_GT(refused, std::ssize(hints) * 9 / 10);
}

std::vector<std::filesystem::path> files_in(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> paths;
  std::error_code absent;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder, absent)) {
    if (entry.is_regular_file()) paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

std::string content_of(const std::filesystem::path& path) {
  std::string content(std::filesystem::file_size(path), '\0');
  std::ifstream(path, std::ios::binary).read(content.data(), std::ssize(content));
  return content;
}

void expect_all_ours(const std::filesystem::path& folder, size_t step) {
  const std::vector<std::filesystem::path> paths = files_in(folder);
  if (paths.empty()) GTEST_SKIP() << "no photographs in " << folder;
  std::mt19937_64 random(7);
  Both both;
  for (size_t i = 0; i < paths.size(); i += step) {
    SCOPED_TRACE(paths[i].string());
    const std::string content = content_of(paths[i]);
    const Bytes encoded = as_bytes(content);
    const ImageInfo info = probe(encoded);
    if (info.channels == 4) continue;
    const auto boxes = boxes_in(info.stored, random, 2);
    EXPECT_TRUE(both.agree(encoded, info, boxes.front(), 3));
    EXPECT_TRUE(both.agree(encoded, info, boxes.back(), i % 2 == 0 ? 3 : 1));
    const std::vector<std::byte> hints = hint_maker()(encoded);
    if (!hints.empty()) {
      EXPECT_EQ(way_with(both, encoded, hints, boxes.back()), DecodeWay::kIndexed);
    }
    if (::testing::Test::HasFailure()) return;
  }
}

const std::filesystem::path kData =
    std::filesystem::path(FUELRAIL_SOURCE_DIR).parent_path() / "shared" / "data";

TEST(BaselineDecoder, decodes_photographs) { expect_all_ours(kData / "imagenet-sample", 10); }
TEST(BaselineDecoder, decodes_small_images) { expect_all_ours(kData / "cifar10", 15); }

}  // namespace
}  // namespace fuelrail::jpeg
