// fuelrail pack: packs images into a record file.
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
  fuelrail pack photos train.{1}                       a folder with one sub-folder per class
  fuelrail pack train.lst train.{1} --root photos      a list: id TAB label(s) TAB path
  fuelrail pack train.csv train.{1} --root photos      a list: columns path and label, with a header
  fuelrail pack val val.{1} --classes train.{1}        uses the class numbers of train.{1}
  fuelrail pack photos train.{2}                       the same records in another format
  fuelrail pack photos x.{1} --split train=.9,val=.1   x_train.{1} and x_val.{1}, at random
  fuelrail pack photos small.{1} --resize 256          shorter side 256; smaller images are unchanged
  fuelrail pack photos x.{1} --nsplit 8 --part 3       x.part003.{1}; one part per machine
  fuelrail pack photos x.{1} --decode                  finds damaged images before training does
  fuelrail pack photos x.{1} --resume                  resumes an interrupted run

Without --resize and --quality the files are packed unchanged, and only their headers are checked;
--decode also decodes every image, so that all damage is found. With --resize or --quality every
image is decoded, turned upright and encoded as JPEG. With --resize but without --quality, JPEGs
that are already small enough are packed unchanged.

Each sub-folder is a class, and so is each word that is a label in a list. Classes are numbered in
the order of their names, or as in --classes: a packed file, a folder, or a text file with one name
per line. A class that --classes does not have is an error; a class without images keeps its number.
Files and folders whose names begin with a dot are skipped.

Images that cannot be read are listed in OUT.errors.jsonl (with --split: beside the first part), and
the exit code is 1. Up to --max-errors images are skipped; a folder that cannot be listed counts as
one image. If more images cannot be read, nothing is written, but all images are still checked, so
that the list is complete.

If OUT, one of its parts, or an index or sidecar of these already exists, the command does nothing
and exits with code 3. With --overwrite, the old file is replaced once the new one is completely on
the disk. With --resume, an existing output is compared with the result, image by image, and kept if
it is equal.)";

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
      {{{"SRC", &arguments.source, "Folder (one sub-folder per class) or list (.lst, .csv, .tsv)",
         true},
        {"OUT", &arguments.output, "File to write; its name ends in {written}", true},
        {"--split", &arguments.split,
         "Split the images at random into one file per part, by fractions: train=.9,val=.1"}},
       options_of_table(pack::PackOptions::table(), options, {"seed"}),
       options_of_table(pack::StoredImages::table(), arguments.images,
                        {"resize", "quality", "decode"}),
       {threads_option(options.threads, "read and encode"),
        {"--root", &options.root,
         "Folder that a list's paths are relative to (default: the list's folder)"},
        classes_option(arguments.classes)},
       packing_options(arguments.packing)});
}

}  // namespace

Command pack_command() {
  return command_of<PackArguments>("pack", "Pack images into a record file", kPackFooter,
                                   options_of, run);
}

}  // namespace fuelrail::cli
