// Writes lists (`.lst`) of the images in a folder by the rules of MXNet's `im2rec.py --list`: the
// same folder gives the same bytes. container/files/image_list.h has the format.
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

  // Whether to search the folders below too, following links. The label of an image is then the
  // number of its folder among those with images, in the order of the search (files before
  // folders, both by name). Otherwise all labels are 0.
  bool recursive = false;

  bool shuffle = true;  // as CPython's `random.seed(100); random.shuffle(rows)`

  // Number of chunks, at least 1. Chunk i has the rows [i * c, (i + 1) * c), where c = ceil(rows /
  // chunks). If there are several chunks, the names of its lists contain `_i`.
  uint64_t chunks = 1;

  // Each chunk is divided into lists: first `_test.lst` with floor(test_ratio * c) rows, unless
  // test_ratio is 0; then `_train.lst` with floor(train_ratio * c) rows; then `_val.lst` with the
  // rest, unless the ratios add up to 1 (rows left over by rounding are then in no list). With a
  // train_ratio of 1, each chunk is one list without such a suffix, and test_ratio is ignored.
  double train_ratio = 1;
  double test_ratio = 0;

  bool overwrite = false;  // replace existing lists; otherwise they are an error

  KeepGoing keep_going{};  // called for each folder; if it stops the work, nothing is written
};

struct MadeLists {
  std::vector<std::string> uris;  // of the lists, in the order of their rows
  // The folder of each label, relative to the root; "." is the root. Empty if not recursive.
  std::vector<std::string> folders;
  uint64_t images = 0;
};

// Writes PREFIX.lst, or several lists if the options say so. A row is id TAB label (six decimals)
// TAB path relative to `root`; ids count from 0 in the order of the search. Writes no list before
// all images are found and all output names are known to be free (or may be overwritten). Errors:
// NotFoundError if the root does not exist or has no images; InvalidArgumentError for invalid
// options, for a path that a list cannot hold (with a TAB, a line end, or white space at its
// beginning or end), and for folders nested deeper than 32; IoError, also for an output that
// already exists; StateError if keep_going stops the work.
MadeLists make_lists(const std::string& prefix, const std::string& root,
                     const ListOptions& options = {});

}  // namespace fuelrail::mxnet
