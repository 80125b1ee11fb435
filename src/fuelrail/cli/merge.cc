// fuelrail merge: joins the parts of a dataset into one file.
#include "fuelrail/pack/merge.h"

#include <string>
#include <vector>

#include "fuelrail/cli/command.h"
#include "fuelrail/cli/packing.h"

namespace fuelrail::cli {
namespace {

struct MergeArguments {
  std::string output;
  std::vector<std::string> sources;
  OutputArguments made;
};

constexpr const char* kMergeFooter = R"(
Examples:
  fuelrail merge train.{1} train.part*.{1}
  fuelrail merge all.{2} a.{2} b.{2}

The records are copied unchanged, one file after the other, and their checksums are verified.
Their indexes and sidecars, with entry points of JPEGs, are joined too. If IN are the parts that
'fuelrail pack --nsplit' wrote, even on different machines, OUT is byte for byte the file that a run
without --nsplit writes. No two files may have a key in common, and no file may be named twice.

{existing})";

int run(const MergeArguments& arguments, Console& console) {
  return run_copying("merged", "records", arguments.made, console, [&](const auto& options) {
    return pack::merge(arguments.sources, arguments.output, options);
  });
}

std::vector<Option> options_of(MergeArguments& arguments) {
  return joined(
      {{{"OUT", &arguments.output, "File to write; its name ends in {written}", true},
        {"IN", &arguments.sources, "Files to join, in this order; all of the same format", true}},
       output_options(arguments.made)});
}

}  // namespace

Command merge_command() {
  return command_of<MergeArguments>("merge", "Join record files of one format into one",
                                    kMergeFooter, options_of, run);
}

}  // namespace fuelrail::cli
