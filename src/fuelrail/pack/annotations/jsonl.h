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

// One sample for each line; empty lines are skipped. The id is the sample's position. The columns
// are fields, in the order of the first line, with the types that jsonl_columns.h finds in the
// whole table. Paths of images are relative to `root`, by default the table's folder. Memory: 24
// bytes for each line.
//
// Warns of a column of text in which some values, but not all, have the extension of an image.
// Errors: NotFoundError; IoError; CorruptError, with the line, for an empty table, those of
// jsonl_columns.h, a member that another line has or lacks, and a line longer than 64 MiB;
// StateError when `keep_going` returns false. `read` has those of set_image, and CorruptError for a
// line that has changed since.
std::unique_ptr<SampleSource> open_jsonl(const std::string& table, const std::string& root = {},
                                         const Warn& warn = {}, const KeepGoing& keep_going = {});

}  // namespace fuelrail::pack
