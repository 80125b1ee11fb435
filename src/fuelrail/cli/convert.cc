// fuelrail convert: a record file of one format becomes one of the other.
#include "fuelrail/pack/convert.h"

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <utility>

#include "fuelrail/cli/command.h"
#include "fuelrail/cli/opening.h"
#include "fuelrail/cli/packing.h"

namespace fuelrail::cli {
namespace {

struct Arguments {
  std::string source;
  std::string output;
  std::string schema;
  std::string classes;
  OutputArguments made;
};

constexpr const char* kFooter = R"(
Examples:
  fuelrail convert train.rec train.ffr
  fuelrail convert train.ffr train.rec
  fuelrail convert packed.ffr train.rec --schema class_folders
  fuelrail convert packed.ffr val.rec --schema class_folders --classes train.rec

The records are copied as they are, and their checksums verified. Class names go along in the
sidecar, and so do the keys of an .idx: converting back gives the same .rec and the same .idx.

With --schema class_folders, SRC is a packed folder of images (of ffrecord's pack_folder): OUT, a
.rec or .ffr, gets image records with labels and class names, as 'fuelrail pack' of the folder
itself makes it. Without it each file, and the list of their names, is copied as plain bytes.

Where OUT or its .idx or .frx is there already, nothing is done and the exit code is 3, unless
--overwrite is given: then it is replaced when all of the new one is on the disk.)";

int run(const Arguments& arguments, Console& console) {
  return run_copying("converted", "records", arguments.made, console, [&](CopyCallbacks callbacks) {
    return pack::convert(arguments.source, arguments.output,
                         {.schema = arguments.schema,
                          .classes = classes_named(arguments.classes, console),
                          .overwrite = arguments.made.overwrite,
                          .progress = std::move(callbacks.progress),
                          .keep_going = std::move(callbacks.keep_going),
                          .warn = std::move(callbacks.warn)});
  });
}

}  // namespace

void add_convert(CLI::App& app, Action& action) {
  const auto arguments = std::make_shared<Arguments>();
  CLI::App* command =
      app.add_subcommand("convert", "Make a .ffr file of a .rec file, or the other way round");
  command->add_option("SRC", arguments->source, "A .rec or .ffr file")->required();
  command->add_option("OUT", arguments->output, "File to make; its name says the other format")
      ->required();
  add_schema(*command, arguments->schema);
  add_classes(*command, arguments->classes);
  add_output_options(*command, arguments->made);
  command->footer(kFooter);
  command->callback([&action, arguments] {
    action = [arguments](Console& console) { return run(*arguments, console); };
  });
}

}  // namespace fuelrail::cli
