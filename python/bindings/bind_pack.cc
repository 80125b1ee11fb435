#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings.h"
#include "fuelrail/pack/packer.h"

namespace fuelrail::python {
namespace {

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
  all["unassigned"] = result.unassigned;
  all["report"] = result.report.empty() ? nb::none() : nb::object(fs_text(result.report));
  return all;
}

nb::dict run_pack(nb::handle source, nb::handle output, int64_t resize, std::optional<int> quality,
                  bool verify_images, std::vector<std::pair<std::string, double>> split,
                  uint64_t seed, nb::handle root, uint64_t max_error_count,
                  double max_error_fraction, bool overwrite, int threads, nb::handle progress,
                  nb::list warnings) {
  const std::string from = fs_name(source);
  const std::string to = fs_name(output);
  PythonTurns turns;
  std::vector<std::string> said;  // Python issues the warnings, where an exception may leave
  const PackOptions options{
      .resize = resize,
      .quality = quality,
      .verify_images = verify_images,
      .split = std::move(split),
      .seed = seed,
      .root = root.is_none() ? std::string() : fs_name(root),
      .max_errors = {.count = max_error_count, .fraction = max_error_fraction},
      .overwrite = overwrite,
      .threads = threads,
      .progress =
          [&turns, progress](const PackProgress& now) {
            return turns.take([&] {
              if (!progress.is_none()) progress(now.done, now.total, now.bytes, now.seconds);
            });
          },
      .keep_going = [&turns] { return turns.take([] {}); },
      .warn = [&said](const std::string& text) { said.push_back(text); }};
  PackResult result;
  const auto pass_on = [&] {
    for (const std::string& text : said) warnings.append(fs_text(text));
  };
  try {
    turns.run([&] { result = pack(from, to, options); });
  } catch (...) {
    pass_on();
    throw;
  }
  pass_on();
  return summary(result);
}

}  // namespace

void bind_pack(nb::module_& module) {
  module.def("pack", run_pack, nb::arg("source"), nb::arg("output"), nb::arg("resize"),
             nb::arg("quality").none(), nb::arg("verify_images"), nb::arg("split"), nb::arg("seed"),
             nb::arg("root").none(), nb::arg("max_error_count"), nb::arg("max_error_fraction"),
             nb::arg("overwrite"), nb::arg("threads"), nb::arg("progress").none(),
             nb::arg("warnings"),
             nb::sig("def pack(source: str, output: str, resize: int, quality: int | None, "
                     "verify_images: bool, split: collections.abc.Sequence[tuple[str, float]], "
                     "seed: int, root: str | None, max_error_count: int, "
                     "max_error_fraction: float, overwrite: bool, threads: int, "
                     "progress: collections.abc.Callable[[int, int, int, float], object] | None, "
                     "warnings: list[str]) "
                     "-> dict[str, typing.Any]"));
}

}  // namespace fuelrail::python
