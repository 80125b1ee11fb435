// MXNet's ImageRecordIter, and dmlc-core's ThreadedIter over its InputSplit.
//   example_mxnet_iterators FILE.rec
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "fuelrail/base/threaded_iter.h"
#include "fuelrail/mxnet/record_iter.h"
#include "fuelrail/split/input_split.h"
#include "fuelrail/transform/pixel_stage.h"

namespace {

// A custom augmenter: runs after MXNet's augmenters, on one image at a time.
class Negative final : public fuelrail::PixelStage {
 public:
  bool in_place() const override { return true; }

  void apply(fuelrail::ConstImageView, fuelrail::ImageView image,
             const fuelrail::StageRandom&) const override {
    for (int64_t y = 0; y < image.height; ++y) {
      uint8_t* row = image.row(y);
      for (int64_t i = 0; i < image.width * image.channels; ++i) {
        row[i] = static_cast<uint8_t>(255 - row[i]);
      }
    }
  }
};

// The fields of the options have the names of MXNet's parameters. mxnet/record_options.h lists them
// all.
void train(const std::string& path) {
  fuelrail::mxnet::ImageRecordIter batches(
      {.path_imgrec = path,
       .label_width = 3,
       .data_shape = {3, 32, 32},
       .shuffle = true,
       .batch_size = 4,
       .round_batch = false,
       .augment = {.rand_crop = true, .stages = {std::make_shared<Negative>()}},
       .preprocess_threads = 2});
  for (int epoch = 0; epoch < 2; ++epoch, batches.reset()) {
    size_t images = 0;
    while (const auto made = batches.next()) images += made->batch.rows() - made->pad;
    std::printf("epoch %d: %zu images\n", epoch, images);
  }
}

// ThreadedIter runs any producer on its own thread, here up to 4 items ahead, and reuses the items'
// memory.
void read_ahead(const std::string& path) {
  fuelrail::split::InputSplit split(path, {.part = 0, .nsplit = 1});
  fuelrail::ThreadedIter<std::vector<std::byte>> records(4);
  records.init(
      [&](std::unique_ptr<std::vector<std::byte>>& cell) {
        const auto record = split.next_record();
        if (!record) return false;
        if (cell == nullptr) cell = std::make_unique<std::vector<std::byte>>();
        cell->assign(record->begin(), record->end());
        return true;
      },
      [&] { split.before_first(); });
  for (int pass = 0; pass < 2; ++pass, records.before_first()) {
    size_t count = 0;
    while (auto record = records.next()) {
      ++count;
      records.recycle(std::move(record));
    }
    std::printf("pass %d: %zu records\n", pass, count);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: example_mxnet_iterators FILE.rec\n");
    return 2;
  }
  try {
    train(argv[1]);
    read_ahead(argv[1]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "example_mxnet_iterators: %s\n", error.what());
    return 1;
  }
  return 0;
}
