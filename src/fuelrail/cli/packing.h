// Shared by the commands that write record files: `pack` and `im2rec`, which pack images, and
// `convert`, `merge` and `recover`, which copy records.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "fuelrail/cli/command.h"
#include "fuelrail/pack/pack_options.h"

namespace fuelrail::cli {

struct OutputArguments {
  bool overwrite = false;
  bool quiet = false;
};

// Returns the options --overwrite and --quiet.
std::vector<Option> output_options(OutputArguments& arguments);

Option classes_option(std::string& classes);

// The class names in the file given to --classes; none if `classes` is empty. Errors: those of
// read_class_names.
std::vector<std::string> classes_named(const std::string& classes, Console& console);

// Copies records with `copy`, and prints the progress and the result. `verb` and `things` are those
// of ProgressDisplay: for example "merged" and "records". Returns: an ExitCode.
int run_copying(const std::string& verb, const std::string& things,
                const OutputArguments& arguments, Console& console,
                const std::function<pack::PackResult::File(const pack::JobOptions&)>& copy);

struct PackingArguments {
  pack::PackOptions options{};
  std::string max_errors{};  // a count or a percentage
  OutputArguments output{};
};

// Returns the options --nsplit, --part, --max-errors, --resume, --overwrite and --quiet.
std::vector<Option> packing_options(PackingArguments& arguments);

// Packs images with `pack`, and prints the progress, the skipped images and the result. Returns: an
// ExitCode.
int run_packing(const std::function<pack::PackResult(const pack::PackOptions&)>& pack,
                const PackingArguments& arguments, Console& console);

}  // namespace fuelrail::cli
