// Compares Augmenter and OutputWriter with MXNet 1.9.1's output, for every configuration in
// iter.json that has arrays, except detection.
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "fuelrail/mxnet/augmenter.h"
#include "fuelrail/mxnet/output.h"
#include "fuelrail/testing/mxnet_golden.h"

namespace fuelrail::mxnet {
namespace {

using nlohmann::json;

// The random numbers of MXNet without a seed on one thread: one generator for all samples, in
// order.
class RunningDraws final : public Draws {
 public:
  uint32_t bits() override { return static_cast<uint32_t>(generator_()); }
  Philox counted() const override { return {0, 0, 0}; }

 private:
  std::mt19937 generator_{111};
};

AugmentOptions augment_options(const json& arguments) {
  AugmentOptions options;
  take(arguments, "inter_method", options.inter_method);
  take(arguments, "resize", options.resize);
  take(arguments, "rotate", options.rotate);
  take(arguments, "max_rotate_angle", options.max_rotate_angle);
  if (arguments.contains("rotate_list")) {
    options.rotate_list = {std::stoll(arguments["rotate_list"].get<std::string>())};
  }
  take(arguments, "max_shear_ratio", options.max_shear_ratio);
  take(arguments, "max_random_scale", options.max_random_scale);
  take(arguments, "min_random_scale", options.min_random_scale);
  take(arguments, "max_aspect_ratio", options.max_aspect_ratio);
  if (arguments.contains("min_aspect_ratio")) {
    options.min_aspect_ratio = arguments["min_aspect_ratio"].get<float>();
  }
  take(arguments, "max_img_size", options.max_img_size);
  take(arguments, "min_img_size", options.min_img_size);
  take(arguments, "fill_value", options.fill_value);
  take(arguments, "pad", options.pad);
  take(arguments, "random_resized_crop", options.random_resized_crop);
  take(arguments, "max_random_area", options.max_random_area);
  take(arguments, "min_random_area", options.min_random_area);
  take(arguments, "max_crop_size", options.max_crop_size);
  take(arguments, "min_crop_size", options.min_crop_size);
  take(arguments, "rand_crop", options.rand_crop);
  take(arguments, "brightness", options.brightness);
  take(arguments, "contrast", options.contrast);
  take(arguments, "saturation", options.saturation);
  take(arguments, "random_h", options.random_h);
  take(arguments, "random_s", options.random_s);
  take(arguments, "random_l", options.random_l);
  take(arguments, "pca_noise", options.pca_noise);
  return options;
}

OutputOptions output_options(const json& config, const MxShape& shape) {
  const json& arguments = config.at("arguments");
  OutputOptions options;
  std::string dtype = "float32";
  take(arguments, "dtype", dtype);
  const auto iterator = config.at("iterator").get<std::string>();
  if (iterator.find("UInt8") != std::string::npos) dtype = "uint8";
  if (iterator.find("Int8Iter") != std::string::npos && dtype != "uint8") dtype = "int8";
  if (dtype == "uint8") options.dtype = DType::kUint8;
  if (dtype == "int8") options.dtype = DType::kInt8;
  constexpr std::array<char, 4> kNames{'r', 'g', 'b', 'a'};
  for (size_t c = 0; c < 4; ++c) {
    take(arguments, (std::string("mean_") + kNames[c]).c_str(), options.mean[c]);
    take(arguments, (std::string("std_") + kNames[c]).c_str(), options.std[c]);
  }
  take(arguments, "scale", options.scale);
  take(arguments, "max_random_contrast", options.max_random_contrast);
  take(arguments, "max_random_illumination", options.max_random_illumination);
  take(arguments, "mirror", options.mirror);
  take(arguments, "rand_mirror", options.rand_mirror);
  if (arguments.contains("mean_img")) {
    options.mean_image = std::make_shared<MeanImage>(
        read_mean_image(mxnet_golden("iter/" + arguments["mean_img"].get<std::string>()), shape));
  }
  return options;
}

// The record of a row in the first epoch, and the k of its seed. In MXNet, a chunk is the whole
// file or, with an index, as many records as a batch has.
struct RowPlace {
  size_t record = 0;
  uint64_t k = 0;
};

RowPlace place_of_row(const json& arguments, size_t row, size_t records,
                      const testing::NpyArray& labels) {
  const auto batch = arguments.at("batch_size").get<size_t>();
  if (arguments.contains("shuffle")) {  // the chunk was read outside any batch
    const auto record = static_cast<size_t>(load_le<float>(labels.row(row)));
    return {record, batch + record};
  }
  // A chunk that is read again to fill the last batch counts from the rows already in that batch.
  if (row >= records) return {row % records, records % batch + (row - records)};
  return {row, arguments.contains("path_imgidx") ? row % batch : row};
}

class GoldenConfig : public ::testing::TestWithParam<std::string> {};

TEST_P(GoldenConfig, equals_mxnet) {
  const json& config = golden_configs().at(GetParam());
  const json& arguments = config.at("arguments");
  const MxShape shape = shape_of(arguments);
  const auto records =
      golden_records(arguments.at("path_imgrec").get<std::string>(), shape.channels);
  const auto arrays = testing::read_npz(mxnet_golden("iter/" + GetParam() + ".npz"));
  const testing::NpyArray& golden = arrays.at("data0");
  Augmenter augmenter(augment_options(arguments), shape);
  OutputWriter writer(output_options(config, shape), shape);
  RunningDraws running;
  std::vector<std::byte> row(writer.row_bytes());
  for (size_t i = 0; i < golden.rows(); ++i) {
    const RowPlace place = place_of_row(arguments, i, records.size(), arrays.at("label0"));
    const ConstImageView decoded = records[place.record].image;
    const auto one = [&](Draws& draws) {
      writer.write(augmenter.augment(decoded, draws), draws, row.data());
    };
    if (arguments.contains("seed_aug")) {
      SeededDraws seeded(arguments["seed_aug"].get<int32_t>(), place.k);
      one(seeded);
    } else {
      one(running);
    }
    EXPECT_EQ(difference(row, golden, i), "") << "row " << i;
  }
}

// Configurations without arrays test orders, labels and parts, which the iterator's own tests
// cover.
std::vector<std::string> configs_with_arrays() {
  std::vector<std::string> names;
  for (const auto& [name, config] : golden_configs().items()) {
    const bool detection = config.at("iterator") == "ImageDetRecordIter";
    if (!detection && std::ifstream(mxnet_golden("iter/" + name + ".npz"))) {
      names.push_back(name);
    }
  }
  return names;
}

TEST(GoldenConfigs, none_of_those_with_arrays_is_missing) {
  EXPECT_EQ(configs_with_arrays().size(), 77u);
}

INSTANTIATE_TEST_SUITE_P(Mxnet, GoldenConfig, ::testing::ValuesIn(configs_with_arrays()),
                         [](const auto& config) { return config.param; });

}  // namespace
}  // namespace fuelrail::mxnet
