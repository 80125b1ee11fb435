#include <nanobind/nanobind.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "bindings.h"
#include "fuelrail/base/error.h"
#include "fuelrail/mxnet/record_iter.h"
#include "native_handle.h"
#include "warnings.h"

namespace fuelrail::python {
namespace {

// How long a wait goes on before Python's signal handlers get their turn.
constexpr std::chrono::milliseconds kRecordPoll(50);

// --- Parameters by MXNet's names ---

using Options = mxnet::RecordIterOptions;

struct Parameter {
  std::string name;
  std::string kind;  // what Python reads its value as
  std::function<void(Options&, nb::handle)> set;
  std::function<nb::object(Options&)> get;
};

template <typename T>
constexpr const char* kind_of() {
  if constexpr (std::is_same_v<T, bool>) return "bool";
  if constexpr (std::is_same_v<T, int64_t>) return "int";
  if constexpr (std::is_same_v<T, float>) return "float";
  if constexpr (std::is_same_v<T, std::vector<int64_t>>) return "ints";
  if constexpr (std::is_same_v<T, std::vector<float>>) return "floats";
  if constexpr (std::is_same_v<T, std::optional<int32_t>>) return "int or None";
  if constexpr (std::is_same_v<T, std::optional<float>>) return "float or None";
}

// `at` finds the member.
template <typename At>
Parameter number(std::string name, At at) {
  using Type = std::remove_reference_t<std::invoke_result_t<At, Options&>>;
  return {std::move(name), kind_of<Type>(),
          [at](Options& options, nb::handle value) { at(options) = nb::cast<Type>(value); },
          [at](Options& options) { return nb::cast(at(options)); }};
}

template <typename At>
Parameter path(std::string name, At at) {
  return {std::move(name), "path",
          [at](Options& options, nb::handle value) { at(options) = fs_name(value); },
          [at](Options& options) { return fs_text(at(options)); }};
}

// An enumeration whose values, from 0 on, have these names.
template <typename At>
Parameter choice(std::string name, std::vector<std::string> names, At at) {
  using Type = std::remove_reference_t<std::invoke_result_t<At, Options&>>;
  std::string kind = "one of";
  for (const std::string& value : names) kind += " " + value;
  return {
      std::move(name), std::move(kind),
      [at, names](Options& options, nb::handle value) {
        const auto given = nb::cast<std::string>(value);
        for (size_t i = 0; i < names.size(); ++i) {
          if (names[i] == given) at(options) = static_cast<Type>(i);
        }
      },
      [at, names](Options& options) { return nb::cast(names[static_cast<size_t>(at(options))]); }};
}

Parameter data_shape() {
  return {"data_shape", "shape",
          [](Options& options, nb::handle value) {
            const auto shape = nb::cast<std::array<int64_t, 3>>(value);
            options.data_shape = {shape[0], shape[1], shape[2]};
          },
          [](Options& options) -> nb::object {
            const mxnet::MxShape& shape = options.data_shape;
            return nb::make_tuple(shape.channels, shape.height, shape.width);
          }};
}

// Those that all iterators have.
std::vector<Parameter> common_parameters() {
  return {
      path("path_imgrec", [](Options& o) -> auto& { return o.path_imgrec; }),
      path("path_imglist", [](Options& o) -> auto& { return o.path_imglist; }),
      data_shape(),
      number("num_parts", [](Options& o) -> auto& { return o.num_parts; }),
      number("part_index", [](Options& o) -> auto& { return o.part_index; }),
      number("shuffle", [](Options& o) -> auto& { return o.shuffle; }),
      number("shuffle_chunk_size", [](Options& o) -> auto& { return o.shuffle_chunk_size; }),
      number("shuffle_chunk_seed", [](Options& o) -> auto& { return o.shuffle_chunk_seed; }),
      number("seed", [](Options& o) -> auto& { return o.seed; }),
      number("batch_size", [](Options& o) -> auto& { return o.batch_size; }),
      number("round_batch", [](Options& o) -> auto& { return o.round_batch; }),
      path("mean_img", [](Options& o) -> auto& { return o.mean_img; }),
      number("mean_r", [](Options& o) -> auto& { return o.output.mean[0]; }),
      number("mean_g", [](Options& o) -> auto& { return o.output.mean[1]; }),
      number("mean_b", [](Options& o) -> auto& { return o.output.mean[2]; }),
      number("mean_a", [](Options& o) -> auto& { return o.output.mean[3]; }),
      number("std_r", [](Options& o) -> auto& { return o.output.std[0]; }),
      number("std_g", [](Options& o) -> auto& { return o.output.std[1]; }),
      number("std_b", [](Options& o) -> auto& { return o.output.std[2]; }),
      number("std_a", [](Options& o) -> auto& { return o.output.std[3]; }),
      number("scale", [](Options& o) -> auto& { return o.output.scale; }),
      number("preprocess_threads", [](Options& o) -> auto& { return o.preprocess_threads; }),
      number("prefetch_buffer", [](Options& o) -> auto& { return o.prefetch_buffer; }),
      choice("dtype", {"float32", "uint8", "int8"},
             [](Options& o) -> auto& { return o.output.dtype; }),
  };
}

// ImageRecordIter's own.
std::vector<Parameter> plain_parameters() {
  return {
      path("path_imgidx", [](Options& o) -> auto& { return o.path_imgidx; }),
      number("label_width", [](Options& o) -> auto& { return o.label_width; }),
      number("seed_aug", [](Options& o) -> auto& { return o.seed_aug; }),
      number("resize", [](Options& o) -> auto& { return o.augment.resize; }),
      number("rotate", [](Options& o) -> auto& { return o.augment.rotate; }),
      number("max_rotate_angle", [](Options& o) -> auto& { return o.augment.max_rotate_angle; }),
      number("rotate_list", [](Options& o) -> auto& { return o.augment.rotate_list; }),
      number("max_shear_ratio", [](Options& o) -> auto& { return o.augment.max_shear_ratio; }),
      number("max_random_scale", [](Options& o) -> auto& { return o.augment.max_random_scale; }),
      number("min_random_scale", [](Options& o) -> auto& { return o.augment.min_random_scale; }),
      number("max_aspect_ratio", [](Options& o) -> auto& { return o.augment.max_aspect_ratio; }),
      number("min_aspect_ratio", [](Options& o) -> auto& { return o.augment.min_aspect_ratio; }),
      number("max_img_size", [](Options& o) -> auto& { return o.augment.max_img_size; }),
      number("min_img_size", [](Options& o) -> auto& { return o.augment.min_img_size; }),
      number("pad", [](Options& o) -> auto& { return o.augment.pad; }),
      number("fill_value", [](Options& o) -> auto& { return o.augment.fill_value; }),
      number("random_resized_crop",
             [](Options& o) -> auto& { return o.augment.random_resized_crop; }),
      number("max_random_area", [](Options& o) -> auto& { return o.augment.max_random_area; }),
      number("min_random_area", [](Options& o) -> auto& { return o.augment.min_random_area; }),
      number("max_crop_size", [](Options& o) -> auto& { return o.augment.max_crop_size; }),
      number("min_crop_size", [](Options& o) -> auto& { return o.augment.min_crop_size; }),
      number("rand_crop", [](Options& o) -> auto& { return o.augment.rand_crop; }),
      number("inter_method", [](Options& o) -> auto& { return o.augment.inter_method; }),
      number("brightness", [](Options& o) -> auto& { return o.augment.brightness; }),
      number("contrast", [](Options& o) -> auto& { return o.augment.contrast; }),
      number("saturation", [](Options& o) -> auto& { return o.augment.saturation; }),
      number("random_h", [](Options& o) -> auto& { return o.augment.random_h; }),
      number("random_s", [](Options& o) -> auto& { return o.augment.random_s; }),
      number("random_l", [](Options& o) -> auto& { return o.augment.random_l; }),
      number("pca_noise", [](Options& o) -> auto& { return o.augment.pca_noise; }),
      number("mirror", [](Options& o) -> auto& { return o.output.mirror; }),
      number("rand_mirror", [](Options& o) -> auto& { return o.output.rand_mirror; }),
      number("max_random_contrast",
             [](Options& o) -> auto& { return o.output.max_random_contrast; }),
      number("max_random_illumination",
             [](Options& o) -> auto& { return o.output.max_random_illumination; }),
  };
}

// A list with one value for each crop sampler.
template <typename Member>
Parameter sampled(const char* name, Member member) {
  return number(name, [member](Options& o) -> auto& { return o.detection->augment.*member; });
}

// ImageDetRecordIter's own.
std::vector<Parameter> detection_parameters() {
  return {
      number("label_width", [](Options& o) -> auto& { return o.detection->label_width; }),
      number("label_pad_width", [](Options& o) -> auto& { return o.detection->label_pad_width; }),
      number("label_pad_value", [](Options& o) -> auto& { return o.detection->label_pad_value; }),
      sampled("resize", &mxnet::DetOptions::resize),
      sampled("inter_method", &mxnet::DetOptions::inter_method),
      sampled("rand_crop_prob", &mxnet::DetOptions::rand_crop_prob),
      sampled("num_crop_sampler", &mxnet::DetOptions::num_crop_sampler),
      sampled("min_crop_scales", &mxnet::DetOptions::min_crop_scales),
      sampled("max_crop_scales", &mxnet::DetOptions::max_crop_scales),
      sampled("min_crop_aspect_ratios", &mxnet::DetOptions::min_crop_aspect_ratios),
      sampled("max_crop_aspect_ratios", &mxnet::DetOptions::max_crop_aspect_ratios),
      sampled("min_crop_overlaps", &mxnet::DetOptions::min_crop_overlaps),
      sampled("max_crop_overlaps", &mxnet::DetOptions::max_crop_overlaps),
      sampled("min_crop_sample_coverages", &mxnet::DetOptions::min_crop_sample_coverages),
      sampled("max_crop_sample_coverages", &mxnet::DetOptions::max_crop_sample_coverages),
      sampled("min_crop_object_coverages", &mxnet::DetOptions::min_crop_object_coverages),
      sampled("max_crop_object_coverages", &mxnet::DetOptions::max_crop_object_coverages),
      sampled("max_crop_trials", &mxnet::DetOptions::max_crop_trials),
      choice("crop_emit_mode", {"center", "overlap"},
             [](Options& o) -> auto& { return o.detection->augment.crop_emit_mode; }),
      sampled("emit_overlap_thresh", &mxnet::DetOptions::emit_overlap_thresh),
      sampled("rand_pad_prob", &mxnet::DetOptions::rand_pad_prob),
      sampled("max_pad_scale", &mxnet::DetOptions::max_pad_scale),
      sampled("fill_value", &mxnet::DetOptions::fill_value),
      sampled("max_random_hue", &mxnet::DetOptions::max_random_hue),
      sampled("random_hue_prob", &mxnet::DetOptions::random_hue_prob),
      sampled("max_random_saturation", &mxnet::DetOptions::max_random_saturation),
      sampled("random_saturation_prob", &mxnet::DetOptions::random_saturation_prob),
      sampled("max_random_illumination", &mxnet::DetOptions::max_random_illumination),
      sampled("random_illumination_prob", &mxnet::DetOptions::random_illumination_prob),
      sampled("max_random_contrast", &mxnet::DetOptions::max_random_contrast),
      sampled("random_contrast_prob", &mxnet::DetOptions::random_contrast_prob),
      sampled("rand_mirror_prob", &mxnet::DetOptions::rand_mirror_prob),
      choice("resize_mode", {"force", "shrink", "fit"},
             [](Options& o) -> auto& { return o.detection->augment.resize_mode; }),
  };
}

std::vector<Parameter> parameters(bool detection) {
  std::vector<Parameter> all = common_parameters();
  for (Parameter& own : detection ? detection_parameters() : plain_parameters()) {
    all.push_back(std::move(own));
  }
  return all;
}

Options default_options(bool detection) {
  Options options;
  if (detection) {
    options.detection.emplace();
    options.output.std = {0, 0, 0, 0};
  }
  return options;
}

// (name, kind, default) of each.
nb::list record_parameters(bool detection) {
  Options options = default_options(detection);
  nb::list listed;
  for (const Parameter& parameter : parameters(detection)) {
    listed.append(nb::make_tuple(parameter.name, parameter.kind, parameter.get(options)));
  }
  return listed;
}

Options options_of(const nb::dict& values, bool detection) {
  Options options = default_options(detection);
  for (const Parameter& parameter : parameters(detection)) {
    if (values.contains(parameter.name.c_str())) {
      parameter.set(options, values[parameter.name.c_str()]);
    }
  }
  return options;
}

// --- The iterator ---

class RecordIterHandle {
 public:
  RecordIterHandle(const nb::dict& values, bool detection, nb::list warnings) {
    Options options = options_of(values, detection);
    const PythonTurns turns;
    const WarningsInto warned(std::move(warnings));
    const OpenOptions open{.warn = warned.warn(),
                           .keep_going = [turns] { return turns.keep_going(); }};
    iterator_ = turns.run([options = std::move(options), open] {
      return std::make_shared<mxnet::ImageRecordIter>(options, open);
    });
  }
  ~RecordIterHandle() {
    stop();
    if (calls_.torn()) new std::shared_ptr(std::move(iterator_));  // its locks are held for ever
  }
  RecordIterHandle(const RecordIterHandle&) = delete;
  RecordIterHandle& operator=(const RecordIterHandle&) = delete;

