#include "fuelrail/decode/png/plain_png_decoder.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <random>
#include <stop_token>
#include <string>
#include <vector>

#include "fuelrail/decode/png/png_decoder.h"
#include "fuelrail/decode/png/spng_decoder.h"
#include "fuelrail/testing/crop_job.h"
#include "fuelrail/testing/each_simd_target.h"
#include "fuelrail/testing/golden_images.h"
#include "fuelrail/testing/made_jpeg.h"
#include "fuelrail/testing/made_png.h"

namespace fuelrail::png {
namespace {

using testing::CropJob;
using testing::MadePng;
using testing::make_png;
using testing::PngChunk;
using testing::ValueJob;
using Data = std::vector<std::byte>;

// Our decoder beside libspng.
class Both {
 public:
  // Whether ours decodes the box; then libspng does, too, to the same pixels.
  bool agree(Bytes encoded, const Box& box, int64_t channels) {
    SCOPED_TRACE(fmt::format("{} channels", channels));
    const ImageInfo info = probe(encoded);
    CropJob own(encoded, info, box, 0x5a, 0, channels);
    CropJob reference(encoded, info, box, 0x5a, 0, channels);
    return agree(own, reference);
  }
  bool agree_on_values(Bytes encoded, const Box& box) {
    const ImageInfo info = probe(encoded);
    ValueJob own(encoded, info, box);
    ValueJob reference(encoded, info, box);
    return agree(own, reference);
  }

 private:
  template <typename Job>
  bool agree(Job& own, Job& reference) {
    const Box& box = own.job.box;
    SCOPED_TRACE(fmt::format("box {}, {}: {} x {}", box.top, box.left, box.height, box.width));
    const bool mine = ours_.decode(own.job);
    EXPECT_TRUE(own.padding_is_untouched());
    reference.decode_with(*spng_);
    if (!mine) return false;
    EXPECT_EQ(reference.error(), "");
    EXPECT_EQ(own.packed(), reference.packed());
    return true;
  }

