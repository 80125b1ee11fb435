// fuelrail pack: packs images into a record file.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "fuelrail/cli/annotated.h"
#include "fuelrail/cli/command.h"
#include "fuelrail/cli/packing.h"
#include "fuelrail/cli/text.h"
#include "fuelrail/container/formats.h"
#include "fuelrail/pack/packer.h"

namespace fuelrail::cli {
namespace {

struct PackArguments {
  std::vector<std::string> names;  // the sources, then the output
  std::string split;
  std::string classes;
  pack::StoredImages images;
  bool no_thumb = false;
  AnnotatedArguments annotated;
  std::string provider;
  PackingArguments packing{.max_errors = "0"};
};

constexpr const char* kPackFooter = R"(
Examples:
  fuelrail pack photos train.{1}                       a folder with one sub-folder per class
  fuelrail pack train.lst train.{1} --root photos      a list: id TAB label(s) TAB path
  fuelrail pack train.csv train.{1} --root photos      a list: columns path and label, with a header
  fuelrail pack val val.{1} --classes train.{1}        uses the class numbers of train.{1}
  fuelrail pack photos train.{2}                       the same records in another format
  fuelrail pack --from coco instances.json photos train.{1}   boxes, masks, key points, captions
  fuelrail pack --from voc VOC2012 train.{1} --set train      boxes, masks
  fuelrail pack --from masks images masks train.{1}           a mask for each image
  fuelrail pack --from jsonl table.jsonl train.{1}            a table: an object on each line
  fuelrail pack --provider mydata:Street train.{1}            what a Python program gives
  fuelrail pack photos x.{1} --split train=.9,val=.1   x_train.{1} and x_val.{1}, at random
  fuelrail pack photos small.{1} --resize 256          shorter side 256; smaller images are unchanged
  fuelrail pack photos x.{1} --nsplit 8 --part 3       x.part003.{1}; one part per machine
  fuelrail pack photos x.{1} --decode                  finds damaged images before training does
  fuelrail pack photos x.{1} --baseline                progressive JPEGs become faster to load
  fuelrail pack photos x.{1} --resume                  resumes an interrupted run
  fuelrail pack train=a validation=b x{stills}            two splits in one file
  fuelrail pack photos x{stills} --resize 512             H.265 stills instead of the images' files
  fuelrail pack photos x{stills} --quality-report q.md    also reports how good the stills are

Without --resize and --quality the files are packed unchanged, and only their headers are checked;
--decode also decodes every image, to find damage beyond the header. With --baseline, progressive
JPEGs become baseline JPEGs with the same pixels and metadata; those that would lose anything are
packed unchanged. With --resize or --quality every image is decoded, turned upright and encoded as JPEG.
With --resize but without --quality, JPEGs that are already small enough are packed unchanged.

In a {stills} file, every image is encoded as an H.265 still, whose size and quality --crf and
--preset determine, and again as a thumbnail of at most 512 x 512 pixels, unless it is that small.
This needs the plugin for H.265 (docs/install.md). Images that are such stills already, as
'fuelrail cat' writes them, are not encoded again unless --resize is given.

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

// The sources in the form "train=photos"; empty for one source without a split. Errors:
// InvalidArgumentError for several sources, some of which have no split. `format`: of the output.
std::vector<pack::SplitSource> split_sources(const std::vector<std::string>& sources,
                                             const FileFormat* format) {
  std::vector<pack::SplitSource> splits;
  for (const std::string& source : sources) {
    const size_t at = source.find('=');
    const std::string name = source.substr(0, at);
    const auto has = [&](const FileFormat* of) {
      return of->splits != nullptr && std::ranges::count(of->splits(), name) > 0;
    };
    const bool is_split =
        at != source.npos && format != nullptr &&
        (has(format) || (sources.size() > 1 && std::ranges::any_of(all_formats(), has)));
    if (is_split) splits.push_back({.split = name, .uri = source.substr(at + 1)});
    if (is_split || sources.size() == 1) continue;
    throw InvalidArgumentError(
        "one of several sources is not for a split of the output",
        {.expected = "one source, or one for each split: train=SRC validation=SRC test=SRC",
         .found = source,
         .remedy = "For an annotation file and its images, add --from, such as --from coco"});
  }
  return splits;
}

int run_annotated(const PackArguments& arguments, PackingArguments& packing, Console& console) {
  std::vector<std::string> names = arguments.names;
  const auto samples =
      open_annotated(arguments.annotated, names, std::exchange(packing.options.root, {}),
                     std::exchange(packing.options.classes, {}), console);
  if (arguments.annotated.dry_run) return print_samples(*samples, console);
  return run_packing(
      [&](const pack::PackOptions& options) {
        return pack::pack_samples(*samples, names.front(), options);
      },
      packing, console);
}

int run(const PackArguments& arguments, Console& console) {
  PackingArguments packing = arguments.packing;
  if (!arguments.split.empty()) packing.options.split = parse_split(arguments.split);
  pack::StoredImages images = arguments.images;
  images.stills.thumb = !arguments.no_thumb;
  packing.options.images = images;
  packing.options.classes = classes_named(arguments.classes, console);
  if (!arguments.provider.empty()) {
    throw InvalidArgumentError(
        "--provider needs the command of the Python package",
        {.remedy = "Run 'python -m fuelrail pack --provider MODULE:NAME OUT'"});
  }
  if (!arguments.annotated.from.empty()) return run_annotated(arguments, packing, console);
  if (arguments.annotated.dry_run || !arguments.annotated.set.empty()) {
    throw InvalidArgumentError("--dry-run and --set apply only to --from", {.remedy = "Omit them"});
  }
  std::vector<std::string> sources = arguments.names;
  if (sources.size() < 2) {
    throw InvalidArgumentError("pack: OUT is required", {.remedy = "See 'fuelrail pack --help'"});
  }
  const std::string output = sources.back();
  sources.pop_back();
  const std::vector<pack::SplitSource> splits = split_sources(sources, find_format(output));
  return run_packing(
      [&](const pack::PackOptions& options) {
        return splits.empty() ? pack::pack(sources.front(), output, options)
                              : pack::pack(splits, output, options);
      },
      packing, console);
}

std::vector<Option> options_of(PackArguments& arguments) {
  pack::PackOptions& options = arguments.packing.options;
  return joined(
      {{{"SRC... OUT", &arguments.names,
         "SRC: folder (one sub-folder per class) or list (.lst, .csv, .tsv); for a {stills} file, "
         "also several, each for a split: train=SRC validation=SRC test=SRC; for annotated images, "
         "what --from names. OUT: file to write; its name ends in {written}",
         true},
        {"--split", &arguments.split,
         "Split the images at random into one file per part, by fractions: train=.9,val=.1"}},
       options_of_table(pack::PackOptions::table(), options, {"seed", "entry_points"}),
       annotated_options(arguments.annotated),
       options_of_table(pack::StoredImages::table(), arguments.images,
                        {"resize", "quality", "decode", "baseline", "crf", "preset", "chroma"}),
       {{"--no-thumb", &arguments.no_thumb, "H.265: store no thumbnails"},
        {"--quality-report", &options.quality_report,
         "H.265: decode each still again, and write its PSNR, SSIM and bytes to this file FILE.md, "
         "to FILE.csv (by image) and to FILE.svg (a plot)"},
        threads_option(options.threads, "read and encode"),
        {"--root", &options.root,
         "Folder that a list's paths are relative to (default: the list's folder)"},
        {"--provider", &arguments.provider,
         "A dataset or data provider written in Python, MODULE:NAME, instead of SRC; see 'fuelrail "
         "pack --provider --help'"},
        classes_option(arguments.classes)},
       packing_options(arguments.packing)});
}

}  // namespace

Command pack_command() {
  return command_of<PackArguments>("pack", "Pack images into a record file", kPackFooter,
                                   options_of, run);
}

}  // namespace fuelrail::cli
