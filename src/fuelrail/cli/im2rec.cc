// fuelrail im2rec, which does the work of MXNet's im2rec.py: writes lists of a folder's images, or
// packs the images of lists.
#include <algorithm>
#include <string>
#include <vector>

#include "fuelrail/base/error.h"
#include "fuelrail/cli/command.h"
#include "fuelrail/cli/packing.h"
#include "fuelrail/cli/signals.h"
#include "fuelrail/mxnet/list_maker.h"
#include "fuelrail/pack/packer.h"
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
  fuelrail im2rec train photos --list --recursive          train.lst; one label per folder
  fuelrail im2rec train photos --resize 256 --num-thread 8  train.rec and train.idx from train.lst
  fuelrail im2rec train photos --pass-through               stores the files unchanged

With --list: lists the images in ROOT in PREFIX.lst (or in several lists), by MXNet's rules and in
MXNet's order. An existing list is replaced only with --overwrite.
Without --list: packs every list whose name begins with PREFIX into a .rec file, and writes its .idx
and sidecar beside it. Paths in a list are relative to ROOT. The records are always in the list's
order, whatever --num-thread is.

As in MXNet's im2rec.py, images are decoded, turned upright (except with --color -1), cropped to the
centre square (with --center-crop), resized by the shorter side, up or down (with --resize), and
encoded.

Images that cannot be read are reported, skipped and listed in OUT.errors.jsonl, and the exit code
is 1. If there are more of them than --max-errors allows, the command stops, but keeps finished
parts. The Python functions fuelrail.mxnet.im2rec and np2rec also take transforms and your own
functions.)";

int make(const Im2recArguments& arguments, Console& console) {
  mxnet::ListOptions options = arguments.lists;
  options.shuffle = !arguments.no_shuffle;
  options.overwrite = arguments.packing.output.overwrite;
  options.keep_going = [] { return !interrupted(); };
  const mxnet::MadeLists made = mxnet::make_lists(arguments.prefix, arguments.root, options);
  for (size_t label = 0; label < made.folders.size(); ++label) {
    console.print_line(made.folders[label] + " " + std::to_string(label));
  }
  for (const std::string& uri : made.uris) console.say("created " + uri);
  return kOk;
}

// The lists that im2rec.py packs: all lists in PREFIX if it is a folder, else all lists whose paths
// begin with PREFIX.
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
    throw NotFoundError("no image list has this prefix",
                        {.path = prefix,
                         .expected = "a path that begins with the prefix and ends in .lst",
                         .remedy = "Create the list with --list"});
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
    const auto pack_list = [&](const pack::PackOptions& options) {
      return pack::pack(list, output, options);
    };
    code = std::max(code, run_packing(pack_list, packing, console));
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
          .number("chunks", &Lists::chunks, 1, mxnet::kMostChunks, "number of lists to write.")
          .number("train_ratio", &Lists::train_ratio, 0, 1, "fraction of the images for training.")
          .number("test_ratio", &Lists::test_ratio, 0, 1, "fraction of the images for testing.")
          .flag("recursive", &Lists::recursive,
                "include sub-folders; each folder that has images becomes a label.");
  return joined(
      {{{"--list", &arguments.list, "Write lists instead of packing"},
        {"--exts", &arguments.lists.extensions,
         "File name extensions of images (default: .jpeg .jpg .png)"}},
       options_of_table(table, arguments.lists,
                        {"chunks", "train_ratio", "test_ratio", "recursive"}),
       {{"--no-shuffle", &arguments.no_shuffle, "List the images in the folders' order"}}});
}

std::vector<Option> options_of(Im2recArguments& arguments) {
  return joined(
      {{{"PREFIX", &arguments.prefix, "Prefix of the lists' names", true},
        {"ROOT", &arguments.root, "Folder of the images", true}},
       list_options(arguments),
       options_of_table(pack::ImageSteps::table(), arguments.images,
                        {"pass_through", "color", "center_crop", "resize", "inter_method",
                         "encoding", "quality"}),
       {{"--pack-label", &arguments.pack_label,
         "Store all labels of each line (default: only the first)"},
        threads_option(arguments.packing.options.threads, "read and encode", "--num-thread")},
       packing_options(arguments.packing)});
}

}  // namespace

Command im2rec_command() {
  return command_of<Im2recArguments>(
      "im2rec", "Write lists of images, or pack the listed images, as MXNet does", kIm2recFooter,
      options_of, run);
}

}  // namespace fuelrail::cli
