// The tables of a `.bzna` file: the location of each record, and the labels. A `.bzna` file is an
// MP4 file whose track `bzna_input` has the records as its samples, and whose track `bzna_target`
// has their labels, in the same order (docs/formats/bzna.md).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fuelrail/container/record_split.h"
#include "fuelrail/mp4/movie.h"
#include "fuelrail/mp4/nested_file.h"
#include "fuelrail/storage/source.h"

namespace fuelrail::bzna {

// Immutable. Memory: 20 bytes per record.
struct RecordTable {
  mp4::SampleTable records;
  std::vector<int64_t> labels{};  // of the first records; the others have no label

  uint64_t size() const { return records.size(); }
  int64_t label(uint64_t i) const { return i < labels.size() ? labels[i] : mp4::kNoLabel; }
};

// Reads the tables. Reads only the tracks that it uses, and no record. Errors: TruncatedError for a
// file whose end is missing, with its tables; UnsupportedError for a file of another type, with a
// description of it; CorruptError for tables that contradict each other or the file; those of the
// source.
RecordTable read_record_table(const Source& source);

// The name of a split's own track: "bzna_input_train".
std::string track_of(std::string_view track, std::string_view split);

// The splits that have a track of their own, such as `bzna_input_train`. Errors: as for
// records_of_split.
std::vector<RecordSplit> stored_splits(const Source& source, const RecordTable& table);

// The names of a dataset's parts: "train", "validation", "val" (the same) and "test".
std::vector<std::string_view> split_names();

// Returns the numbers of the records of a part, in order. If the file has a track for the part
// (`bzna_input_train`), these are the records of that track. Otherwise the number of records must
// be that of ImageNet: the last 100,000 records are the test part and the 50,000 before them the
// validation part; of 1,431,086 records (Benzina's documentation, where 81 images are missing),
// 99,993 and 49,999. Requires: `split` is one of split_names(). Errors: InvalidArgumentError for a
// file that has neither the track nor more than 150,000 records; CorruptError for a track with a
// sample that is not a record; those of read_record_table.
std::vector<uint64_t> records_of_split(const Source& source, const RecordTable& table,
                                       std::string_view split);

}  // namespace fuelrail::bzna
