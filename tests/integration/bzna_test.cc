// The whole path of `.bzna` files: real stills, through the loader, to batches. Needs the plugin
// for H.265.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "fuelrail/base/error.h"
#include "fuelrail/benzina/still_work.h"
#include "fuelrail/decode/hevc/nal_units.h"
#include "fuelrail/encode/hevc_encoder.h"
#include "fuelrail/loader/loader.h"
#include "fuelrail/loader/sample_worker.h"
#include "fuelrail/testing/bzna_file.h"
#include "fuelrail/testing/plugin_test.h"
#include "fuelrail/testing/refusal.h"
#include "fuelrail/testing/worker_conformance.h"

namespace fuelrail::bzna {
namespace {

using fuelrail::testing::refusal_of;
using ::testing::AllOf;
using ::testing::HasSubstr;

// An image with a colour of its own.
std::vector<uint8_t> pixels_of(Size size, int number) {
  std::vector<uint8_t> pixels;
  for (int64_t i = 0; i < size.height * size.width; ++i) {
    for (int c = 0; c < 3; ++c) {
      pixels.push_back(static_cast<uint8_t>(40 + 25 * number + 15 * c + i % size.width / 4));
    }
  }
  return pixels;
}

// The units as they are in a sample.
std::vector<std::byte> with_lengths(const std::vector<Bytes>& units) {
  std::vector<std::byte> bytes;
  for (const Bytes unit : units) {
    for (const int shift : {24, 16, 8, 0}) {
      bytes.push_back(static_cast<std::byte>(unit.size() >> shift));
    }
    append_bytes(bytes, unit);
  }
  return bytes;
}

class BznaEpochs : public fuelrail::testing::PluginTest {
 protected:
  static constexpr int kRecords = 6;

  void SetUp() override {
    PluginTest::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    std::vector<std::string> records;
    for (int i = 0; i < kRecords; ++i) records.push_back(record(i));
    file = std::make_unique<BznaFile>(records);
  }

  // The image is 50 x 70 to 60 x 70 pixels in a frame of 64 x 96; its thumbnail is a quarter.
  static std::string record(int number) {
    HevcEncoder encoder({.crf = 8, .preset = "ultrafast"});
    HevcStill input, thumb;
    const Size size = size_of(number), small{size.height / 2, size.width / 2};
    const std::vector<uint8_t> pixels = pixels_of(size, number), less = pixels_of(small, number);
    encoder.encode({pixels.data(), size.height, size.width, 3, size.width * 3}, {64, 96}, input);
    encoder.encode({less.data(), small.height, small.width, 3, small.width * 3}, {32, 64}, thumb);
    const auto still = [](const HevcStill& of, Size coded, Size visible) {
      return mp4::NewStill{.bitstream = of.bitstream,
                           .parameters = of.parameters,
                           .coded = coded,
                           .visible = visible};
    };
    std::vector<std::byte> out;
    mp4::write_nested_file({.input = still(input, {64, 96}, size),
                            .thumb = still(thumb, {32, 64}, small),
                            .label = number,
                            .name = "image " + std::to_string(number)},
                           out);
    return std::string(as_text(out));
  }

  static Size size_of(int number) { return {50 + 2 * number, 70}; }

  struct Image {
    std::string pixels;
    Size size;
  };

  static void expect_image(const Image& image, Size size, int number) {
    ASSERT_EQ(image.size, size);
    const std::vector<uint8_t> packed = pixels_of(size, number);
    int largest = 0;
    for (size_t at = 0; at < packed.size(); ++at) {
      largest = std::max(largest, std::abs(packed[at] - static_cast<uint8_t>(image.pixels[at])));
    }
    EXPECT_LE(largest, 8) << number;
  }

