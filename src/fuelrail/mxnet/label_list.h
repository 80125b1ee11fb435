// The labels in an image list (`.lst`), found by record id, for MXNet's `path_imglist`. They
// replace the labels that are stored in the records. Source: MXNet's ImageLabelMap
// (src/io/image_iter_common.h) and ImageDetLabelMap (src/io/iter_image_det_recordio.cc).
//
// Columns are separated by white space, as in MXNet's iterators: id, labels, path. If the number of
// labels is given, the text after them is ignored, so the path may contain spaces or be missing.
// Otherwise the path begins after the last TAB that follows a label, as im2rec writes it, and may
// contain spaces (MXNet reads the words of such a path as labels). If no TAB follows a label, the
// path is the last column. (container/files/image_list.h reads lists as im2rec does, with columns
// separated by TABs.)
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace fuelrail::mxnet {

// Immutable. Threads: any.
class LabelList {
 public:
  // `label_width`: number of labels in a row, at least 1; -1: all columns between the id and the
  // path, of which each row needs at least one. `uri` names the list in errors. If several rows
  // have the same id, the last one is used. Empty lines are skipped. Errors: InvalidArgumentError
  // for any other label_width; CorruptError with the line number for an id that is not a whole
  // number, a label that is not a number, and a row with too few columns (MXNet fills the missing
  // labels with 0).
  LabelList(std::string_view text, int64_t label_width, const std::string& uri);

  // Reads the list at `uri`; a byte order mark is skipped. Errors: NotFoundError, IoError; those of
  // the constructor.
  static LabelList read(const std::string& uri, int64_t label_width);

  // The labels of record `id`. Lifetime: the list's. Errors: CorruptError if the list does not have
  // the id.
  std::span<const float> find(uint64_t id) const;

  // The largest number of labels in a row; 0 for an empty list.
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
