#include <nanobind/nanobind.h>

#include "bindings.h"

NB_MODULE(_core, module) {
  using namespace fuelrail::python;
  module.doc() = "The C++ core of fuelrail. Its interface may change at any time: use `fuelrail`.";
  module.def(
      "version", [] { return FUELRAIL_VERSION; }, "The package's version.");
  bind_errors(module);
  bind_base(module);
  bind_arrays(module);
  bind_container(module);
  bind_cv(module);
  bind_decode(module);
  bind_transform(module);
  bind_loader(module);
  bind_pack(module);
  bind_split(module);
  bind_mxnet(module);     // after bind_loader, whose Stats it gives
  bind_ffrecord(module);  // after bind_loader, whose ReadBackend it takes
  bind_recordio(module);
  bind_image(module);
  bind_lists(module);
  bind_cli(module);
}
