// fuelrail merge: the parts of a dataset become one file again.
#include "fuelrail/pack/merge.h"

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <utility>
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
  fuelrail merge train.rec train.part*.rec
  fuelrail merge all.ffr a.ffr b.ffr

The records are copied as they are, one file after the other, and their checksums verified. Index and
sidecar are joined with them: the parts that 'fuelrail pack --nsplit' has made, each on another
machine even, give byte for byte the file that it makes without. A key must not be in two of them, nor
a file be named twice.

Where OUT or its .idx or .frx is there already, nothing is done and the exit code is 3, unless
--overwrite is given: then it is replaced when all of the new one is on the disk.)";

int run_merge(const MergeArguments& arguments, Console& console) {
  return run_copying("merged", "records", arguments.made, console, [&](CopyCallbacks callbacks) {
    return pack::merge(arguments.sources, arguments.output,
                       {.overwrite = arguments.made.overwrite,
                        .progress = std::move(callbacks.progress),
                        .keep_going = std::move(callbacks.keep_going),
                        .warn = std::move(callbacks.warn)});
  });
}

}  // namespace

void add_merge(CLI::App& app, Action& action) {
  const auto arguments = std::make_shared<MergeArguments>();
  CLI::App* command = app.add_subcommand("merge", "Join record files of one format into one");
  command->add_option("OUT", arguments->output, "File to make; its name ends in .rec or .ffr")
      ->required();
  command->add_option("IN", arguments->sources, "Files of the same format, in their order")
      ->required();
  add_output_options(*command, arguments->made);
  command->footer(kMergeFooter);
  command->callback([&action, arguments] {
    action = [arguments](Console& console) { return run_merge(*arguments, console); };
  });
}

}  // namespace fuelrail::cli
