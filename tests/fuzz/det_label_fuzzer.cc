// The labels of MXNet's detection records, also after cropping.
#include <cstring>
#include <vector>

#include "fuelrail/mxnet/det_label.h"
#include "fuzzing.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace fuelrail;
  std::vector<float> row(size / sizeof(float));
  if (!row.empty()) std::memcpy(row.data(), data, row.size() * sizeof(float));
  mxnet::DetLabel label;
  if (!fuzzing::succeeds([&] { label.read(row); })) return 0;
  std::vector<float> written;
  label.write(written);
  fuzzing::require(written.size() <= row.size(), "objects are only dropped");
  mxnet::DetLabel again;
  if (label.objects() > 0) {
    again.read(written);
    fuzzing::require(again.objects() == label.objects(), "written again, the label is the same");
  }
  const size_t before = label.objects();
  label.mirror();
  label.enlarge({-0.5f, -0.5f, 2, 2});
  label.crop({0.25f, 0.25f, 0.5f, 0.5f}, {.min_overlap = 0.1f}, mxnet::CropEmitMode::kOverlap,
             0.3f);
  fuzzing::require(label.objects() <= before, "a crop adds no object");
  return 0;
}
