// The options of a packing job.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "fuelrail/base/listener.h"
#include "fuelrail/base/option.h"
#include "fuelrail/pack/image/image_steps.h"
#include "fuelrail/pack/pack_result.h"

namespace fuelrail::pack {

// How `pack` stores images.
struct StoredImages {
  // Length of the shorter side; images are never enlarged. Default: no resizing.
  std::optional<int64_t> resize{};
  // JPEG quality of encoded images; default 95. If set, every image is encoded. If only `resize` is
  // set, JPEGs that are small enough keep their bytes, and all other images are turned upright,
  // shrunk if necessary, and encoded as JPEG.
  std::optional<int> quality{};
  // Read the header of each file that is stored unchanged, to find invalid images while packing.
  bool verify_images = true;
  // Decode every image, as a loader will, to find damage after the header while packing. Images
  // that are encoded again are always decoded.
  bool decode = false;
  // Store progressive JPEGs as baseline JPEGs, without loss (image/baseline_recoder.h). Those that
  // cannot be re-coded so are stored as they are, and images that are encoded again are baseline in
  // any case. Does not apply to formats whose records are nested files.
  bool baseline = false;

  // For formats whose records are nested files (RecordContent): every image is encoded, except one
  // that is a nested file already and is not resized. `quality` does not apply.
  StoredStills stills{};

  static const OptionTable<StoredImages>& table();
};

struct PackOptions {
  // Options that change the result.
  std::variant<StoredImages, ImageSteps> images{};

  // The class names, by label (container/class_names.h). The label of a folder, or of a word in a
  // list, is its index in `classes`. Numbers in a list must be indices in `classes`. The file
  // stores all class names. Default: the names of the folders or the words of the list, ordered by
  // code point; no names for a list of numbers.
  std::vector<std::string> classes{};

  // The source is an MXNet list: a `.lst` file whose labels are numbers.
  bool mxnet_list = false;

  // Store only the first label of each line of a list. `warn` reports the number of lines that have
  // several labels.
  bool first_label_only = false;
  std::optional<uint64_t>
      label_width{};  // number of labels that every image must have; default: any

  // Random parts: their names and fractions (container/subset.h). Empty: one file. If the fractions
  // add up to less than 1, the remaining images are not packed. If the output is `X.rec`, part
  // `train` becomes `X_train.rec`.
  std::vector<std::pair<std::string, double>> split{};
  uint64_t split_seed = 0;

  // Number of parts by position. Of N images, part k of n contains the images from N * k / n to N *
  // (k + 1) / n (exclusive), both rounded down, so that no part is empty and sizes differ by at
  // most one image. If the output is `X.rec` and n is above 1, the parts become `X.part000.rec` and
  // so on, with more digits above 1,000 parts. `merge` joins them into one file, byte for byte the
  // one that a single job would write. Cannot be combined with `split`.
  uint64_t nsplit = 1;
  std::optional<uint64_t>
      part{};  // make only this part, counted from 0; default: all parts, in order

  // For a list: the folder that its paths are relative to. Default: the list's own folder.
  std::string root{};

  // Store entry points of the images that have any (`hint_maker` in decode/decoder.h) in the
  // sidecar, as `build_sidecar` does, so that loaders decode crops of baseline JPEGs faster. It
  // takes about 1 ms for each photograph. An existing output that is kept (`resume`) gets none.
  bool entry_points = false;

  // For formats whose records are nested files: a file X.md, which gets a report of the quality of
  // the images that this run encodes; X.csv and X.svg are written beside it
  // (output/quality_report.h). An existing report is replaced. It takes longer, because each still
  // is decoded again. Default: no report.
  std::string quality_report{};

  // Number of unreadable images that may be skipped before the job fails. A fraction refers to the
  // images to pack. With `part`, these are the part's images; unreadable folders and lines are
  // counted separately, and for them the fraction refers to all images of the source.
  Allowance max_errors{};
  JobOptions job{};

  // Resume the work of a killed or failed run of the same job, if it left unfinished files. A run
  // that fails keeps its unfinished files and its journal for the next run. An existing output that
  // equals this job's result is kept. See `pack`.
  bool resume = false;

  // Options that change only the speed.
  std::optional<int> threads{};  // that read, decode and encode; default: default_threads()

  // Milliseconds between writes of the journal: if the process is killed, at most this much work is
  // lost. 0: write it after every image.
  int64_t journal_interval_ms = 200;

  // Called for each image that cannot be packed, in source order, as soon as it is found, including
  // the images that exceed `max_errors`. Called on the calling thread. Default: not called.
  std::function<void(const PackFailure&)> failed{};

  // Called once if more images fail than may be skipped, before the remaining images are checked.
  // Called on the calling thread. Default: not called.
  std::function<void()> failing{};

  static const OptionTable<PackOptions>& table();  // the options that are numbers or switches
};

// Errors: InvalidArgumentError for an invalid output name or option.
void check_pack_options(const std::string& output, const PackOptions& options);

}  // namespace fuelrail::pack