  // The images of an epoch, in its order.
  std::vector<Image> epoch(const std::string& track, const LoaderOptions& options,
                           Transforms transforms = {}) const {
    Loader loader(open_bzna(file->path, {.track = track}), options,
                  {.transforms = std::move(transforms),
                   .dtype = DType::kUint8,
                   .layout = ImageLayout::kNhwc,
                   .fields = {"image"}});
    std::vector<Image> images;
    while (const auto batch = loader.next()) {
      for (size_t row = 0; row < batch->rows(); ++row) {
        Image& image = images.emplace_back();
        const ColumnSpec& column = batch->layout().columns()[0];
        const std::byte* data = batch->row(0, row);
        size_t bytes = column.row_bytes();
        if (column.ragged()) {
          const RaggedRow& ragged = batch->ragged_row(0, row);
          image.size = {ragged.shape[0], ragged.shape[1]};
          data = ragged.data;
          bytes = static_cast<size_t>(ragged.shape[0] * ragged.shape[1] * 3);
        }
        image.pixels = as_text({data, bytes});
      }
    }
    return images;
  }

  static LoaderOptions with_threads(uint64_t threads) {
    LoaderOptions options{.order = OrderOptions{.seed = 3, .batch_size = 2}};
    options.engine.threads = threads;
    return options;
  }

  // Changes a bit of a record's image.
  void damage(uint64_t number) const {
    const Extent still = file->open("bzna_input")->extent(number);
    std::string bytes = file_contents(file->path);
    const size_t at = still.offset + still.length / 2;
    bytes[at] = static_cast<char>(bytes[at] ^ 0x10);
    write_file(file->path, bytes);
  }

