#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <atomic>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "bindings.h"
#include "buffer.h"
#include "fuelrail/base/error.h"
#include "fuelrail/cli/text.h"
#include "fuelrail/pack/arrays.h"
#include "fuelrail/pack/convert.h"
#include "fuelrail/pack/image/image_steps.h"
#include "fuelrail/pack/merge.h"
#include "fuelrail/pack/packer.h"
#include "fuelrail/pack/recover.h"
#include "numpy_arrays.h"
#include "option_values.h"
#include "python_samples.h"
#include "samples.h"
#include "warnings.h"

namespace fuelrail::python {
namespace {

// `Progress` is called with done, total, bytes and seconds; `Failed` with path and reason.
using Progress =
    std::optional<nb::typed<nb::callable, nb::object(uint64_t, uint64_t, uint64_t, double)>>;
using Failed = std::optional<nb::typed<nb::callable, nb::object(nb::str, nb::str)>>;
using FileTuple = TupleOf<nb::str, uint64_t, uint64_t, bool>;

// Returns: the function, or null for None. A handle, because the core's threads copy it. Lifetime:
// the call.
template <typename Function>
nb::handle handle_of(const std::optional<Function>& function) {
  return function ? nb::handle(*function) : nb::handle();
}

FileTuple described(const pack::PackResult::File& file) {
  return nb::make_tuple(fs_text(file.path), file.records, file.bytes, file.was_there);
}

OptionValues summary(const pack::PackResult& result) {
  nb::list files;
  for (const pack::PackResult::File& file : result.files) files.append(described(file));
  nb::list failures;
  for (const pack::PackFailure& failure : result.failures) {
    failures.append(nb::make_tuple(fs_text(failure.path), fs_text(failure.reason)));
  }
  OptionValues all;
  all["files"] = files;
  all["failures"] = failures;
  all["recoded"] = result.recoded;
  all["unassigned"] = result.unassigned;
  all["report"] = result.report.empty() ? nb::none() : nb::object(fs_text(result.report));
  return all;
}

std::function<bool(const pack::PackProgress&)> teller(const PythonTurns& turns,
                                                      nb::handle progress) {
  return [turns, progress](const pack::PackProgress& now) {
    return turns.take([&] {
      if (progress.is_valid()) {
        call_python(progress, nb::make_tuple(now.done, now.total, now.bytes, now.seconds));
      }
    });
  };
}

void add_note(const nb::object& exception, const std::string& text) {
  const nb::object note = printable(text);
  try {
    if (nb::hasattr(exception, "add_note")) {
      call_python(exception.attr("add_note"), nb::make_tuple(note));
    } else {  // Python 3.10
      nb::list notes;
      notes.append(note);
      exception.attr("__notes__") = notes;
    }
  } catch (const nb::python_error&) {  // the exception accepts no notes: raise it without one
  }
}

// If a Python function caused the error, raises that function's exception again, with a note that
// says where, if that is known. Otherwise does nothing.
void raise_own(const pack::StepsError& error, const std::string& where) {
  std::shared_ptr<nb::object> own;
  try {
    if (error.cause()) std::rethrow_exception(error.cause());
  } catch (const Raised& raised) {
    own = raised.exception;
  } catch (...) {
  }
  if (own == nullptr) return;
  const std::string& path = error.detail().path;
  if (!path.empty()) add_note(*own, "raised by " + where + " " + path);
  PyErr_SetObject(own->type().ptr(), own->ptr());
  throw nb::python_error();
}

pack::JobOptions job_options(bool overwrite, const PythonTurns& turns, const Progress& progress,
                             const WarningsInto& warned) {
  return {.overwrite = overwrite,
          .progress = teller(turns, handle_of(progress)),
          .keep_going = [turns] { return turns.keep_going(); },
          .warn = warned.warn()};
}

constexpr const char* kInTransforms = "a function in the list of transforms for the image";

// Sets the callbacks of `options`, and runs `work` with them. `where`: the user's functions that
// `work` calls, for notes.
template <typename Work>
OptionValues run_packing(pack::PackOptions options, const Progress& progress,
                         const Failed& on_failure, Strings& warnings, const Work& work,
                         const char* where = kInTransforms) {
  const PythonTurns turns;
  const WarningsInto warned(warnings);
  options.job = job_options(options.job.overwrite, turns, progress, warned);
  // Set when the callback for failures raises.
  const auto stopped = std::make_shared<std::atomic<bool>>(false);
  options.job.progress = [stopped, tell = std::move(options.job.progress)](
                             const pack::PackProgress& now) { return !*stopped && tell(now); };
  if (on_failure) {
    const nb::handle failed = *on_failure;
    options.failed = [turns, stopped, failed](const pack::PackFailure& failure) {
      const bool go_on = turns.take([&] {
        call_python(failed, nb::make_tuple(fs_text(failure.path), fs_text(failure.reason)));
      });
      if (!go_on) *stopped = true;
    };
  }
  try {
    return summary(turns.run([options = std::move(options), work] { return work(options); }));
  } catch (const pack::StepsError& error) {
    raise_own(error, where);
    throw;
  }
}

// `function(flat pixels, height, width, channels)` returns (pixels, height, width, channels).
void call_on_pixels(const nb::object& function, ConstImageView from, pack::OwnedPixels& to) {
  const GilTaken taken;
  try {
    import_numpy();
    const auto row_bytes = static_cast<size_t>(from.width * from.channels);
    MutableBytes memory;
    const nb::object flat = new_array(row_bytes * static_cast<size_t>(from.height), memory);
    for (int64_t y = 0; y < from.height; ++y) {
      std::memcpy(memory.data() + static_cast<size_t>(y) * row_bytes, from.row(y), row_bytes);
    }
    const auto made = nb::cast<nb::tuple>(
        call_python(function, nb::make_tuple(flat, from.height, from.width, from.channels)));
    const Buffer buffer(made[0]);
    const auto* pixels = reinterpret_cast<const uint8_t*>(buffer.bytes().data());
    to.pixels.assign(pixels, pixels + buffer.bytes().size());
    to.size = {nb::cast<int64_t>(made[1]), nb::cast<int64_t>(made[2])};
    to.channels = nb::cast<int64_t>(made[3]);
  } catch (nb::python_error& error) {
    throw Raised{shared_object(nb::borrow(error.value()))};
  }
}

// Each stage is a list of transforms, or a function for `call_on_pixels`. Because a function may
// release the GIL while it runs, a lock ensures that only one thread calls it at a time.
std::vector<pack::ImageStage> stages_of(const nb::list& stages) {
  const auto mutex = std::make_shared<std::mutex>();
  std::vector<pack::ImageStage> all;
  for (nb::handle stage : stages) {
    if (nb::isinstance<nb::list>(stage)) {
      all.emplace_back(nb::cast<Transforms>(stage));
    } else {
      auto function = shared_object(nb::borrow(stage));
      all.emplace_back([function, mutex](ConstImageView from, pack::OwnedPixels& to) {
        const std::lock_guard one_at_a_time(*mutex);
        call_on_pixels(*function, from, to);
      });
    }
  }
  return all;
}

// `given`: the options of the table, `size` as (height, width), `stages` and `stages_name`.
pack::ImageSteps steps_of(const OptionValues& given) {
  const auto [height, width] = nb::cast<std::pair<int64_t, int64_t>>(given["size"]);
  pack::ImageSteps steps{.resize = {height, width},
                         .stages = stages_of(nb::cast<nb::list>(given["stages"])),
                         .stages_name = nb::cast<std::string>(given["stages_name"])};
  set_options(steps, pack::ImageSteps::table(), given);
  return steps;
}

// `given`: the options of the tables, and optionally `root`. For `pack`, it also has `split`,
// `classes` and optionally `quality_report`; for im2rec, `images`, `first_label_only` and
// optionally `label_width`.
pack::PackOptions options_of(const OptionValues& given) {
  pack::PackOptions options;
  if (given.contains("images")) {
    options.images = steps_of(nb::cast<OptionValues>(given["images"]));
    options.mxnet_list = true;
    options.first_label_only = nb::cast<bool>(given["first_label_only"]);
    if (given.contains("label_width")) {
      options.label_width = nb::cast<uint64_t>(given["label_width"]);
    }
  } else {
    set_options(std::get<pack::StoredImages>(options.images), pack::StoredImages::table(), given);
    options.split = nb::cast<std::vector<std::pair<std::string, double>>>(given["split"]);
    options.classes = fs_names(nb::cast<nb::list>(given["classes"]));
  }
  if (given.contains("root")) options.root = fs_name(given["root"]);
  if (given.contains("quality_report")) options.quality_report = fs_name(given["quality_report"]);
  set_options(options, pack::PackOptions::table(), given);
  return options;
}

// A split, or an empty text, and the path of its source.
using Sources = std::vector<std::pair<std::string, nb::str>>;

OptionValues run_pack(const Sources& sources, const nb::str& output, const OptionValues& options,
                      const Progress& progress, const Failed& failed, Strings warnings) {
  std::vector<pack::SplitSource> from;
  for (const auto& [split, source] : sources) from.push_back({split, fs_name(source)});
  const std::string to = fs_name(output);
  return run_packing(
      options_of(options), progress, failed, warnings, [from, to](const pack::PackOptions& all) {
        const bool is_one = from.size() == 1 && from.front().split.empty();
        return is_one ? pack::pack(from.front().uri, to, all) : pack::pack(from, to, all);
      });
}

std::optional<std::string> image_format(const Any& data) {
  const Buffer buffer(data);
  const ImageFormat* const format = announced_format(buffer.bytes());
  if (format == nullptr) return std::nullopt;
  return std::string(format->title);
}

Strings image_extensions() {
  nb::list extensions;
  for (const ImageFormat* const format : kImageFormats) {
    for (const std::string_view extension : format->extensions) {
      if (format->in_folders && !extension.empty()) extensions.append(extension);
    }
  }
  return extensions;
}

// `start` returns what is known of the samples (SamplesDescription); `read` as in PythonSamples.
OptionValues run_pack_samples(nb::object start, nb::object read, std::optional<uint64_t> size,
                              const nb::str& output, const OptionValues& options, bool strict,
                              const Progress& progress, Strings warnings) {
  const auto describe = [start = shared_object(std::move(start))] {
    return description_of(nb::cast<nb::tuple>(call_python(*start, nb::make_tuple())));
  };
  const auto samples = std::make_shared<PythonSamples>(describe, std::move(read), size);
  return run_packing(
      options_of(options), progress, {}, warnings,
      [samples, to = fs_name(output), strict](const pack::PackOptions& all) {
        return pack::pack_samples(*samples, to, all, strict);
      },
      "the source of");
}

pack::ArrayElement element_of(const nb::dlpack::dtype& dtype) {
  using Code = nb::dlpack::dtype_code;
  const auto kind = static_cast<Code>(dtype.code);
  const auto one_of = [&](pack::ArrayElement b8, pack::ArrayElement b16, pack::ArrayElement b32,
                          pack::ArrayElement b64) {
    return dtype.bits == 8 ? b8 : dtype.bits == 16 ? b16 : dtype.bits == 32 ? b32 : b64;
  };
  using E = pack::ArrayElement;
  if (kind == Code::Int) return one_of(E::kInt8, E::kInt16, E::kInt32, E::kInt64);
  if (kind == Code::UInt) return one_of(E::kUint8, E::kUint16, E::kUint32, E::kUint64);
  if (kind == Code::Float && dtype.bits >= 16) {
    return one_of(E::kFloat16, E::kFloat16, E::kFloat32, E::kFloat64);
  }
  throw InvalidArgumentError("the array's dtype is not supported",
                             {.expected = "integers of 8 to 64 bits or floats of 16 to 64 bits"});
}

using AnyArray = nb::ndarray<nb::ro, nb::device::cpu>;

// `data`: (N, H, W) or (N, C, H, W).
OptionValues run_pack_arrays(const Any& given, std::vector<float> labels, int64_t label_width,
                             const nb::str& output, const OptionValues& options,
                             const Progress& progress, const Failed& failed, Strings warnings) {
  const auto data = nb::cast<AnyArray>(given);
  const std::string to = fs_name(output);
  const bool grey = data.ndim() == 3;
  if (!grey && data.ndim() != 4) {
    throw InvalidArgumentError(
        "the array has the wrong number of dimensions",
        {.expected = "3 (N, H, W) or 4 (N, C, H, W)", .found = std::to_string(data.ndim())});
  }
  const auto size = [&](size_t axis) { return static_cast<int64_t>(data.shape(axis)); };
  const auto bytes = static_cast<int64_t>(data.itemsize());
  const auto stride = [&](size_t axis) { return data.stride(axis) * bytes; };
  const size_t row = grey ? 1 : 2;
  const pack::ImageArrays arrays{
      .data = static_cast<const std::byte*>(data.data()),
      .element = element_of(data.dtype()),
      .count = size(0),
      .channels = grey ? 1 : size(1),
      .height = size(row),
      .width = size(row + 1),
      .strides_bytes = {stride(0), grey ? 0 : stride(1), stride(row), stride(row + 1)},
      .labels = std::move(labels),
      .label_width = label_width};
  const std::shared_ptr<const AnyArray> held(new AnyArray(data), [](const AnyArray* array) {
    const GilTaken taken;
    delete array;
  });
  return run_packing(options_of(options), progress, failed, warnings,
                     [held, arrays, to](const pack::PackOptions& all) {
                       return pack::pack_arrays(arrays, to, all);
                     });
}

// Runs `copy` with options that call Python's callbacks.
template <typename Copy>
auto run_copy(bool overwrite, const Progress& progress, Strings warnings, const Copy& copy) {
  const PythonTurns turns;
  const WarningsInto warned(std::move(warnings));
  const pack::JobOptions options{.overwrite = overwrite,
                                 .progress = teller(turns, handle_of(progress)),
                                 .keep_going = [turns] { return turns.keep_going(); },
                                 .warn = warned.warn()};
  return turns.run([copy, options] { return copy(options); });
}

FileTuple run_merge(const Strings& sources, const nb::str& output, bool overwrite,
                    const Progress& progress, Strings warnings) {
  return described(run_copy(overwrite, progress, std::move(warnings),
                            [from = fs_names(sources), to = fs_name(output)](const auto& options) {
                              return pack::merge(from, to, options);
                            }));
}

void bind_options(nb::module_& module) {
  module.def(
      "pack_options",
      [] {
        OptionRows rows = option_rows(pack::StoredImages::table());
        rows.extend(option_rows(pack::PackOptions::table()));
        return rows;
      },
      "Returns a tuple (name, kind, default, bounds, meaning) for each option of `pack`.");
  module.def(
      "image_options",
      [] { return option_rows(pack::ImageSteps::table(), {.color = pack::ColorMode::kUnchanged}); },
      "Returns a tuple (name, kind, default, bounds, meaning) for each image option of `im2rec`.");
}

FileTuple run_convert(const nb::str& source, const nb::str& output, const std::string& schema,
                      const Strings& classes, const OptionValues& options, const Progress& progress,
                      Strings warnings) {
  pack::PackOptions packing;
  set_options(packing, pack::PackOptions::table(), options);
  pack::ConvertedAs as{.schema = schema, .classes = fs_names(classes), .threads = packing.threads};
  set_options(as.stills, pack::StoredStills::table(), options);
  return described(run_copy(packing.job.overwrite, progress, std::move(warnings),
                            [from = fs_name(source), to = fs_name(output), as](const auto& job) {
                              return convert(from, to, job, as);
                            }));
}

OptionValues run_recover(const nb::str& source, const nb::str& output, bool overwrite,
                         const Progress& progress, Strings warnings) {
  const auto [recovery, losses] =
      run_copy(overwrite, progress, std::move(warnings),
               [from = fs_name(source), to = fs_name(output)](const auto& options) {
                 std::vector<Damage> found;
                 const auto lost = [&found](const Damage& loss) { found.push_back(loss); };
                 pack::Recovery made = pack::recover(from, to, options, lost);
                 return std::pair(std::move(made), std::move(found));
               });
  nb::list lost;
  for (const Damage& loss : losses) {
    lost.append(nb::make_tuple(loss.offset, loss.skipped_bytes, loss.record, fs_text(loss.reason)));
  }
  OptionValues all;
  all["file"] = described(recovery.file);
  all["losses"] = lost;
  all["lost_records"] = recovery.lost_records;
  all["checksums"] = recovery.checksums;
  return all;
}

}  // namespace

void bind_pack(nb::module_& module) {
  bind_options(module);
  module.def("progress_line", cli::progress_line, nb::arg("verb"), nb::arg("things"),
             nb::arg("done"), nb::arg("total"), nb::arg("seconds"));
  module.def("pack", run_pack, nb::arg("sources"), nb::arg("output"), nb::arg("options"),
             nb::arg("progress"), nb::arg("failed"), nb::arg("warnings"));
  module.def("image_format", image_format, nb::arg("data"),
             "Returns the name of the image format whose signature the bytes begin with, or None.");
  module.def("image_extensions", image_extensions,
             "Returns the extensions of image files in folders, such as '.jpg'.");
  module.def("pack_samples", run_pack_samples, nb::arg("start"), nb::arg("read"),
             nb::arg("size").none(), nb::arg("output"), nb::arg("options"), nb::arg("strict"),
             nb::arg("progress").none(), nb::arg("warnings"));
  module.def("pack_arrays", run_pack_arrays, nb::arg("data"), nb::arg("labels"),
             nb::arg("label_width"), nb::arg("output"), nb::arg("options"), nb::arg("progress"),
             nb::arg("failed"), nb::arg("warnings"));
  module.def("merge", run_merge, nb::arg("sources"), nb::arg("output"), nb::arg("overwrite"),
             nb::arg("progress"), nb::arg("warnings"));
  module.def("recover", run_recover, nb::arg("source"), nb::arg("output"), nb::arg("overwrite"),
             nb::arg("progress"), nb::arg("warnings"));
  module.def("convert", run_convert, nb::arg("source"), nb::arg("output"), nb::arg("schema"),
             nb::arg("classes"), nb::arg("options"), nb::arg("progress"), nb::arg("warnings"));
}

}  // namespace fuelrail::python
