// fuelrail pack: images become a record file.
#include <string>

#include "fuelrail/cli/command.h"
#include "fuelrail/cli/packing.h"
#include "fuelrail/cli/text.h"

namespace fuelrail::cli {
namespace {

struct PackArguments {
  std::string source;
  std::string output;
  std::string split;
  std::string classes;
  pack::StoredImages images;
  PackingArguments packing{.max_errors = "0"};
};

constexpr const char* kPackFooter = R"(
Examples:
  fuelrail pack photos train.{1}                       a folder with one sub-folder a class
  fuelrail pack train.lst train.{1} --root photos      a list: id TAB label(s) TAB path
  fuelrail pack train.csv train.{1} --root photos      a list: columns path and label, with a header
  fuelrail pack val val.{1} --classes train.{1}        the class numbers of train.{1}
  fuelrail pack photos train.{2}                       the same records in another format
  fuelrail pack photos x.{1} --split train=.9,val=.1   x_train.{1} and x_val.{1}, at random
  fuelrail pack photos small.{1} --resize 256          shorter side 256; smaller ones stay as they are
  fuelrail pack photos x.{1} --nsplit 8 --part 3       x.part003.{1}: each machine makes its own
  fuelrail pack photos x.{1} --decode                  finds damaged images before training does
  fuelrail pack photos x.{1} --resume                  resumes a killed run

Without --resize and --quality the files' bytes are packed as they are, and only their headers are
looked at; with --decode every image is decoded, so that all damage is found. With --resize or
--quality every image is decoded, turned upright and encoded as JPEG; only with --resize alone do
JPEGs that are small enough already keep their bytes.

A class is a sub-folder, or a label of a list that is a word; their numbers are the order of their
names, or those of --classes: of a packed file or a folder, or of a text with a name on each line. A
class that is not there is an error; one without images keeps its number. Names in a folder that
begin with a dot are passed over.

Images that cannot be read are listed in OUT.errors.jsonl (with --split: beside the first part), and
the exit code is 1. Within --max-errors they are left out of what is written, as is a folder that
cannot be listed, which counts as one; beyond it nothing is written, but all images are looked at, so
that the list has all that are to be mended.

Where OUT, a part of it, or an index or sidecar of theirs is there already, nothing is done and the
exit code is 3, unless --overwrite is given: then it is replaced when all of the new one is on the disk.
With --resume it is compared with what would be packed, image for image, and kept where it is that.)";

int run(const PackArguments& arguments, Console& console) {
  PackingArguments packing = arguments.packing;
  if (!arguments.split.empty()) packing.options.split = parse_split(arguments.split);
  packing.options.images = arguments.images;
  packing.options.classes = classes_named(arguments.classes, console);
  return run_packing(arguments.source, arguments.output, packing, console);
}

std::vector<Option> options_of(PackArguments& arguments) {
  pack::PackOptions& options = arguments.packing.options;
  return joined(
      {{{"SRC", &arguments.source, "Folder (one sub-folder a class) or list (.lst, .csv, .tsv)",
         true},
        {"OUT", &arguments.output, "File to make; its name ends in {written}", true},
        {"--split", &arguments.split, "Random parts by fraction, one file each: train=.9,val=.1"}},
       options_of_table(pack::PackOptions::table(), options, {"seed"}),
       options_of_table(pack::StoredImages::table(), arguments.images,
                        {"resize", "quality", "decode"}),
       {threads_option(options.threads, "read and encode"),
        {"--root", &options.root,
         "Folder that a list's paths are relative to (default: the list's own)"},
        classes_option(arguments.classes)},
       packing_options(arguments.packing)});
}

}  // namespace

Command pack_command() {
  return command_of<PackArguments>("pack", "Make a record file of images", kPackFooter, options_of,
                                   run);
}

}  // namespace fuelrail::cli
