#include <nanobind/nanobind.h>

#include <cstdlib>

#include "bindings.h"

NB_MODULE(_core, module) {
  using namespace fuelrail::python;
  module.doc() =
      "The internal C++ core of fuelrail. Its interface may change at any time, so use `fuelrail` "
      "instead.";
  module.def(
      "version", [] { return FUELRAIL_VERSION; }, "Returns the version of fuelrail.");
  // Only the tests need nanobind's warnings about objects that live on at exit, such as in a daemon
  // thread.
  nb::set_leak_warnings(std::getenv("FUELRAIL_LEAK_WARNINGS") != nullptr);
  bind_errors(module);
  bind_base(module);
  bind_arrays(module);
  bind_container(module);
  bind_cv(module);
  bind_image(module);
  bind_transform(module);
  bind_loader(module);
  bind_pack(module);
  bind_made(module);  // after bind_container
  bind_split(module);
  bind_mxnet(module);  // after bind_loader, whose Stats it gives
  bind_benzina(module);
  bind_ffrecord(module);
  bind_recordio(module);
  bind_lists(module);
  bind_cli(module);
}
