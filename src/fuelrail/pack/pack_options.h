// What a packing job is to do.
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
  std::optional<int64_t> resize{};  // shorter side; never enlarges; default: leave
  // JPEG quality of what is encoded anew (default 95); given, every image is. With `resize` alone,
  // JPEGs that are small enough keep their bytes; all others are turned upright, shrunk and encoded
  // as JPEG.
  std::optional<int> quality{};
  bool verify_images = true;  // probe what passes through, so that what is no image is found now
  bool decode = false;        // decode it, too, as a loader will: so damage behind the header is
                              // found now; what is encoded anew is decoded in any case

  static const OptionTable<StoredImages>& table();
};

struct PackOptions {
  // Results.
  std::variant<StoredImages, ImageSteps> images{};

  // The names of the classes, by label (container/class_names.h): the labels of folders, and of a
  // list's words, are their places in it, and the file gets all of these names. Numbers in a list
  // are then numbers of these classes. Default: the folders' names, or the list's words, in the
  // order of their code points; no names for a list of numbers.
  std::vector<std::string> classes{};

  // The source is a list of MXNet's: a `.lst`, whose labels are numbers.
  bool mxnet_list = false;

  // Of a list's labels. The first alone is stored, as one number; `warn` hears of lines with more.
  bool first_label_only = false;
  std::optional<uint64_t> label_width{};  // every image must have so many; default: any number

  // Random parts by name and fraction (container/subset.h); empty = one file. What the fractions
  // leave is left out. With OUT = `X.rec`, part `train` becomes `X_train.rec`.
  std::vector<std::pair<std::string, double>> split{};
  uint64_t split_seed = 0;

  // Parts by position: part k of n is the images from N * k / n to N * (k + 1) / n, both cut to
  // whole numbers, so that none is empty and they differ by one image at most. With OUT = `X.rec`
  // and n above 1 they become `X.part000.rec` and so on (more digits above 1,000 parts); `merge`
  // makes OUT of them, byte for byte. Not together with `split`.
  uint64_t nsplit = 1;
  std::optional<uint64_t> part{};  // this one alone, counted from 0; default: all, one by one

  std::string root{};  // for a list: folder that its paths are relative to; default: the list's own
  // Images that may be left out because they cannot be read, before the whole job fails. A fraction
  // is of the images to be packed; where one part alone is made, of the part's, and what could not
  // even be listed is held against all images of the source, apart from them.
  Allowance max_errors{};
  JobOptions job{};

  // Resume what a killed or failed run of the same job has left, if anything. A run that fails
  // leaves what it has written, and its journal, for the next. An output that exists, and is what
  // the job makes, stays. See `pack`.
  bool resume = false;

  // Speed.
  std::optional<int> threads{};  // that read, decode and encode; default: default_threads()

  // How often the work is made safe from a kill of the process: at most so much of it is lost. 0:
  // with every image.
  int64_t journal_interval_ms = 200;

  // Told of every image that cannot be packed, as it is found, in the source's order; also of those
  // that are too many, for which the job fails. Called from the calling thread. Default: not
  // called.
  std::function<void(const PackFailure&)> failed{};

  // Told once, when more have failed than may be left out, before the images behind that are looked
  // at, too. Called from the calling thread. Default: not called.
  std::function<void()> failing{};

  static const OptionTable<PackOptions>& table();  // of the numbers and switches
};

// Errors: InvalidArgumentError for an invalid output name or option.
void check_pack_options(const std::string& output, const PackOptions& options);

}  // namespace fuelrail::pack
