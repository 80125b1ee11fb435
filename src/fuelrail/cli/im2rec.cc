// fuelrail im2rec: MXNet's im2rec.py. Makes lists of a folder's images, or packs what lists name.
#include <algorithm>
#include <string>
#include <vector>

#include "fuelrail/base/error.h"
#include "fuelrail/cli/command.h"
#include "fuelrail/cli/packing.h"
#include "fuelrail/cli/signals.h"
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
  bool pack_label = false;
  pack::ImageSteps images{};
  PackingArguments packing{.options = {.mxnet_list = true, .threads = 1}, .max_errors = "1%"};
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
resized (the shorter side, up or down) and encoded, as MXNet's im2rec.py does.

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

int pack_lists(const Im2recArguments& arguments, Console& console) {
  PackingArguments packing = arguments.packing;
  packing.options.images = arguments.images;
  packing.options.first_label_only = !arguments.pack_label;
  packing.options.root = arguments.root;
  int code = kOk;
  for (const std::string& list : lists_of(arguments.prefix)) {
    const std::string output = list.substr(0, list.size() - 4) + ".rec";
    code = std::max(code, run_packing(list, output, packing, console));
  }
  return code;
}

int run(const Im2recArguments& arguments, Console& console) {
  return arguments.list ? make(arguments, console) : pack_lists(arguments, console);
}

std::vector<Option> list_options(Im2recArguments& arguments) {
  using Lists = mxnet::ListOptions;
  static const auto table =
      OptionTable<Lists>()
          .number("chunks", &Lists::chunks, 1, mxnet::kMostChunks, "number of lists.")
          .number("train_ratio", &Lists::train_ratio, 0, 1, "fraction of the images for training.")
          .number("test_ratio", &Lists::test_ratio, 0, 1, "fraction of the images for testing.")
          .flag("recursive", &Lists::recursive,
                "also the folders below; each folder with images is a label.");
  return joined(
      {{{"--list", &arguments.list, "Make lists instead of packing"},
        {"--exts", &arguments.lists.extensions,
         "Names of images end so (default: .jpeg .jpg .png)"}},
       options_of_table(table, arguments.lists,
                        {"chunks", "train_ratio", "test_ratio", "recursive"}),
       {{"--no-shuffle", &arguments.no_shuffle, "Keep the images in the folders' order"}}});
}

std::vector<Option> options_of(Im2recArguments& arguments) {
  return joined(
      {{{"PREFIX", &arguments.prefix, "What the names of the lists begin with", true},
        {"ROOT", &arguments.root, "Folder of the images", true}},
       list_options(arguments),
       options_of_table(pack::ImageSteps::table(), arguments.images,
                        {"pass_through", "color", "center_crop", "resize", "inter_method",
                         "encoding", "quality"}),
       {{"--pack-label", &arguments.pack_label, "Store all labels of a line (default: the first)"},
        threads_option(arguments.packing.options.threads, "read and encode", "--num-thread")},
       packing_options(arguments.packing)});
}

}  // namespace

Command im2rec_command() {
  return command_of<Im2recArguments>(
      "im2rec", "Make lists of images, or record files of lists, as MXNet does", kIm2recFooter,
      options_of, run);
}

}  // namespace fuelrail::cli