  PlainPngDecoder ours_;
  std::unique_ptr<Decoder> spng_ = make_spng_decoder();
};

bool has_alpha(const MadePng& made) {
  return made.type >= 4 || (made.transparent && made.type != 0);
}

void compare(Both& both, const MadePng& made, std::mt19937_64& random, int boxes) {
  SCOPED_TRACE(describe(made));
  const Data encoded = make_png(made);
  for (const Box& box : boxes_in(made.size, random, boxes)) {
    for (const int64_t channels : {1, 3, 4}) {
      ASSERT_EQ(both.agree(encoded, box, channels), channels != 4 || has_alpha(made));
    }
    if (made.type == 0 || made.type == 3) {
      ASSERT_TRUE(both.agree_on_values(encoded, box));
    }
  }
}

TEST(PlainPngDecoder, has_the_pixels_and_values_of_libspng) {
  std::mt19937_64 random(1);
  Both both;
  for (int i = 0; i < 1000 && !HasFailure(); ++i) {
    compare(both, testing::random_png(random, i % 10 == 0 ? 200 : 40), random, 3);
  }
}

TEST(PlainPngDecoder, has_the_pixels_of_libspng_at_each_width) {
  std::mt19937_64 random(2);
  Both both;
  for (int64_t width = 1; width <= 70 && !HasFailure(); ++width) {
    for (MadePng made : testing::each_kind_of_png()) {
      made.size = {6, width};
      made.seed = random();
      compare(both, made, random, 1);
    }
  }
}

TEST(PlainPngDecoder, has_the_same_pixels_with_every_instruction_set) {
  testing::on_each_simd_target([] {
    std::mt19937_64 random(3);
    Both both;
    for (int i = 0; i < 100 && !HasFailure(); ++i) {
      compare(both, testing::random_png(random, 60), random, 2);
    }
  });
}

TEST(PlainPngDecoder, decodes_golden_images_that_are_not_interlaced) {
  constexpr size_t kInterlacing = 28;  // of the file
  Both both;
  int decoded = 0;
  for (const testing::GoldenImage& image : testing::golden_images()) {
    if (!image.name.ends_with(".png")) continue;
    SCOPED_TRACE(image.name);
    const bool mine = both.agree(image.bytes(), whole(image.stored), 3);
    EXPECT_EQ(mine, image.encoded[kInterlacing] == 0);
    decoded += mine ? 1 : 0;
  }
  EXPECT_GE(decoded, 15);
}

// --- Odd PNGs -----------------------------------------------------------------------------------

using Pieces = std::vector<PngChunk>;

// Where the first chunk of this type is.
Pieces::iterator find(Pieces& chunks, std::string_view type) {
  return std::ranges::find(chunks, type, &PngChunk::type);
}

Data& data_of(Pieces& chunks) { return find(chunks, "IDAT")->payload; }

PngChunk chunk(std::string type, size_t bytes) { return {std::move(type), Data(bytes)}; }

// A name, 8 bits, and entries of 6 bytes.
PngChunk suggested_palette(size_t bytes) {
  PngChunk made{"sPLT", Data(3 + bytes / 6 * 6, std::byte{'x'})};
  made.payload[1] = std::byte{0};
  made.payload[2] = std::byte{8};
  return made;
}

// A keyword and a text.
PngChunk text(size_t bytes) {
  PngChunk made{"tEXt", Data(bytes, std::byte{'x'})};
  made.payload[1] = std::byte{0};
  return made;
}

void insert_before(Pieces& chunks, std::string_view type, PngChunk added) {
  chunks.insert(find(chunks, type), std::move(added));
}

void repeat(Pieces& chunks, std::string_view type) {
  insert_before(chunks, type, PngChunk(*find(chunks, type)));
}

// Changes the inflated rows.
void change_rows(Pieces& chunks, const std::function<void(Data& rows)>& change) {
  constexpr size_t kRowBytes = 21;  // of the palette image below
  Data rows = testing::zlib_data(data_of(chunks), 20 * kRowBytes);
  change(rows);
  data_of(chunks) = testing::zlib_stream(rows, 6);
}

// What is left to libspng.
struct Left {
  std::string name;
  std::function<void(Pieces& chunks)> make;
};

std::vector<Left> other_kinds() {
  return {
      {"interlaced", [](Pieces& png) { png[0].payload[12] = std::byte{1}; }},
      {"a text that could be huge",
       [](Pieces& png) { insert_before(png, "IDAT", chunk("zTXt", 10'000)); }},
      {"a large text", [](Pieces& png) { insert_before(png, "IDAT", text(9 << 20)); }},
      {"a large suggested palette",
       [](Pieces& png) { insert_before(png, "IDAT", suggested_palette(6 << 20)); }},
      {"more texts than libspng keeps",
       [](Pieces& png) {
         for (int i = 0; i < 1001; ++i) insert_before(png, "IDAT", text(5));
       }},
      {"many data chunks",
       [](Pieces& png) { png.insert(find(png, "IDAT"), 1 << 16, chunk("IDAT", 0)); }},
  };
}

std::vector<Left> oddities() {
  return {
      {"unknown compression", [](Pieces& png) { png[0].payload[10] = std::byte{1}; }},
      {"two headers", [](Pieces& png) { repeat(png, "IHDR"); }},
      {"no palette", [](Pieces& png) { png.erase(find(png, "PLTE")); }},
      {"two palettes", [](Pieces& png) { repeat(png, "PLTE"); }},
      {"a palette of 4 bytes", [](Pieces& png) { find(png, "PLTE")->payload.resize(4); }},
      {"an empty palette", [](Pieces& png) { find(png, "PLTE")->payload.clear(); }},
      {"a large palette", [](Pieces& png) { find(png, "PLTE")->payload.resize(257 * 3); }},
      {"tRNS before the palette",
       [](Pieces& png) { std::iter_swap(find(png, "PLTE"), find(png, "tRNS")); }},
      {"two tRNS", [](Pieces& png) { repeat(png, "tRNS"); }},
      {"more alphas than colours", [](Pieces& png) { find(png, "tRNS")->payload.resize(21); }},
      {"a background before the palette",
       [](Pieces& png) { insert_before(png, "PLTE", chunk("bKGD", 1)); }},
      {"an unknown critical chunk",
       [](Pieces& png) { insert_before(png, "IDAT", chunk("ABCD", 3)); }},
      {"data in two places",
       [](Pieces& png) {
         Data& data = data_of(png);
         const auto half = data.begin() + static_cast<std::ptrdiff_t>(data.size() / 2);
         PngChunk rest{"IDAT", {half, data.end()}};
         data.erase(half, data.end());
         insert_before(png, "IEND", chunk("tEXt", 5));
         insert_before(png, "IEND", rest);
       }},
      {"no data", [](Pieces& png) { png.erase(find(png, "IDAT")); }},
      {"empty data", [](Pieces& png) { data_of(png).clear(); }},
      {"an empty eXIf", [](Pieces& png) { insert_before(png, "IDAT", chunk("eXIf", 0)); }},
      {"no end", [](Pieces& png) { png.pop_back(); }},
      {"an end with bytes", [](Pieces& png) { png.back().payload.resize(1); }},
      {"a chunk behind the end", [](Pieces& png) { png.push_back(chunk("tEXt", 5)); }},
      {"a wrong Adler-32", [](Pieces& png) { data_of(png).back() ^= std::byte{1}; }},
      {"no Adler-32", [](Pieces& png) { data_of(png).resize(data_of(png).size() - 4); }},
      {"two megabytes behind the Adler-32", [](Pieces& png) { data_of(png).resize(2 << 20); }},
      {"bytes behind the Adler-32", [](Pieces& png) { data_of(png).push_back(std::byte{0}); }},
      {"a dictionary",
       [](Pieces& png) { data_of(png)[1] = std::byte{0x20 + 31 - (0x7800 + 0x20) % 31}; }},
      {"a filter 5",
       [](Pieces& png) { change_rows(png, [](Data& rows) { rows.front() = std::byte{5}; }); }},
      {"a row too few",
       [](Pieces& png) { change_rows(png, [](Data& rows) { rows.resize(rows.size() - 21); }); }},
      {"a byte too many",
       [](Pieces& png) { change_rows(png, [](Data& rows) { rows.push_back(std::byte{0}); }); }},
  };
}

const MadePng kPaletteImage{
    .size = {20, 20}, .type = 3, .filter = 0, .colours = 20, .transparent = true};

// How the decoder of all PNGs and libspng end: errors, and pixels without one.
struct Ends {
  std::string own, reference;
  DecodeWay way;
};
Ends ends_of(Bytes encoded, const ImageInfo& info, const Box& box) {
  CropJob own(encoded, info, box);
  own.decode_with(*make_png_decoder());
  CropJob reference(encoded, info, box);
  reference.decode_with(*make_spng_decoder());
  const DecodeWay way = own.job.way;
  if (own.job.error || reference.job.error) return {own.error(), reference.error(), way};
  return {own.packed(), reference.packed(), way};
}

void expect_left(const std::vector<Left>& all, DecodeWay way) {
  const Data plain = make_png(kPaletteImage);
  const ImageInfo info = probe(plain);
  EXPECT_EQ(ends_of(plain, info, whole(kPaletteImage.size)).way, DecodeWay::kPng);
  for (const Left& left : all) {
    SCOPED_TRACE(left.name);
    Pieces chunks = testing::chunks_of(plain);
    left.make(chunks);
    const Ends ends = ends_of(testing::png_of(chunks), info, whole(kPaletteImage.size));
    EXPECT_EQ(ends.own, ends.reference);
    EXPECT_EQ(ends.way, way);
  }
}

TEST(PlainPngDecoder, leaves_other_kinds) { expect_left(other_kinds(), DecodeWay::kLibspng); }

TEST(PlainPngDecoder, leaves_what_is_odd_and_calls_it_suspect) {
  expect_left(oddities(), DecodeWay::kSuspect);
}

TEST(PlainPngDecoder, calls_wrong_checksums_suspect) {
  const Data plain = make_png(kPaletteImage);
  const ImageInfo info = probe(plain);
  constexpr size_t kEndChunk = 12;
  for (const size_t from_end : {kEndChunk + 1, size_t{1}}) {  // of IDAT and IEND
    Data odd = plain;
    odd[odd.size() - from_end] ^= std::byte{1};
    const Ends ends = ends_of(odd, info, whole(kPaletteImage.size));
    EXPECT_EQ(ends.own, ends.reference);
    EXPECT_EQ(ends.way, DecodeWay::kSuspect);
  }
}

TEST(PlainPngDecoder, leaves_what_does_not_begin_with_the_signature) {
  const Data plain = make_png(kPaletteImage);
  const ImageInfo info = probe(plain);
  Data odd = plain;
  odd[3] = std::byte{'M'};
  for (const Data& bytes : {Data(), Data(plain.begin(), plain.begin() + 7), odd}) {
    CropJob job(bytes, info, whole(kPaletteImage.size));
    EXPECT_FALSE(PlainPngDecoder().decode(job.job));
    EXPECT_EQ(job.job.way, DecodeWay::kSuspect);
  }
}

TEST(PlainPngDecoder, leaves_a_palette_of_a_grey_image) {
  Pieces chunks = testing::chunks_of(make_png({.type = 0}));
  insert_before(chunks, "IDAT", chunk("PLTE", 3));
  Both both;
  EXPECT_FALSE(both.agree(testing::png_of(chunks), whole({8, 8}), 3));
}

TEST(PlainPngDecoder, decodes_what_chunks_without_meaning_surround) {
  for (const MadePng& made : testing::each_kind_of_png()) {
    Pieces chunks = testing::chunks_of(make_png(made));
    insert_before(chunks, "IDAT", chunk("pHYs", 9));
    insert_before(chunks, "IDAT", chunk("tEXt", 500));
    insert_before(chunks, "IDAT", chunk("abCd", 7));
    insert_before(chunks, "IDAT", chunk("tIME", 2));                       // too short
    insert_before(chunks, "IDAT", {"iTXt", Data(9 << 10, std::byte{0})});  // not compressed
    insert_before(chunks, "IDAT", chunk("IDAT", 0));
    insert_before(chunks, "IEND", chunk("IDAT", 0));
    insert_before(chunks, "IEND", chunk("fdAT", 9 << 20));
    insert_before(chunks, "IEND", chunk("tEXt", 0));
    Both both;
    EXPECT_TRUE(both.agree(testing::png_of(chunks), whole(made.size), 3)) << describe(made);
  }
}

TEST(PlainPngDecoder, decodes_data_that_reach_farther_back_than_their_header_says) {
  Pieces chunks = testing::chunks_of(make_png({.size = {60, 60}, .filter = 0, .flat = true}));
  data_of(chunks)[0] = std::byte{0x08};  // a window of 256 bytes
  data_of(chunks)[1] = std::byte{31 - 0x0800 % 31};
  Both both;
  EXPECT_TRUE(both.agree(testing::png_of(chunks), whole({60, 60}), 3));
}

// One damaged place a file; of a third, the checksums are mended.
TEST(PlainPngDecoder, changes_no_error) {
  std::mt19937_64 random(4);
  for (int i = 0; i < 3000; ++i) {
    const MadePng made = testing::random_png(random, 30);
    Data encoded = make_png(made);
    const ImageInfo info = probe(encoded);
    constexpr size_t kAfterHeader = 33;
    const size_t at = kAfterHeader + random() % (encoded.size() - kAfterHeader);
    switch (i % 3) {
      case 0:
        encoded[at] ^= static_cast<std::byte>(1 << random() % 8);
        break;
      case 1:
        encoded.resize(at);
        break;
      default: {
        Pieces chunks = testing::chunks_of(encoded);
        Data& payload = chunks[1 + random() % (chunks.size() - 1)].payload;
        if (!payload.empty()) payload[random() % payload.size()] ^= std::byte{0x11};
        encoded = testing::png_of(chunks);
      }
    }
    SCOPED_TRACE(fmt::format("{}: {}", i, describe(made)));
    for (const Box& box : boxes_in(made.size, random, 2)) {
      const Ends ends = ends_of(encoded, info, box);
      ASSERT_EQ(ends.own, ends.reference);
    }
  }
}

TEST(PlainPngDecoder, takes_no_memory_for_rows_that_the_data_cannot_have) {
  Pieces chunks = testing::chunks_of(make_png(kPaletteImage));
  for (const size_t side : {0, 4}) chunks[0].payload[side + 2] = std::byte{0x0b};  // 2,836
  const Data encoded = testing::png_of(chunks);
  PlainPngDecoder ours;
  CropJob job(encoded, probe(encoded), {0, 0, 1, 1});
  EXPECT_FALSE(ours.decode(job.job));
  EXPECT_LT(ours.kept_bytes(), 100'000u);
}

// 18 MB.
TEST(PlainPngDecoder, releases_the_memory_of_a_giant) {
  const MadePng giant{
      .size = {1500, 4000}, .filter = 0, .level = 0, .chunk_bytes = 1 << 20, .flat = true};
  const Data encoded = make_png(giant);
  PlainPngDecoder ours;
  CropJob job(encoded, probe(encoded), {0, 0, 1, 1});
  ASSERT_TRUE(ours.decode(job.job));
  EXPECT_LT(ours.kept_bytes(), 100'000u);
}

TEST(PlainPngDecoder, leaves_images_above_128_mib) {
  Pieces chunks = testing::chunks_of(make_png(kPaletteImage));
  for (const size_t side : {0, 4}) chunks[0].payload[side + 2] = std::byte{0x2e};  // 11,796
  data_of(chunks) = testing::zlib_stream(Data(11'796 * 11'797), 1);
  const Data encoded = testing::png_of(chunks);
  PlainPngDecoder ours;
  CropJob job(encoded, probe(encoded), {0, 0, 1, 1});
  EXPECT_FALSE(ours.decode(job.job));
  EXPECT_EQ(job.job.way, DecodeWay::kLibspng);
}

TEST(PlainPngDecoder, ends_when_it_is_cancelled) {
  const Data encoded = make_png(kPaletteImage);
  CropJob job(encoded, probe(encoded), whole(kPaletteImage.size));
  std::stop_source stop;
  stop.request_stop();
  job.job.stop = stop.get_token();
  EXPECT_THROW(static_cast<void>(PlainPngDecoder().decode(job.job)), StateError);
}

TEST(PlainPngDecoder, is_not_used_for_boxes_at_the_top) {
  const MadePng made{.size = {40, 20}};
  const Data encoded = make_png(made);
  for (const int64_t bottom : {9, 10, 40}) {
    CropJob job(encoded, probe(encoded), {0, 0, bottom, 20});
    job.decode_with(*make_png_decoder());
    EXPECT_EQ(job.job.way, bottom < 10 ? DecodeWay::kLibspng : DecodeWay::kPng);
  }
}

}  // namespace
}  // namespace fuelrail::png