  std::unique_ptr<BznaFile> file;
};

TEST_F(BznaEpochs, images_are_those_that_were_packed) {
  for (const int64_t part : {1, 2}) {
    const std::vector<Image> images =
        epoch(part == 1 ? "bzna_input" : "bzna_thumb", {.order = OrderOptions{}});
    ASSERT_EQ(images.size(), size_t{kRecords});
    for (int i = 0; i < kRecords; ++i) {
      const Size size{size_of(i).height / part, size_of(i).width / part};
      expect_image(images[static_cast<size_t>(i)], size, i);
    }
  }
}

// The file has records 0 and 1, encoded by x265 3.5. tests/wheel/use_wheel.py loads it.
TEST_F(BznaEpochs, images_of_the_golden_file_are_those_that_were_packed) {
  file->path = FUELRAIL_SOURCE_DIR "/tests/golden/bzna/stills.bzna";
  const std::vector<Image> images = epoch("bzna_input", {.order = OrderOptions{}});
  ASSERT_EQ(images.size(), 2u);
  for (int i = 0; i < 2; ++i) expect_image(images[static_cast<size_t>(i)], size_of(i), i);
}

TEST_F(BznaEpochs, threads_and_sidecar_change_nothing) {
  const auto pixels = [&](uint64_t threads) {
    std::string all;
    for (const Image& image : epoch("bzna_input", with_threads(threads),
                                    {RandomResizedCrop{.size = {24, 32}}, HorizontalFlip{}})) {
      all += image.pixels;
    }
    return all;
  };
  const std::string one = pixels(1);
  EXPECT_EQ(one.size(), size_t{kRecords * 24 * 32 * 3});
  EXPECT_EQ(pixels(3), one);
  std::filesystem::remove(file->sidecar);
  EXPECT_EQ(pixels(2), one);
}

TEST_F(BznaEpochs, a_damaged_image_is_an_error_that_may_be_skipped) {
  damage(2);
  for (const bool with_sidecar : {true, false}) {
    if (!with_sidecar) std::filesystem::remove(file->sidecar);
    LoaderOptions options{.order = OrderOptions{}};
    if (with_sidecar || !decodes_with_libavcodec()) {  // which sees nothing wrong in this image
      EXPECT_THAT(refusal_of<Error>([&] { epoch("bzna_input", options); }),
                  HasSubstr("x.bzna: record 2, offset "));
    }
    options.errors.on_error = OnError::kSkip;
    EXPECT_EQ(epoch("bzna_input", options).size(), size_t{kRecords});  // another in its place
    EXPECT_EQ(epoch("bzna_thumb", {.order = OrderOptions{}}).size(), size_t{kRecords});
  }
}

// Each of them is the image of record 1.
TEST_F(BznaEpochs, an_image_that_cannot_be_decoded_is_an_error_that_may_be_skipped) {
  const auto encoded = [](Size size) {
    HevcStill still;
    const std::vector<uint8_t> pixels = pixels_of(size, 0);
    HevcEncoder({.crf = 8, .preset = "ultrafast"})
        .encode({pixels.data(), size.height, size.width, 3, size.width * 3}, size, still);
    return still;
  };
  const auto joined = [](Bytes first, Bytes second) {
    std::vector<std::byte> bytes(first.begin(), first.end());
    append_bytes(bytes, second);
    return bytes;
  };
  const HevcStill good = encoded({64, 96}), larger = encoded({96, 96});
  const std::vector<std::byte> twice = joined(good.bitstream, good.bitstream);
  const std::vector<std::byte> other_sets =
      joined(with_lengths(hevc::read_hvcc(larger.parameters).units), good.bitstream);
  const Bytes half = Bytes(good.bitstream).first(good.bitstream.size() / 2);
  struct Case {
    Bytes bitstream, parameters;
    const char* error;
  };
  for (const Case& bad : std::vector<Case>{
           {{}, good.parameters, "the record's image has no bytes"},
           {good.bitstream, {}, "does not have the parameters of the image's decoder"},
           {good.bitstream, larger.parameters, "does not have the size that the dataset declares"},
           {other_sets, good.parameters, "different sequence parameter sets"},
           {half, good.parameters, "the image ends inside a NAL unit"},
           {twice, good.parameters, "found more than one picture"}}) {
    std::vector<std::byte> nested;
    mp4::write_nested_file({.input = {.bitstream = bad.bitstream,
                                      .parameters = bad.parameters,
                                      .coded = {64, 96},
                                      .visible = size_of(0)}},
                           nested);
    file =
        std::make_unique<BznaFile>(std::vector{record(0), std::string(as_text(nested)), record(0)});
    LoaderOptions options{.order = OrderOptions{}};
    EXPECT_THAT(refusal_of<Error>([&] { epoch("bzna_input", options); }),
                AllOf(HasSubstr("x.bzna: record 1, offset "), HasSubstr(bad.error)));
    options.errors.on_error = OnError::kSkip;
    const std::vector<Image> images = epoch("bzna_input", options);
    EXPECT_EQ(images.size(), 3u);
    for (const Image& image : images) expect_image(image, size_of(0), 0);
  }
}

// Decoders miss some of these: HevcStills.flipped_bits_are_found.
TEST_F(BznaEpochs, with_the_sidecar_every_flipped_bit_is_found) {
  const auto container = file->open("bzna_input");
  std::vector<std::byte> still;
  Sample sample;
  read_sample(*container, 2, still, sample);
  constexpr size_t kFlips = 1000;
  for (size_t i = 0; i < kFlips; ++i) {
    const size_t bit = i * 7919 % (8 * still.size());
    const auto mask = static_cast<std::byte>(1 << bit % 8);
    still[bit / 8] ^= mask;
    EXPECT_THROW(container->parse(2, still, sample), CorruptError) << bit;
    still[bit / 8] ^= mask;
  }
}

// The workers of both loaders, on a file whose record 2 is not an image. None without the plugin.
class StillWorkers : public BznaEpochs {
 public:
  static std::vector<WorkerCase> cases() {
    try {
      hevc_library();
    } catch (const MissingCodecError&) {
      return {};  // the fixture of the other tests fails if there should be one
    }
    static const BznaFile kFile({record(0), record(1), MadeRecord{}.bytes(), record(3)});
    const auto container = open_bzna(kFile.path);
    const auto rows = std::make_shared<benzina::FedRows>();
    rows->add(0, std::vector<StillParameters>(100));
    const LoaderWork stills = benzina::still_work(container, rows, {.output = {16, 24}});
    const LoaderWork images = sample_work(
        container, {.transforms = {CenterCrop{.size = {16, 24}}}, .fields = {"image"}}, {});
    std::vector<WorkerCase> cases;
    for (const auto& [name, work] : {std::pair{"StillWork", stills}, {"ImageWork", images}}) {
      cases.push_back({.name = name,
                       .container = container,
                       .columns = work.columns,
                       .make = work.make_worker,
                       .good = {0, 1, 3},
                       .bad = {2}});
    }
    return cases;
  }

 private:
  void TestBody() override {}
};
INSTANTIATE_TYPED_TEST_SUITE_P(Bzna, WorkerConformance, StillWorkers);

}  // namespace
}  // namespace fuelrail::bzna
