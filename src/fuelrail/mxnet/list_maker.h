// Writes lists (`.lst`) of the images in a folder. The rules are those of MXNet's `im2rec.py
// --list`, and the same folder gives the same bytes. container/files/image_list.h has the format.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fuelrail/base/listener.h"

namespace fuelrail::mxnet {

constexpr int64_t kMostChunks = 100'000;

struct ListOptions {
  // The extensions of image files, compared without regard to case. A file's extension begins at
  // its last dot, unless the name begins there.
  std::vector<std::string> extensions{".jpeg", ".jpg", ".png"};

  // Whether to search the subfolders too, following links. If true, an image's label is the number
  // of its folder: the folders that have images are numbered from 0 in the order of the search (in
  // each folder, files before subfolders, both sorted by name). If false, all labels are 0.
  bool recursive = false;

  bool shuffle = true;  // as CPython's `random.seed(100); random.shuffle(rows)` does

  // Number of chunks, 1 to kMostChunks. Chunk i has the rows [i * c, (i + 1) * c), where c =
  // ceil(rows / chunks). If there are several chunks, the names of the lists of chunk i contain
  // `_i`.
  uint64_t chunks = 1;

  // Each chunk is divided into lists: first `_test.lst` with floor(test_ratio * c) rows, unless
  // test_ratio is 0; then `_train.lst` with floor(train_ratio * c) rows; then `_val.lst` with the
  // rest, unless the ratios add up to 1 (rows that remain because of rounding are in no list). With
  // a train_ratio of 1, each chunk is one list without a suffix, and test_ratio is ignored.
  double train_ratio = 1;
  double test_ratio = 0;

  bool overwrite = false;  // true: replace existing lists; false: an existing list is an error

  KeepGoing keep_going{};  // called for each folder; if it stops the work, no list is written
};

struct MadeLists {
  std::vector<std::string> uris;  // the lists, in the order of their rows
  // The folder of each label, relative to the root; "." is the root. Empty if not recursive.
  std::vector<std::string> folders;
  uint64_t images = 0;
};

// Writes PREFIX.lst, or several lists if `chunks` or the ratios divide the rows. A row is id TAB
// label (six decimals) TAB path relative to `root`; ids count from 0 in the order of the search.
// Writes nothing before it has found all images and, unless `overwrite` is set, checked that none
// of the lists exists. Errors: NotFoundError if the root does not exist or has no images;
// InvalidArgumentError for invalid options, for a path that a list cannot hold (it contains a TAB
// or a line end, or begins or ends with white space), and for folders more than 32 levels below the
// root; IoError, including for a list that already exists; StateError if keep_going stops the work.
MadeLists make_lists(const std::string& prefix, const std::string& root,
                     const ListOptions& options = {});

}  // namespace fuelrail::mxnet
