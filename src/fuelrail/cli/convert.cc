// fuelrail convert: a record file of one format becomes one of the other.
#include "fuelrail/pack/convert.h"

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

std::vector<Option> options_of(Arguments& arguments) {
  return joined({{{"SRC", &arguments.source, "A .rec or .ffr file", true},
                  {"OUT", &arguments.output, "File to make; its name says the other format", true},
                  schema_option(arguments.schema),
                  classes_option(arguments.classes)},
                 output_options(arguments.made)});
}

}  // namespace

Command convert_command() {
  return command_of("convert", "Make a .ffr file of a .rec file, or the other way round", kFooter,
                    options_of, run);
}

}  // namespace fuelrail::cli
