// The labels of a list of images (`.lst`) by record id, for MXNet's `path_imglist`: they take the
// place of those that are packed with the images. Source: ImageLabelMap of MXNet's
// src/io/image_iter_common.h, ImageDetLabelMap of src/io/iter_image_det_recordio.cc.
//
// Columns are divided by white space, as MXNet's iterators read them: id, labels, path. Of a row
// whose number of labels is given, what follows them is not looked at: a path may hold spaces, or
// be missing. Of any other row, the path begins behind the last TAB that follows a label, as im2rec
// writes it, and so may hold spaces, too (MXNet takes its words for labels); without such a TAB it
// is the last column. (im2rec's own reading of lists, columns divided by tabs, is
// container/files/image_list.h.)
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace fuelrail::mxnet {

// Immutable once made. Threads: any.
class LabelList {
 public:
  // `label_width`: how many labels a row has, at least 1; -1: all columns but the first and the
  // path, one or more. `uri` names the list in errors. Of an id that is there more than once the
  // last row counts. Empty lines are passed over. Errors: InvalidArgumentError for another
  // label_width; CorruptError, with the line, for an id that is no whole number, a label that is no
  // number, and a row with too few columns (MXNet fills those up with 0).
  LabelList(std::string_view text, int64_t label_width, const std::string& uri);

  // Reads a whole list; a byte order mark does not count. Errors: NotFoundError, IoError; those of
  // the constructor.
  static LabelList read(const std::string& uri, int64_t label_width);

  // Lifetime: the list's. Errors: CorruptError when the list has no such id.
  std::span<const float> find(uint64_t id) const;

  // The most labels of a row; 0 for an empty list.
  size_t widest() const { return widest_; }
  size_t size() const { return rows_.size(); }

 private:
  struct Row {
    size_t begin = 0;
    size_t count = 0;
  };

  std::string uri_;
  std::vector<float> labels_;
  std::unordered_map<uint64_t, Row> rows_;
  size_t widest_ = 0;
};

}  // namespace fuelrail::mxnet
