#include "fuelrail/mxnet/record_options.h"

#include "fuelrail/mxnet/option_checks.h"

namespace fuelrail::mxnet {
namespace {

using Options = RecordIterOptions;
using Table = OptionTable<Options>;

std::vector<int64_t> numbers(const MxShape& shape) {
  return {shape.channels, shape.height, shape.width};
}

OptionRule path_rule(const char* name, const char* meaning) {
  return {.name = name, .kind = "path", .meaning = meaning};
}

Option<Options> shape_row() {
  return {
      .rule = {.name = "data_shape",
               .kind = "shape",
               .bounds = "three numbers: channels, height and width",
               .meaning = "Channels, height and width: 1 channel is grey, 3 are red, green, blue, "
                          "4 those and alpha, of images that have four.",
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
          }};
}

// In the groups of the struct; `dataset` and `augmentation` are those that one iterator has.
Table table_of(const Table& dataset, const Table& augmentation) {
  return Table()
      .any(path_rule("path_imgrec",
                     "RecordIO files: one, several divided by ';', a directory, or a pattern."),
           &Options::path_imgrec)
      .any(path_rule("path_imglist",
                     "A .lst, whose labels, by id, take the place of those in the records."),
           &Options::path_imglist)
      .part(std::identity(), dataset)
      .row(shape_row())
      .number("num_parts", &Options::num_parts, 1, INT64_MAX,
              "Parts that the data is divided into; one of them is read.")
      .number("part_index", &Options::part_index, 0, INT64_MAX, "Which part, from 0.")
      .flag("shuffle", &Options::shuffle,
            "Another order in each epoch: of all records of the part with path_imgidx, else of "
            "each chunk of 8 MiB.")
      .number("shuffle_chunk_size", &Options::shuffle_chunk_size, 0, INT64_MAX,
              "Without path_imgidx: sub-parts of about so many MiB, in random order; 0: off.")
      .number("shuffle_chunk_seed", &Options::shuffle_chunk_seed, "Of that order.")
      .number("seed", &Options::seed, "Of the shuffle, and of random numbers without seed_aug.")
      .number("batch_size", &Options::batch_size, 1, INT64_MAX,
              "Rows of a batch; every batch has all of them.")
      .flag("round_batch", &Options::round_batch,
            "The last batch is filled from the data's beginning, and the next epoch begins after "
            "that; without, it is filled with its last row. `pad` counts the filling.")
      .part(std::identity(), augmentation)
      .any(path_rule("mean_img",
                     "A mean image's file, subtracted pixel by pixel in place of mean_*. Where it "
                     "is missing, it is made from this part's images, and written."),
           &Options::mean_img)
      .part(&Options::output, OutputOptions::table())
      .number("preprocess_threads", &Options::preprocess_threads, 1, INT64_MAX,
              "Threads that decode, at most as many as there are processors.")
      .number("prefetch_buffer", &Options::prefetch_buffer, 1, UINT16_MAX,
              "Batches made ahead, each in memory of its own.");
}

}  // namespace

const OptionTable<RecordIterOptions>& RecordIterOptions::table(bool detection) {
  static const Table plain = table_of(
      Table()
          .any(path_rule("path_imgidx",
                         "The index of all files as one, which names every record. With it, parts "
                         "have equal numbers of records, not of bytes."),
               &Options::path_imgidx)
          .number("label_width", &Options::label_width, 1, INT64_MAX,
                  "Labels of an image, as many as are packed or listed."),
      Table()
          .part(&Options::augment, AugmentOptions::table())
          .part(&Options::output, OutputOptions::plain_table())
          .number("seed_aug", &Options::seed_aug,
                  "Random numbers are MXNet's of this seed, and repeat in every batch or chunk. "
                  "None: they are a function of (seed, epoch, position)."));
  static const Table of_detection = table_of(
      Table()
          .any(whole_number("label_width", "-1 (any), or at least 1",
                            "Numbers of a row of path_imglist that count; a packed label of "
                            "another length is an error.",
                            [](int64_t width) { return width >= -1 && width != 0; }),
               [](auto& o) -> auto& { return o.detection->label_width; })
          .number(
              "label_pad_width", [](auto& o) -> auto& { return o.detection->label_pad_width; }, -1,
              INT64_MAX,
              "Numbers that a label is filled up to; 0, -1: as many as the longest of all parts.")
          .number(
              "label_pad_value", [](auto& o) -> auto& { return o.detection->label_pad_value; },
              "What fills it."),
      Table().part([](auto& o) -> auto& { return o.detection->augment; }, DetOptions::table()));
  return detection ? of_detection : plain;
}

}  // namespace fuelrail::mxnet
