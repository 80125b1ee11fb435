// A table of samples as text: one JSON object on each line (JSON Lines), all with the same members.
//
//   {"image": "a.jpg", "caption": "A red car.", "box": [10, 20, 30, 40], "score": 0.5}
//   {"image": "b.jpg", "caption": "Two cats.", "box": [1, 2, 3, 4], "score": 1}
#pragma once

#include <memory>
#include <string>

#include "fuelrail/base/listener.h"
#include "fuelrail/pack/source/sample_source.h"

namespace fuelrail::pack {

// One sample for each line; empty lines are skipped. The id is the sample's position. Memory: 24
// bytes for each line. The columns are fields, in the order of the first line. A member that is an
// object counts as a group: {"size": {"x": 1}} is the field `size.x`. The types are those of the
// values in all lines:
//   strings that all have the extension of an image   image: a path relative to `root`, by default
//                                                     the table's folder
//   other strings                                     text
//   numbers                                           tensor: bool, int64 if all are integers, else
//                                                     float32, or float64 if one is over 2**24
//   lists of strings                                  list of image, list of text
//   lists of numbers, also nested                     tensor; extents that differ are -1
//
// Warns of a column of text in which some values, but not all, have the extension of an image; and,
// beside a column of images, of others, which may be masks.
// Errors: NotFoundError; IoError; those of check_fields; StateError when `keep_going` returns
// false; CorruptError, with the line, for an empty table, a line that is not a JSON object or is
// longer than 64 MiB, null, a member that repeats or that another line has or lacks, values of
// several types or numbers of dimensions in a column, nested lists of unequal lengths, a column of
// empty lists, and integers that int64 or, in a column with fractions, float64 do not hold (for an
// integer of more than 64 bits with the column). `read` has those of set_image, and CorruptError
// for a line that has changed since.
std::unique_ptr<SampleSource> open_jsonl(const std::string& table, const std::string& root = {},
                                         const Warn& warn = {}, const KeepGoing& keep_going = {});

}  // namespace fuelrail::pack
