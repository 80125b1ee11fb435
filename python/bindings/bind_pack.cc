#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <exception>

#include "bindings.h"
#include "fuelrail/pack/packer.h"

namespace fuelrail::python {
namespace {

// Asks Python whether to go on, at every report of the packer. What Python raises (the callback's
// own error, KeyboardInterrupt) is kept until the packer has cleaned up.
class Reporter {
 public:
  explicit Reporter(nb::handle callback) : callback_(callback) {}

  bool operator()(const PackProgress& progress) {
    const GilTaken taken;
    try {
      if (PyErr_CheckSignals() != 0) throw nb::python_error();
      if (!callback_.is_none()) {
        callback_(progress.done, progress.total, progress.bytes, progress.seconds);
      }
      return true;
    } catch (nb::python_error&) {
      raised_ = std::current_exception();
      return false;
    }
  }

  void rethrow() const {
    if (raised_) std::rethrow_exception(raised_);
  }

 private:
  nb::handle callback_;
  std::exception_ptr raised_;
};

nb::dict summary(const PackResult& result) {
  nb::list files;
  for (const PackResult::File& file : result.files) {
    files.append(nb::make_tuple(fs_text(file.path), file.records, file.bytes));
  }
  nb::list failures;
  for (const PackFailure& failure : result.failures) {
    failures.append(nb::make_tuple(fs_text(failure.path), fs_text(failure.reason)));
  }
  nb::dict all;
  all["files"] = files;
  all["failures"] = failures;
  all["report"] = result.report.empty() ? nb::none() : nb::object(fs_text(result.report));
  return all;
}

nb::dict run_pack(nb::handle source, nb::handle output, int64_t resize, std::optional<int> quality,
                  bool verify_images, std::vector<std::pair<std::string, double>> split,
                  uint64_t seed, nb::handle root, uint64_t max_error_count,
                  double max_error_fraction, int threads, nb::handle progress) {
  const std::string from = fs_name(source);
  const std::string to = fs_name(output);
  Reporter reporter(progress);
  const PackOptions options{
      .resize = resize,
      .quality = quality,
      .verify_images = verify_images,
      .split = std::move(split),
      .seed = seed,
      .root = root.is_none() ? std::string() : fs_name(root),
      .max_errors = {.count = max_error_count, .fraction = max_error_fraction},
      .threads = threads,
      .progress = [&reporter](const PackProgress& now) { return reporter(now); }};
  PackResult result;
  try {
    const GilReleased released;
    result = pack(from, to, options);
  } catch (...) {
    reporter.rethrow();
    throw;
  }
  return summary(result);
}

}  // namespace

void bind_pack(nb::module_& module) {
  module.def("pack", run_pack, nb::arg("source"), nb::arg("output"), nb::arg("resize"),
             nb::arg("quality").none(), nb::arg("verify_images"), nb::arg("split"), nb::arg("seed"),
             nb::arg("root").none(), nb::arg("max_error_count"), nb::arg("max_error_fraction"),
             nb::arg("threads"), nb::arg("progress").none(),
             nb::sig("def pack(source: str, output: str, resize: int, quality: int | None, "
                     "verify_images: bool, split: collections.abc.Sequence[tuple[str, float]], "
                     "seed: int, root: str | None, max_error_count: int, "
                     "max_error_fraction: float, threads: int, "
                     "progress: collections.abc.Callable[[int, int, int, float], object] | None) "
                     "-> dict[str, typing.Any]"));
}

}  // namespace fuelrail::python
