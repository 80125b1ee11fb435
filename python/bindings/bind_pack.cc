#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "bindings.h"
#include "fuelrail/pack/convert.h"
#include "fuelrail/pack/packer.h"

namespace fuelrail::python {
namespace {

nb::tuple described(const PackResult::File& file) {
  return nb::make_tuple(fs_text(file.path), file.records, file.bytes);
}

nb::dict summary(const PackResult& result) {
  nb::list files;
  for (const PackResult::File& file : result.files) files.append(described(file));
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

// A call of the core that may warn: Python issues the warnings, where an exception may leave.
template <typename Call>
void run_warning(PythonTurns& turns, nb::list& warnings, const Call& call) {
  std::vector<std::string> said;
  const auto pass_on = [&] {
    for (const std::string& text : said) warnings.append(fs_text(text));
  };
  try {
    turns.run([&] { call([&said](const std::string& text) { said.push_back(text); }); });
  } catch (...) {
    pass_on();
    throw;
  }
  pass_on();
}

std::function<bool(const PackProgress&)> teller(PythonTurns& turns, nb::handle progress) {
  return [&turns, progress](const PackProgress& now) {
    return turns.take([&] {
      if (!progress.is_none()) progress(now.done, now.total, now.bytes, now.seconds);
    });
  };
}

nb::dict run_pack(nb::handle source, nb::handle output, int64_t resize, std::optional<int> quality,
                  bool verify_images, std::vector<std::pair<std::string, double>> split,
                  uint64_t seed, nb::handle root, uint64_t max_error_count,
                  double max_error_fraction, bool overwrite, int threads, nb::handle progress,
                  nb::list warnings) {
  const std::string from = fs_name(source);
  const std::string to = fs_name(output);
  PythonTurns turns;
  PackOptions options{.resize = resize,
                      .quality = quality,
                      .verify_images = verify_images,
                      .split = std::move(split),
                      .seed = seed,
                      .root = root.is_none() ? std::string() : fs_name(root),
                      .max_errors = {.count = max_error_count, .fraction = max_error_fraction},
                      .overwrite = overwrite,
                      .threads = threads,
                      .progress = teller(turns, progress),
                      .keep_going = [&turns] { return turns.take([] {}); }};
  PackResult result;
  run_warning(turns, warnings, [&](auto warn) {
    options.warn = std::move(warn);
    result = pack(from, to, options);
  });
  return summary(result);
}

nb::tuple run_convert(nb::handle source, nb::handle output, const std::string& schema,
                      bool overwrite, nb::handle progress, nb::list warnings) {
  const std::string from = fs_name(source);
  const std::string to = fs_name(output);
  PythonTurns turns;
  ConvertOptions options{.schema = schema,
                         .overwrite = overwrite,
                         .progress = teller(turns, progress),
                         .keep_going = [&turns] { return turns.take([] {}); }};
  PackResult::File made;
  run_warning(turns, warnings, [&](auto warn) {
    options.warn = std::move(warn);
    made = convert(from, to, options);
  });
  return described(made);
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
  module.def("convert", run_convert, nb::arg("source"), nb::arg("output"), nb::arg("schema"),
             nb::arg("overwrite"), nb::arg("progress").none(), nb::arg("warnings"),
             nb::sig("def convert(source: str, output: str, schema: str, overwrite: bool, "
                     "progress: collections.abc.Callable[[int, int, int, float], object] | None, "
                     "warnings: list[str]) -> tuple[str, int, int]"));
}

}  // namespace fuelrail::python
