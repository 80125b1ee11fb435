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
  return {.rule = {.name = "data_shape",
                   .kind = "shape",
                   .bounds = "three numbers: channels, height and width",
                   .meaning =
                       "Channels, height and width of the output images. 1 channel is grey, 3 "
                       "channels are RGB, and 4 channels are RGBA. For RGBA, every image must have "
                       "alpha.",
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

// The rows in the order of the struct. `dataset` and `augmentation`: rows that only one of the
// iterators has.
Table table_of(const Table& dataset, const Table& augmentation) {
  return Table()
      .any(path_rule(
               "path_imgrec",
               "RecordIO files: one path, several separated by ';', a directory, or a pattern."),
           &Options::path_imgrec)
      .any(path_rule("path_imglist",
                     "A list file (.lst). Its labels replace the labels of the records with the "
                     "same ids."),
           &Options::path_imglist)
      .part(std::identity(), dataset)
      .row(shape_row())
      .number("num_parts", &Options::num_parts, 1, INT64_MAX,
              "Number of parts that the data is divided into; the iterator reads one of them.")
      .number("part_index", &Options::part_index, 0, INT64_MAX,
              "Number of the part that is read, from 0.")
      .flag("shuffle", &Options::shuffle,
            "Shuffles the records in each epoch. With path_imgidx, all records of the part are "
            "shuffled together. Without it, records are shuffled only within each 8 MiB chunk.")
      .number("shuffle_chunk_size", &Options::shuffle_chunk_size, 0, INT64_MAX,
              "Without path_imgidx, divides the part into sub-parts of about this size, in MiB, "
              "and reads them in random order. 0 turns this off.")
      .number("shuffle_chunk_seed", &Options::shuffle_chunk_seed,
              "Seed of the order of the sub-parts (shuffle_chunk_size).")
      .number("seed", &Options::seed,
              "Seed of the shuffle. If seed_aug is not set, this is also the seed of the random "
              "numbers for augmentation.")
      .number("batch_size", &Options::batch_size, 1, INT64_MAX,
              "Number of rows in every batch, including the last.")
      .flag("round_batch", &Options::round_batch,
            "If true, the last batch is filled with records from the beginning of the data, and "
            "the next epoch begins after these records. If false, it is filled with copies of its "
            "last row. `pad` is the number of rows that only fill the batch.")
      .part(std::identity(), augmentation)
      .any(path_rule(
               "mean_img",
               "File of a mean image, which is subtracted pixel by pixel and replaces mean_r to "
               "mean_a. If the file does not exist, the mean of this part's images is computed and "
               "written to it."),
           &Options::mean_img)
      .part(&Options::output, OutputOptions::table())
      .number("preprocess_threads", &Options::preprocess_threads, 1, INT64_MAX,
              "Number of threads that decode images, limited to the number of processors.")
      .number("prefetch_buffer", &Options::prefetch_buffer, 1, UINT16_MAX,
              "Number of batches that are prepared in advance. Each has its own memory.");
}

}  // namespace

const OptionTable<RecordIterOptions>& RecordIterOptions::table(bool detection) {
  static const Table plain = table_of(
      Table()
          .any(path_rule("path_imgidx",
                         "Index file of all records. Its offsets count through all RecordIO files "
                         "as if they were one file. With an index file, the parts have equal "
                         "numbers of records. Without it, they have equal numbers of bytes."),
               &Options::path_imgidx)
          .number("label_width", &Options::label_width, 1, INT64_MAX,
                  "Number of labels per image in the records, or in path_imglist."),
      Table()
          .part(&Options::augment, AugmentOptions::table())
          .part(&Options::output, OutputOptions::plain_table())
          .number("seed_aug", &Options::seed_aug,
                  "Seed of MXNet's own random numbers for augmentation, which repeat in every "
                  "batch or chunk. With None, the random numbers depend on the seed, the epoch and "
                  "the position in the epoch."));
  static const Table of_detection = table_of(
      Table()
          .any(whole_number(
                   "label_width", "-1 (any), or at least 1",
                   "Number of label columns in each row of path_imglist; -1 means all. For any "
                   "other value, a record with a different number of labels raises an error.",
                   [](int64_t width) { return width >= -1 && width != 0; }),
               [](auto& o) -> auto& { return o.detection->label_width; })
          .number(
              "label_pad_width", [](auto& o) -> auto& { return o.detection->label_pad_width; }, -1,
              INT64_MAX,
              "Length to which every label is padded. 0 and -1 mean the length of the longest "
              "label in all parts.")
          .number(
              "label_pad_value", [](auto& o) -> auto& { return o.detection->label_pad_value; },
              "Value with which labels are padded."),
      Table().part([](auto& o) -> auto& { return o.detection->augment; }, DetOptions::table()));
  return detection ? of_detection : plain;
}

}  // namespace fuelrail::mxnet
