// fuelrail index: builds a file's sidecar.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>

#include "fuelrail/base/cpu.h"
#include "fuelrail/base/error.h"
#include "fuelrail/cli/command.h"
#include "fuelrail/cli/signals.h"
#include "fuelrail/cli/text.h"
#include "fuelrail/container/build_sidecar.h"
#include "fuelrail/decode/decoder.h"
#include "fuelrail/storage/file_system.h"

namespace fuelrail::cli {
namespace {

struct IndexArguments {
  std::string uri;
  bool no_entry_points = false;
  std::optional<int> threads;
  bool quiet = false;
};

int run(const IndexArguments& arguments, Console& console) {
  if (const auto info = file_system_for(arguments.uri).stat(arguments.uri);
      info && info->is_directory) {
    throw InvalidArgumentError(
        "a folder cannot have a sidecar",
        {.path = arguments.uri,
         .remedy = "If the folder has record files, run 'fuelrail index' on each of them"});
  }
  if (arguments.no_entry_points && arguments.threads) {
    throw InvalidArgumentError(
        "--threads applies only to making entry points, which --no-entry-points turns off",
        {.expected = "one of them"});
  }
  BuiltSidecar built;
  {
    ProgressDisplay progress(console, "read", "bytes", arguments.quiet);
    BuildSidecarOptions options;
    options.progress = [&progress](uint64_t done, uint64_t total) {
      progress.update(done, total);
      return !interrupted();
    };
    options.warn = console.warner();
    if (!arguments.no_entry_points) {
      options.hints = {.maker = hint_maker,
                       .threads = std::max(arguments.threads.value_or(default_threads()), 1)};
    }
    built = build_sidecar(arguments.uri, options);
  }
  if (!arguments.no_entry_points && !arguments.quiet) {
    console.say(fmt::format("entry points in {} of {}", grouped(built.hinted_records),
                            counted(built.records, "record")));
  }
  console.print_line(built.location.uri);
  return kOk;
}

constexpr const char* kIndexFooter = R"(
Reads the whole file. Class names and keys, which the file itself does not contain, are copied from
the old sidecar. If a record does not match its checksum in the old sidecar or in the file, the
command fails and the old sidecar is kept. Prints the path of the sidecar.

Entry points are places in a JPEG from which a crop is decoded without what is above it, so that
loaders decode baseline JPEGs faster. They take about 0.3 % of the file, and are made for records
with one image, in a file of any format but {stills}.

Examples:
  fuelrail index train.{1}
  fuelrail index train.{1} --no-entry-points)";

std::vector<Option> options_of(IndexArguments& arguments) {
  return {
      {"FILE", &arguments.uri, "File to index ({indexed})", true},
      {"--no-entry-points", &arguments.no_entry_points,
       "Store no entry points for faster decoding of JPEGs, and remove those of the old sidecar"},
      threads_option(arguments.threads, "make entry points"),
      quiet_option(arguments.quiet)};
}

}  // namespace

Command index_command() {
  return command_of<IndexArguments>("index",
                                    "Build or rebuild a file's sidecar, with checksums and entry "
                                    "points of JPEGs",
                                    kIndexFooter, options_of, run);
}

}  // namespace fuelrail::cli
