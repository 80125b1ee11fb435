// Opens a dataset and iterates over its augmented batches, with the public C++ headers, in under 40
// lines.
//   example_batches DATASET        a .rec file, or a folder with one sub-folder per class
#include <cstdio>
#include <exception>

#include "fuelrail/container/open.h"
#include "fuelrail/loader/loader.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: example_batches DATASET\n");
    return 2;
  }
  try {
    const fuelrail::OrderOptions order{
        .seed = 1, .shuffle = fuelrail::Shuffle::kFull, .batch_size = 8};
    const fuelrail::ImageOptions images{
        .transforms = {fuelrail::RandomResizedCrop{.size = {224, 224}},
                       fuelrail::HorizontalFlip{.p = 0.5},
                       fuelrail::Normalize{{0.485F, 0.456F, 0.406F}, {0.229F, 0.224F, 0.225F}}}};
    fuelrail::Loader loader(fuelrail::open_container(argv[1]), {.order = order}, images);

    while (const auto batch = loader.next()) {
      const auto* pixels = reinterpret_cast<const float*>(batch->column(0));  // NCHW
      std::printf("%zu images, the first pixel's red is %.3f\n", batch->rows(),
                  static_cast<double>(pixels[0]));
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "example_batches: %s\n", error.what());
    return 1;
  }
  return 0;
}
