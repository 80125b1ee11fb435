#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <utility>
#include <vector>

#include "bindings.h"
#include "fuelrail/mxnet/list_maker.h"

namespace fuelrail::python {
namespace {

TupleOf<Strings, Strings, uint64_t> lists_of_folder(nb::str prefix, nb::str root,
                                                    std::vector<std::string> extensions,
                                                    bool recursive, bool shuffle, uint64_t chunks,
                                                    double train_ratio, double test_ratio,
                                                    bool overwrite) {
  const std::string to = fs_name(prefix), from = fs_name(root);
  const PythonTurns turns;
  const mxnet::ListOptions options{.extensions = std::move(extensions),
                                   .recursive = recursive,
                                   .shuffle = shuffle,
                                   .chunks = chunks,
                                   .train_ratio = train_ratio,
                                   .test_ratio = test_ratio,
                                   .overwrite = overwrite,
                                   .keep_going = [turns] { return turns.keep_going(); }};
  const mxnet::MadeLists made =
      turns.run([to, from, options] { return mxnet::make_lists(to, from, options); });
  return nb::make_tuple(fs_texts(made.uris), fs_texts(made.folders), made.images);
}

}  // namespace

void bind_lists(nb::module_& module) {
  module.def("list_extensions", [] { return mxnet::ListOptions().extensions; });
  module.def("make_lists", lists_of_folder, nb::arg("prefix"), nb::arg("root"),
             nb::arg("extensions"), nb::arg("recursive"), nb::arg("shuffle"), nb::arg("chunks"),
             nb::arg("train_ratio"), nb::arg("test_ratio"), nb::arg("overwrite"));
}

}  // namespace fuelrail::python
