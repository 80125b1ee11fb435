// Makes lists (`.lst`) of the images of a folder, by the rules of MXNet's `im2rec.py --list`, so
// that the same folder gives the same bytes. The format is that of container/files/image_list.h.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fuelrail/base/listener.h"

namespace fuelrail::mxnet {

constexpr int64_t kMostChunks = 100'000;

struct ListOptions {
  // Of file names, from the last dot on, which must not be the first character; in either case.
  std::vector<std::string> extensions{".jpeg", ".jpg", ".png"};

  // Also the folders below, links followed; the label is then the image's folder: its rank among
  // those with images, in the order in which they are met (files before folders, both by name).
  // Otherwise all labels are 0.
  bool recursive = false;

  bool shuffle = true;  // as `random.seed(100); random.shuffle(rows)` of CPython

  // How many lists: chunk i is rows [i * c, (i + 1) * c) with c = ceil(rows / chunks), and has `_i`
  // in its name where there are several. At least 1.
  uint64_t chunks = 1;

  // Of each chunk, as fractions of c, rounded down: first `_test.lst` (where there is a ratio),
  // then
  // `_train.lst`, and the rest in `_val.lst` unless the two make 1: then a row that rounding leaves
  // over is in no list. A train_ratio of 1 gives one list a chunk, without such a name, and
  // test_ratio does not count.
  double train_ratio = 1;
  double test_ratio = 0;

  bool overwrite = false;  // replace a list that is there; otherwise it is an error

  KeepGoing keep_going{};  // asked at every folder; nothing is written where it ends the work
};

struct MadeLists {
  std::vector<std::string> uris;  // in the order of their rows
  std::vector<std::string>
      folders;  // below the root, by label; "." is the root. Not recursive: none
  uint64_t images = 0;
};

// Writes PREFIX.lst, or as many lists as the options say. A row is id TAB label (six decimals) TAB
// path below `root`; ids count from 0 in the order in which the images are met. No list is written
// before all images are found and all names are free, or may be overwritten.
// Errors: NotFoundError for the root, or when it has no image; InvalidArgumentError for options
// that cannot be, for a path that cannot stand in a list (TAB, line end, space around it), and for
// folders nested deeper than 32; IoError; StateError.
MadeLists make_lists(const std::string& prefix, const std::string& root,
                     const ListOptions& options = {});

}  // namespace fuelrail::mxnet
