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
  // JPEG quality of encoded images (default 95). If set, every image is encoded. With only `resize`
  // set, JPEGs that are small enough keep their bytes; all other images are turned upright, shrunk
  // and encoded as JPEG.
  std::optional<int> quality{};
  bool verify_images = true;  // read the headers of unchanged files, to find invalid images now
  // Also decode every image, as a loader will, to find damage after the header now. Images that are
  // encoded again are decoded in any case.
  bool decode = false;

  static const OptionTable<StoredImages>& table();
};

struct PackOptions {
  // Options that change the result.
  std::variant<StoredImages, ImageSteps> images{};

  // The class names, by label (container/class_names.h). The labels of folders, and of words in a
  // list, are their indices in `classes`, and the file stores all of these names. Numbers in a list
  // are then indices in `classes`. Default: the folders' names, or the list's words, ordered by
  // code point; no names for a list of numbers.
  std::vector<std::string> classes{};

  // The source is an MXNet list: a `.lst` file whose labels are numbers.
  bool mxnet_list = false;

  // Store only the first label of each line of a list, as one number; `warn` reports the number of
  // lines that have more.
  bool first_label_only = false;
  std::optional<uint64_t> label_width{};  // labels that every image must have; default: any number

  // Random parts by name and fraction (container/subset.h); empty = one file. Images beyond the sum
  // of the fractions are not packed. If the output is `X.rec`, part `train` becomes `X_train.rec`.
  std::vector<std::pair<std::string, double>> split{};
  uint64_t split_seed = 0;

  // Parts by position: part k of n has the images from N * k / n to N * (k + 1) / n, both rounded
  // down, so that no part is empty and sizes differ by at most one image. If the output is `X.rec`
  // and n is above 1, the parts become `X.part000.rec` and so on (more digits above 1,000 parts).
  // `merge` joins them to the file that one job makes, byte for byte. Excludes `split`.
  uint64_t nsplit = 1;
  std::optional<uint64_t> part{};  // make only this one, from 0; default: all, in order

  // For a list: the folder that its paths are relative to. Default: the list's own folder.
  std::string root{};

  // Number of unreadable images that may be skipped before the job fails. A fraction refers to the
  // images to pack. If only one part is made, it refers to that part's images; folders and lines
  // that cannot be listed are then counted separately, against a fraction of all images of the
  // source.
  Allowance max_errors{};
  JobOptions job{};

  // Resume what a killed or failed run of the same job left, if anything. A run that fails keeps
  // its files and its journal for the next run. An existing output that equals this job's stays.
  // See `pack`.
  bool resume = false;

  // Options that change only the speed.
  std::optional<int> threads{};  // read, decode and encode; default: default_threads()

  // Milliseconds between writes of the journal: if the process is killed, at most this much work is
  // lost. 0: write it after every image.
  int64_t journal_interval_ms = 200;

  // Called for each image that cannot be packed, in source order, as soon as it is found; also for
  // those beyond `max_errors`, for which the job fails. Called on the calling thread. Default: not
  // called.
  std::function<void(const PackFailure&)> failed{};

  // Called once when more images have failed than may be skipped, before the remaining images are
  // checked. Called on the calling thread. Default: not called.
  std::function<void()> failing{};

  static const OptionTable<PackOptions>& table();  // has the numbers and switches
};

// Errors: InvalidArgumentError for an invalid output name or option.
void check_pack_options(const std::string& output, const PackOptions& options);

}  // namespace fuelrail::pack
