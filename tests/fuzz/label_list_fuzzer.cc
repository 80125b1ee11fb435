// The list of labels that MXNet's iterators read (`path_imglist`): with one, two or any number of
// labels.
#include <string_view>

#include "fuelrail/mxnet/label_list.h"
#include "fuzzing.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace fuelrail;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const int64_t width : {1, 2, -1}) {
    fuzzing::succeeds([&] {
      const mxnet::LabelList list(text, width, "fuzzed.lst");
      const auto widest = static_cast<int64_t>(list.widest());
      fuzzing::require(list.size() == 0 || width == -1 || widest == width,
                       "a row has as many labels as asked for");
      fuzzing::require(list.size() <= text.size(), "a row has text");
    });
  }
  return 0;
}
