#include "fuelrail/mxnet/record_options.h"

namespace fuelrail::mxnet {
namespace {

using Options = RecordIterOptions;
using Table = OptionTable<Options>;

std::vector<int64_t> numbers(const MxShape& shape) {
  return {shape.channels, shape.height, shape.width};
}

// Those that both iterators have.
Table common_table() {
  return Table()
      .any({.name = "path_imgrec", .kind = "path"}, &Options::path_imgrec)
      .any({.name = "path_imglist", .kind = "path"}, &Options::path_imglist)
      .row({.rule = {.name = "data_shape",
                     .kind = "shape",
                     .bounds = "channels, height and width",
                     .allows =
                         [](const OptionValue& value) {
                           const auto* const sides = std::get_if<std::vector<int64_t>>(&value);
                           return sides != nullptr && sides->size() == 3;
                         }},
            .get = [](const Options& o) { return OptionValue{numbers(o.data_shape)}; },
            .set =
                [](Options& o, const OptionValue& value) {
                  const auto& sides = std::get<std::vector<int64_t>>(value);
                  o.data_shape = {sides.at(0), sides.at(1), sides.at(2)};
                }})
      .number("num_parts", &Options::num_parts, 1, INT64_MAX)
      .number("part_index", &Options::part_index, 0, INT64_MAX)
      .flag("shuffle", &Options::shuffle)
      .number("shuffle_chunk_size", &Options::shuffle_chunk_size, 0, INT64_MAX)
      .number("shuffle_chunk_seed", &Options::shuffle_chunk_seed)
      .number("seed", &Options::seed)
      .number("batch_size", &Options::batch_size, 1, INT64_MAX)
      .flag("round_batch", &Options::round_batch)
      .any({.name = "mean_img", .kind = "path"}, &Options::mean_img)
      .part(&Options::output, OutputOptions::table())
      .number("preprocess_threads", &Options::preprocess_threads, 1, INT64_MAX)
      .number("prefetch_buffer", &Options::prefetch_buffer, 1, UINT16_MAX);
}

}  // namespace

const OptionTable<RecordIterOptions>& RecordIterOptions::table(bool detection) {
  static const auto plain = common_table()
                                .any({.name = "path_imgidx", .kind = "path"}, &Options::path_imgidx)
                                .number("label_width", &Options::label_width, 1, INT64_MAX)
                                .number("seed_aug", &Options::seed_aug)
                                .part(&Options::augment, AugmentOptions::table())
                                .part(&Options::output, OutputOptions::plain_table());
  static const auto of_detection =
      common_table()
          .number(
              "label_width", [](auto& o) -> auto& { return o.detection->label_width; }, -1,
              INT64_MAX)
          .number(
              "label_pad_width", [](auto& o) -> auto& { return o.detection->label_pad_width; }, -1,
              INT64_MAX)
          .number("label_pad_value", [](auto& o) -> auto& { return o.detection->label_pad_value; })
          .part([](auto& o) -> auto& { return o.detection->augment; }, DetOptions::table());
  return detection ? of_detection : plain;
}

}  // namespace fuelrail::mxnet
