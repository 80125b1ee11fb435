// fuelrail index: makes a sidecar anew.
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
        "a folder has no sidecar",
        {.path = arguments.uri, .remedy = "Index the files in it one by one, where it has some"});
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
Reads the whole file. Class names and keys, which the file itself does not hold, are kept from the
sidecar that it replaces. A record that is not what the old sidecar's checksum says, or the file's
own, is an error, and the old sidecar stays. Prints where the sidecar is.

Example:
  fuelrail index train.{1})";

std::vector<Option> options_of(IndexArguments& arguments) {
  return {{"FILE", &arguments.uri, "A {indexed} file", true}, quiet_option(arguments.quiet)};
}

}  // namespace

Command index_command() {
  return command_of<IndexArguments>("index", "Make the sidecar of a file anew, with checksums",
                                    kIndexFooter, options_of, run);
}

}  // namespace fuelrail::cli