  // Appends (data, label, index, pad) to `taken`, as LoaderHandle::next does. Returns: false at the
  // end of the epoch.
  bool next(nb::list taken) {
    calls_.check_process();
    calls_.start();
    for (;;) {
      const mxnet::ImageRecordIter::Next next =
          calls_.call([this] { return iterator_->next_for(kRecordPoll); });
      if (next.status == Engine::Status::kEndOfEpoch) return false;
      if (next.status == Engine::Status::kBatch) {
        const Batch& batch = next.batch->batch;
        taken.append(nb::make_tuple(column(batch, "data"), column(batch, "label"),
                                    column(batch, "index"), next.batch->pad));
        return true;
      }
      if (PyErr_CheckSignals() != 0) throw nb::python_error();
    }
  }

  void reset() {
    calls_.call([this] { iterator_->reset(); });
  }
  // (dtype, shape) of a batch's column.
  nb::tuple described(const std::string& name) const {
    const BatchLayout& layout = iterator_->layout();
    const ColumnSpec& spec = layout.columns()[layout.index_of(name)];
    nb::list shape;
    shape.append(layout.rows());
    for (const int64_t extent : spec.row_shape) shape.append(extent);
    return nb::make_tuple(name_of(spec.dtype), nb::tuple(shape));
  }
  uint64_t records() const { return iterator_->records(); }
  Stats stats() {
    return calls_.call([this] { return iterator_->stats(); });
  }

