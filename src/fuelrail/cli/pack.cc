// fuelrail pack: images become a RecordIO or an FFRecord file.
#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <string>

#include "fuelrail/cli/command.h"
#include "fuelrail/cli/signals.h"
#include "fuelrail/cli/text.h"
#include "fuelrail/pack/packer.h"

namespace fuelrail::cli {
namespace {

struct Arguments {
  std::string source;
  std::string output;
  std::string split;
  std::string max_errors = "0";
  std::optional<int> quality;
  PackOptions options;
  bool quiet = false;
};

constexpr const char* kFooter = R"(
Examples:
  fuelrail pack photos train.rec                       a folder with one sub-folder a class
  fuelrail pack train.lst train.rec --root photos      a list: id TAB label(s) TAB path
  fuelrail pack photos train.ffr                       an FFRecord file of the same records
  fuelrail pack photos x.rec --split train=.9,val=.1   x_train.rec and x_val.rec, at random
  fuelrail pack photos small.rec --resize 256          shorter side 256; smaller ones stay as they are

Without --resize and --quality the files' bytes are packed as they are. With either, every image is
decoded (so that damage is found), turned upright and encoded as JPEG; only with --resize alone do
JPEGs that are small enough already keep their bytes.

Images that cannot be read are listed in OUT.errors.jsonl (with --split: beside the first part), and
the exit code is 1. Within --max-errors they are left out of what is written, as is a folder that
cannot be listed, which counts as one; beyond it nothing is written.

Where OUT, a part of it, or an .idx or .frx of theirs is there already, nothing is done and the exit
code is 3, unless --overwrite is given: then it is replaced when all of the new one is on the disk.)";

void report(const PackResult& result, Console& console) {
  for (const PackResult::File& file : result.files) {
    console.print(file.path + ": " + counted(file.records, "record") + ", " +
                  human_bytes(file.bytes) + "\n");
  }
  if (result.unassigned > 0) {
    console.print(counted(result.unassigned, "image") + " in no part: the fractions leave " +
                  (result.unassigned == 1 ? "it" : "them") + " out\n");
  }
  if (!result.failures.empty()) {
    console.say("warning: " + counted(result.failures.size(), "image") + " could not be read and " +
                (result.failures.size() == 1 ? "is" : "are") + " left out; " + result.report +
                " lists what was found");
  }
}

int run(Arguments arguments, Console& console) {
  PackOptions& options = arguments.options;
  if (!arguments.split.empty()) options.split = parse_split(arguments.split);
  const Allowance allowance = parse_allowance(arguments.max_errors);
  options.max_errors = {.count = allowance.count, .fraction = allowance.fraction};
  options.quality = arguments.quality;
  options.keep_going = [] { return !interrupted(); };
  options.warn = [&console](const std::string& text) { console.say("warning: " + text); };
  PackResult result;
  {
    ProgressDisplay progress(console, "packed", "images", arguments.quiet);
    options.progress = [&progress](const PackProgress& now) {
      progress.update(now.done, now.total);
      return !interrupted();
    };
    result = pack(arguments.source, arguments.output, options);
  }
  report(result, console);
  return result.failures.empty() ? kOk : kDataProblem;
}

}  // namespace

void add_pack(CLI::App& app, Action& action) {
  const auto arguments = std::make_shared<Arguments>();
  CLI::App* command = app.add_subcommand("pack", "Make a RecordIO or FFRecord file of images");
  command->add_option("SRC", arguments->source, "Folder (one sub-folder a class) or list (.lst)")
      ->required();
  command->add_option("OUT", arguments->output, "File to make; its name ends in .rec or .ffr")
      ->required();
  command->add_option("--split", arguments->split,
                      "Random parts by fraction, one file each: train=.9,val=.1");
  command->add_option("--seed", arguments->options.seed, "Of the split (default 0)");
  command->add_option("--resize", arguments->options.resize,
                      "Make the shorter side N pixels; never enlarges");
  command->add_option("--quality", arguments->quality,
                      "JPEG quality of what is encoded anew, 1 to 100 (default 95); where it is "
                      "given, every image is encoded anew");
  command
      ->add_option("-j,--threads", arguments->options.threads,
                   "Threads that read and encode, at most 1024 (default: one a processor)")
      ->check(CLI::Range(1, 1024));
  command->add_option(
      "--max-errors", arguments->max_errors,
      "Images that may be left out: a count (12) or a percentage (1.5%); default 0");
  command->add_option("--root", arguments->options.root,
                      "Folder that a list's paths are relative to (default: the list's own)");
  command->add_flag("--overwrite", arguments->options.overwrite, "Replace an output that is there");
  command->add_flag("-q,--quiet", arguments->quiet, "Show no progress");
  command->footer(kFooter);
  command->callback([&action, arguments] {
    action = [arguments](Console& console) { return run(*arguments, console); };
  });
}

}  // namespace fuelrail::cli
