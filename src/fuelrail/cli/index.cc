// fuelrail index: builds a file's sidecar.
#include <string>

#include "fuelrail/base/error.h"
#include "fuelrail/cli/command.h"
#include "fuelrail/cli/signals.h"
#include "fuelrail/container/build_sidecar.h"
#include "fuelrail/storage/file_system.h"

namespace fuelrail::cli {
namespace {

struct IndexArguments {
  std::string uri;
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
  SidecarLocation location;
  {
    ProgressDisplay progress(console, "read", "bytes", arguments.quiet);
    BuildSidecarOptions options;
    options.progress = [&progress](uint64_t done, uint64_t total) {
      progress.update(done, total);
      return !interrupted();
    };
    options.warn = console.warner();
    location = build_sidecar(arguments.uri, options);
  }
  console.print_line(location.uri);
  return kOk;
}

constexpr const char* kIndexFooter = R"(
Reads the whole file. Class names and keys, which the file itself does not contain, are copied from
the old sidecar. If a record does not match its checksum in the old sidecar or in the file, the
command fails and the old sidecar is kept. Prints the path of the sidecar.

Example:
  fuelrail index train.{1})";

std::vector<Option> options_of(IndexArguments& arguments) {
  return {{"FILE", &arguments.uri, "File to index ({indexed})", true},
          quiet_option(arguments.quiet)};
}

}  // namespace

Command index_command() {
  return command_of<IndexArguments>("index", "Build or rebuild a file's sidecar, with checksums",
                                    kIndexFooter, options_of, run);
}

}  // namespace fuelrail::cli
