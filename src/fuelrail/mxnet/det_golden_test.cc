// Compares DetAugmenter and OutputWriter with the output of MXNet 1.9.1's ImageDetRecordIter.
#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "fuelrail/mxnet/det_augmenter.h"
#include "fuelrail/mxnet/output.h"
#include "fuelrail/testing/mxnet_golden.h"

namespace fuelrail::mxnet {
namespace {

// Parses a number, or a list such as "(0.1,0.2)".
template <typename Value>
void take_list(const nlohmann::json& arguments, const char* name, std::vector<Value>& values) {
  if (!arguments.contains(name)) return;
  const nlohmann::json& given = arguments.at(name);
  if (given.is_number()) {
    values = {given.get<Value>()};
    return;
  }
  std::string text = given.get<std::string>();
  text.front() = '[';
  text.back() = ']';
  values = nlohmann::json::parse(text).get<std::vector<Value>>();
}

void take_crop(const nlohmann::json& arguments, DetOptions& options) {
  take(arguments, "rand_crop_prob", options.rand_crop_prob);
  take(arguments, "num_crop_sampler", options.num_crop_sampler);
  take_list(arguments, "min_crop_scales", options.min_crop_scales);
  take_list(arguments, "max_crop_scales", options.max_crop_scales);
  take_list(arguments, "min_crop_aspect_ratios", options.min_crop_aspect_ratios);
  take_list(arguments, "max_crop_aspect_ratios", options.max_crop_aspect_ratios);
  take_list(arguments, "min_crop_overlaps", options.min_crop_overlaps);
  take_list(arguments, "max_crop_overlaps", options.max_crop_overlaps);
  take_list(arguments, "min_crop_sample_coverages", options.min_crop_sample_coverages);
  take_list(arguments, "max_crop_sample_coverages", options.max_crop_sample_coverages);
  take_list(arguments, "min_crop_object_coverages", options.min_crop_object_coverages);
  take_list(arguments, "max_crop_trials", options.max_crop_trials);
  take(arguments, "emit_overlap_thresh", options.emit_overlap_thresh);
  if (arguments.value("crop_emit_mode", "center") == "overlap") {
    options.crop_emit_mode = CropEmitMode::kOverlap;
  }
}

DetOptions det_options(const nlohmann::json& arguments) {
  DetOptions options;
  take(arguments, "inter_method", options.inter_method);
  take(arguments, "resize", options.resize);
  take(arguments, "max_random_hue", options.max_random_hue);
  take(arguments, "random_hue_prob", options.random_hue_prob);
  take(arguments, "max_random_saturation", options.max_random_saturation);
  take(arguments, "random_saturation_prob", options.random_saturation_prob);
  take(arguments, "max_random_illumination", options.max_random_illumination);
  take(arguments, "random_illumination_prob", options.random_illumination_prob);
  take(arguments, "max_random_contrast", options.max_random_contrast);
  take(arguments, "random_contrast_prob", options.random_contrast_prob);
  take(arguments, "rand_mirror_prob", options.rand_mirror_prob);
  take(arguments, "rand_pad_prob", options.rand_pad_prob);
  take(arguments, "max_pad_scale", options.max_pad_scale);
  take(arguments, "fill_value", options.fill_value);
  take_crop(arguments, options);
  const std::string mode = arguments.value("resize_mode", "force");
  if (mode == "shrink") options.resize_mode = DetResizeMode::kShrink;
  if (mode == "fit") options.resize_mode = DetResizeMode::kFit;
  return options;
}

OutputOptions det_output(const nlohmann::json& arguments) {
  OutputOptions options;
  options.detection = true;
  options.std = {0, 0, 0, 0};
  take(arguments, "mean_r", options.mean[0]);
  take(arguments, "mean_g", options.mean[1]);
  take(arguments, "std_r", options.std[0]);
  take(arguments, "scale", options.scale);
  return options;
}

class GoldenDetection : public ::testing::TestWithParam<std::string> {};

TEST_P(GoldenDetection, equals_mxnet) {
  const auto& config = golden_configs().at(GetParam());
  const auto& arguments = config.at("arguments");
  const MxShape shape = shape_of(arguments);
  const auto records = golden_records("det.rec", shape.channels);
  const auto arrays = testing::read_npz(mxnet_golden("iter/" + GetParam() + ".npz"));
  const testing::NpyArray& labels = arrays.at("label0");
  float pad_value = -1;
  take(arguments, "label_pad_value", pad_value);
  DetAugmenter augmenter(det_options(arguments), shape);
  OutputWriter writer(det_output(arguments), shape);
  std::vector<std::byte> row(writer.row_bytes());
  std::vector<std::byte> label_row(labels.row_bytes());
  SeededDraws draws(233u);
  ASSERT_EQ(labels.rows(), records.size());
  for (size_t i = 0; i < records.size(); ++i) {
    std::vector<float> label = records[i].labels;
    const DetImage image = augmenter.augment(records[i].image, label, draws);
    writer.write(image.image, draws, row.data());
    write_det_row(shape.channels, image.used, label, pad_value,
                  {reinterpret_cast<float*>(label_row.data()), label_row.size() / sizeof(float)});
    EXPECT_EQ(difference(row, arrays.at("data0"), i), "") << "row " << i;
    EXPECT_EQ(difference(label_row, labels, i), "") << "label " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Mxnet, GoldenDetection,
                         ::testing::Values("det_force", "det_shrink", "det_fit", "det_mean"),
                         [](const auto& config) { return config.param; });

// Compares random augmentation too. One generator continues from record to record, for three epochs
// (tests/golden/mxnet/make_det_random.py).
class GoldenRandomDetection : public ::testing::TestWithParam<std::string> {};

TEST_P(GoldenRandomDetection, equals_mxnet) {
  std::ifstream stream(mxnet_golden("det_random/configs.json"));
  const nlohmann::json arguments = nlohmann::json::parse(stream).at(GetParam());
  const MxShape shape = shape_of(arguments);
  const auto records = golden_records("det.rec", shape.channels);
  const auto arrays = testing::read_npz(mxnet_golden("det_random/" + GetParam() + ".npz"));
  const testing::NpyArray& labels = arrays.at("label");
  const testing::NpyArray& images = arrays.at("data");
  DetAugmenter augmenter(det_options(arguments), shape);
  OutputWriter writer({.dtype = DType::kUint8}, shape);
  std::vector<std::byte> row(writer.row_bytes());
  std::vector<std::byte> label_row(labels.row_bytes());
  SeededDraws draws(233u);
  ASSERT_EQ(images.row_bytes(), row.size());
  for (size_t i = 0; i < labels.rows(); ++i) {
    const GoldenRecord& record = records[i % records.size()];
    std::vector<float> label = record.labels;
    const DetImage image = augmenter.augment(record.image, label, draws);
    writer.write(image.image, draws, row.data());
    write_det_row(shape.channels, image.used, label, -1,
                  {reinterpret_cast<float*>(label_row.data()), label_row.size() / sizeof(float)});
    EXPECT_EQ(difference(row, images, i), "") << "row " << i;
    EXPECT_EQ(difference(label_row, labels, i), "") << "label " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Mxnet, GoldenRandomDetection,
                         ::testing::Values("mirror", "colours", "contrast", "pad", "crop",
                                           "crop_ratio", "crop_overlap", "crop_coverage",
                                           "crop_samplers", "all", "shrink", "any_interpolation"),
                         [](const auto& config) { return config.param; });

}  // namespace
}  // namespace fuelrail::mxnet
