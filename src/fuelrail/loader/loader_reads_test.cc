// The read backend changes no batch.
#include <gtest/gtest.h>

#include "fuelrail/loader/loader.h"
#include "fuelrail/testing/image_set.h"
#include "fuelrail/testing/temporary_directory.h"

namespace fuelrail {
namespace {

// The pixels of an epoch, and the read backend.
struct Epoch {
  std::string pixels;
  std::string backend;
};

Epoch epoch_of(const ImageSet& images, ReadBackend backend, bool direct) {
  Loader loader(images.container,
                {.order = OrderOptions{.shuffle = Shuffle::kFull, .batch_size = 7},
                 .engine = {.threads = 2, .read = {.backend = backend, .direct = direct}}},
                {.transforms = {RandomResizedCrop{.size = {16, 16}}},
                 .dtype = DType::kUint8,
                 .fields = {"image"}});
  Epoch epoch;
  while (const auto batch = loader.next()) {
    const size_t row_bytes = loader.layout().columns()[0].row_bytes();
    epoch.pixels.append(reinterpret_cast<const char*>(batch->column(0)), batch->rows() * row_bytes);
  }
  epoch.backend = loader.stats().read_backend;
  return epoch;
}

TEST(LoaderReads, every_backend_direct_or_not_gives_the_same_pixels) {
  const TemporaryDirectory directory;
  const ImageSet images = make_image_set(directory / "set/x.rec", 40);
  const Epoch expected = epoch_of(images, ReadBackend::kPread, false);
  EXPECT_EQ(expected.backend, "pread");
  EXPECT_EQ(expected.pixels.size(), size_t{40 * 3 * 16 * 16});
  for (const bool direct : {false, true}) {
    const Epoch other = epoch_of(images, ReadBackend::kAuto, direct);
    EXPECT_EQ(other.backend, io_uring_refusal().empty() ? "io_uring" : "pread");
    EXPECT_EQ(other.pixels, expected.pixels) << direct;
    EXPECT_EQ(epoch_of(images, ReadBackend::kPread, direct).pixels, expected.pixels) << direct;
  }
}

}  // namespace
}  // namespace fuelrail