  // Does not wait for a call in another thread: it ends that call. In a forked child there is
  // nothing to stop: the threads are the parent's.
  void stop() {
    calls_.notice_fork();
    if (calls_.foreign() || calls_.torn() || !iterator_) return;
    const GilReleased released;
    calls_.stop(iterator_);
  }

 private:
  static Array column(const Batch& batch, const char* name) {
    const size_t index = batch.layout().index_of(name);
    return {batch.owner(), batch.column(index), batch.layout().columns()[index].dtype,
            batch.shape(index)};
  }

  NativeCalls calls_{"the iterator"};
  std::shared_ptr<mxnet::ImageRecordIter> iterator_;
};

}  // namespace

void bind_mxnet(nb::module_& module) {
  module.def("record_parameters", record_parameters, nb::arg("detection"),
             nb::sig("def record_parameters(detection: bool) -> list[tuple[str, str, Any]]"),
             "Name, kind and default of each parameter of MXNet's record iterators.");
  nb::class_<RecordIterHandle>(module, "RecordIter")
      .def(nb::init<const nb::dict&, bool, nb::list>(), nb::arg("values"), nb::arg("detection"),
           nb::arg("warnings"),
           nb::sig("def __init__(self, values: dict[str, Any], detection: bool, "
                   "warnings: list[str]) -> None"))
      .def("next", &RecordIterHandle::next, nb::arg("taken"),
           nb::sig("def next(self, taken: list[tuple[Array, Array, Array, int]]) -> bool"),
           "Appends data, label, index and pad to `taken`; False at the end of the epoch.")
      .def("reset", &RecordIterHandle::reset)
      .def("described", &RecordIterHandle::described, nb::arg("name"),
           nb::sig("def described(self, name: str) -> tuple[str, tuple[int, ...]]"),
           "Element type and shape of a batch's column.")
      .def_prop_ro("records", &RecordIterHandle::records, "Records of the part.")
      .def("stats", &RecordIterHandle::stats)
      .def("stop", &RecordIterHandle::stop);
}

}  // namespace fuelrail::python
