// fuelrail convert: copies a record file into another format.
#include "fuelrail/pack/convert.h"

#include <string>

#include "fuelrail/cli/command.h"
#include "fuelrail/cli/opening.h"
#include "fuelrail/cli/packing.h"

namespace fuelrail::cli {
namespace {

struct ConvertArguments {
  std::string source;
  std::string output;
  std::string classes;
  pack::ConvertedAs as;
  bool no_thumb = false;
  OutputArguments made;
};

constexpr const char* kConvertFooter = R"(
Examples:
  fuelrail convert train.{1} train.{2}
  fuelrail convert train.{2} train.{1}
  fuelrail convert train.{1} train{stills} --crf 18
  fuelrail convert packed.{s} train.{1} --schema {schema}
  fuelrail convert packed.{s} val.{1} --schema {schema} --classes train.{1}

The records are copied unchanged, and their checksums are verified. Class names and the keys of an
index are stored in OUT's sidecar, so converting back gives the same file and the same index. Entry
points of JPEGs ('fuelrail index') are copied too.

A {stills} file has H.265 stills. The images of other formats are encoded again for it, which needs
the plugin for H.265; back, each still becomes an image of the other format as it is, as an MP4
file; splits are lost.

With --schema, OUT gets image records with labels and class names, the same ones that
'fuelrail pack' writes for the original folder. In this case, OUT may have the same format as SRC.
Without --schema, the files of a packed folder and the list of their names are copied as bytes.

{existing})";

int run(const ConvertArguments& arguments, Console& console) {
  pack::ConvertedAs as = arguments.as;
  as.classes = classes_named(arguments.classes, console);
  as.stills.thumb = !arguments.no_thumb;
  return run_copying("converted", "records", arguments.made, console, [&](const auto& options) {
    return pack::convert(arguments.source, arguments.output, options, as);
  });
}

std::vector<Option> options_of(ConvertArguments& arguments) {
  return joined({{{"SRC", &arguments.source, "Record file to convert ({copied})", true},
                  {"OUT", &arguments.output,
                   "File to write; its extension ({written}) selects the format", true},
                  schema_option(arguments.as.schema),
                  classes_option(arguments.classes)},
                 options_of_table(pack::StoredStills::table(), arguments.as.stills,
                                  {"crf", "preset", "chroma"}),
                 {{"--no-thumb", &arguments.no_thumb, "H.265: store no thumbnails"},
                  threads_option(arguments.as.threads, "decode and encode")},
                 output_options(arguments.made)});
}

}  // namespace

Command convert_command() {
  return command_of<ConvertArguments>("convert", "Convert a record file into another format",
                                      kConvertFooter, options_of, run);
}

}  // namespace fuelrail::cli
