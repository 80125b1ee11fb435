// A custom transform among fuelrail's transforms: it draws a black square at a random place in
// every image.
//   example_own_stage DATASET        a .rec file, or a folder with one sub-folder per class
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <memory>

#include "fuelrail/container/open.h"
#include "fuelrail/loader/loader.h"
#include "fuelrail/transform/pixel_stage.h"

// Changes the pixels in place. The square's place depends only on the sample's random numbers, so
// the number of threads does not change it.
class BlackSquare final : public fuelrail::PixelStage {
 public:
  explicit BlackSquare(int64_t side) : side_(side) {}

  bool in_place() const override { return true; }

  void apply(fuelrail::ConstImageView, fuelrail::ImageView image,
             const fuelrail::StageRandom& random) const override {
    const int64_t side = std::min({side_, image.height, image.width});
    const auto place = [&](uint32_t draw, int64_t bound) {
      return static_cast<int64_t>(random.below(draw, static_cast<uint64_t>(bound)));
    };
    const fuelrail::Box box{place(0, image.height - side + 1), place(1, image.width - side + 1),
                            side, side};
    const fuelrail::ImageView square = image.crop(box);
    for (int64_t y = 0; y < side; ++y) std::fill_n(square.row(y), side * square.channels, 0);
  }

 private:
  int64_t side_;
};

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: example_own_stage DATASET\n");
    return 2;
  }
  try {
    const fuelrail::ImageOptions images{
        .transforms = {fuelrail::RandomResizedCrop{.size = {64, 64}},
                       fuelrail::ColorJitter{.brightness = {1.0, 1.5}},
                       fuelrail::CustomStage{std::make_shared<BlackSquare>(16)}},
        .dtype = fuelrail::DType::kUint8,
        .layout = fuelrail::ImageLayout::kNhwc};
    fuelrail::Loader loader(fuelrail::open_container(argv[1]),
                            {.order = fuelrail::OrderOptions{.batch_size = 6}}, images);

    while (const auto batch = loader.next()) {
      const auto* pixels = reinterpret_cast<const uint8_t*>(batch->column(0));
      for (size_t image = 0; image < batch->rows(); ++image) {
        const uint8_t* first = pixels + image * 64 * 64 * 3;
        int black = 0;
        for (int i = 0; i < 64 * 64; ++i) {
          black += first[3 * i] + first[3 * i + 1] + first[3 * i + 2] == 0;
        }
        std::printf("image %zu: has a black square: %s\n", image, black >= 16 * 16 ? "yes" : "no");
      }
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "example_own_stage: %s\n", error.what());
    return 1;
  }
  return 0;
}
