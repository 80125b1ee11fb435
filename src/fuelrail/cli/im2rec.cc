// fuelrail im2rec: MXNet's im2rec.py. Makes lists of a folder's images, or packs what lists name.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fuelrail/base/error.h"
#include "fuelrail/cli/command.h"
#include "fuelrail/cli/packing.h"
#include "fuelrail/cli/signals.h"
#include "fuelrail/cli/text.h"
#include "fuelrail/mxnet/list_maker.h"
#include "fuelrail/storage/file_system.h"

namespace fuelrail::cli {
namespace {

struct Im2recArguments {
  std::string prefix;
  std::string root;
  bool list = false;
  mxnet::ListOptions lists;
  bool no_shuffle = false;
  bool pass_through = false;
  bool pack_label = false;
  pack::ImageSteps images{};
  int color = 1;
  int inter_method = 1;
  std::string encoding = ".jpg";
  std::optional<int> quality;
  int threads = 1;
  PackingArguments packing{.max_errors = "1%"};
};

constexpr const char* kIm2recFooter = R"(
Examples:
  fuelrail im2rec train photos --list --recursive          train.lst; one label a folder
  fuelrail im2rec train photos --resize 256 --num-thread 8  train.rec and train.idx of train.lst
  fuelrail im2rec train photos --pass-through               the files' own bytes

With --list: makes PREFIX.lst (or several) of the images in ROOT, by MXNet's rules and in its order. A
list that is there already is only replaced with --overwrite.
Without: packs every list whose name begins with PREFIX, each into a .rec with its .idx and sidecar
beside it. Paths in a list are relative to ROOT. The records are in the list's order, whatever
--num-thread says.

Images are decoded, turned upright (not with --color -1), cut to the middle square (--center-crop),
resized (the shorter side, up or down) and encoded, as MXNet's im2rec.py does. Images with alpha need
--encoding .png where --color is -1; as JPEG they end the command.

What cannot be read is named, left out and listed in OUT.errors.jsonl, and the exit code is 1; beyond
--max-errors the command stops, and parts that are finished stay. From Python: fuelrail.mxnet.im2rec
and np2rec, with transforms and functions of your own.)";

int make(const Im2recArguments& arguments, Console& console) {
  mxnet::ListOptions options = arguments.lists;
  options.shuffle = !arguments.no_shuffle;
  options.overwrite = arguments.packing.output.overwrite;
  options.keep_going = [] { return !interrupted(); };
  const mxnet::MadeLists made = mxnet::make_lists(arguments.prefix, arguments.root, options);
  for (size_t label = 0; label < made.folders.size(); ++label) {
    console.print_line(made.folders[label] + " " + std::to_string(label));
  }
  for (const std::string& uri : made.uris) console.say(uri + " is made");
  return kOk;
}

// As im2rec.py: the lists in PREFIX, where it is a folder, or beside it, whose names begin with it.
std::vector<std::string> lists_of(const std::string& prefix) {
  FileSystem& files = file_system_for(prefix);
  const std::string from = files.absolute(prefix);
  const auto info = files.stat(from);
  const bool is_folder = info && info->is_directory;
  const size_t slash = from.rfind('/');
  const std::string folder = is_folder || slash == std::string::npos ? from : from.substr(0, slash);
  std::vector<std::string> lists;
  for (const FileInfo& file : files.list(folder.empty() ? "/" : folder)) {
    if (!file.is_directory && file.uri.ends_with(".lst") &&
        (is_folder || file.uri.starts_with(from))) {
      lists.push_back(file.uri);
    }
  }
  if (lists.empty()) {
    throw NotFoundError("there is no list of this prefix",
                        {.path = prefix,
                         .expected = "a file whose name begins so and ends in .lst",
                         .remedy = "Make one with --list"});
  }
  return lists;
}

pack::ImageSteps steps_of(const Im2recArguments& arguments) {
  pack::ImageSteps steps = arguments.images;
  if (arguments.pass_through) steps.keep = pack::ImageSteps::Keep::kAll;
  steps.color = static_cast<pack::ColorMode>(arguments.color);
  steps.rule = static_cast<pack::ResizeRule>(arguments.inter_method);
  steps.encoding =
      arguments.encoding == ".png" ? pack::ImageEncoding::kPng : pack::ImageEncoding::kJpeg;
  steps.quality = arguments.quality;
  return steps;
}

int pack_lists(const Im2recArguments& arguments, Console& console) {
  int code = kOk;
  for (const std::string& list : lists_of(arguments.prefix)) {
    pack::PackOptions options{.images = steps_of(arguments),
                              .mxnet_list = true,
                              .first_label_only = !arguments.pack_label,
                              .root = arguments.root,
                              .threads = arguments.threads};
    const std::string output = list.substr(0, list.size() - 4) + ".rec";
    code =
        std::max(code, run_packing(list, output, std::move(options), arguments.packing, console));
  }
  return code;
}

int run(const Im2recArguments& arguments, Console& console) {
  return arguments.list ? make(arguments, console) : pack_lists(arguments, console);
}

std::vector<Option> list_options(Im2recArguments& arguments) {
  mxnet::ListOptions& lists = arguments.lists;
  return {{"--list", &arguments.list, "Make lists instead of packing"},
          {"--exts", &lists.extensions, "Names of images end so (default: .jpeg .jpg .png)"},
          {"--chunks", &lists.chunks, "Number of lists (default 1)"},
          {"--train-ratio", &lists.train_ratio, "Fraction of the images for training (default 1)"},
          {"--test-ratio", &lists.test_ratio, "Fraction of the images for testing (default 0)"},
          {"--recursive", &lists.recursive,
           "Also the folders below; each folder with images is a label"},
          {"--no-shuffle", &arguments.no_shuffle, "Keep the images in the folders' order"}};
}

std::vector<Option> image_options(Im2recArguments& arguments) {
  return {
      {"--pass-through", &arguments.pass_through,
       "Store the files as they are; what is no image is left out"},
      {"--resize", &arguments.images.shorter_side,
       "Make the shorter side N pixels (default: leave it)"},
      {"--center-crop", &arguments.images.center_crop,
       "Cut out the middle square, before resizing"},
      {"--quality", &arguments.quality,
       "Of a JPEG 1 to 100 (default 95), of a PNG its compression, 0 to 9 (default 9)"},
      {.names = "--color",
       .target = &arguments.color,
       .help = "1 colour, 0 grey, -1 as the file is stored (default 1)",
       .choices = {"-1", "0", "1"}},
      {.names = "--encoding",
       .target = &arguments.encoding,
       .help = "Of the images: .jpg (default) or .png",
       .choices = {".jpg", ".png"}},
      {.names = "--inter-method",
       .target = &arguments.inter_method,
       .help = "Of resizing: 0 nearest, 1 bilinear (default), 2 cubic, 3 area, 4 Lanczos, 9 "
               "cubic to enlarge and area to shrink, 10 random",
       .choices = {"0", "1", "2", "3", "4", "9", "10"}},
      {"--pack-label", &arguments.pack_label, "Store all labels of a line (default: the first)"}};
}

std::vector<Option> options_of(Im2recArguments& arguments) {
  return joined({{{"PREFIX", &arguments.prefix, "What the names of the lists begin with", true},
                  {"ROOT", &arguments.root, "Folder of the images", true}},
                 list_options(arguments),
                 image_options(arguments),
                 {{"--num-thread", &arguments.threads,
                   "Threads that read and encode, at most 1024 (default 1)"}},
                 packing_options(arguments.packing)});
}

}  // namespace

Command im2rec_command() {
  return command_of<Im2recArguments>(
      "im2rec", "Make lists of images, or record files of lists, as MXNet does", kIm2recFooter,
      options_of, run);
}

}  // namespace fuelrail::cli
