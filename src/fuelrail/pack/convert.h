// Converts a record file to the other format (`.rec` to `.ffr`, `.ffr` to `.rec`), or reads it by a
// schema and writes image records.
#pragma once

#include <string>
#include <vector>

#include "fuelrail/pack/pack_result.h"

namespace fuelrail::pack {

// How to read the records of the source.
struct ConvertedAs {
  // As in OpenOptions. The output has an image record for each sample that the schema finds in the
  // source; its format may be either. Default: the source's own records are copied.
  std::string schema{};
  // Only with a schema; as in OpenOptions. Default: the class names of the source.
  std::vector<std::string> classes{};
};

// Copies every record's payload unchanged, in order. Verifies the checksums that the source has.
// Copies the sections of the source's sidecar that cannot be rebuilt (class names).
//
// Lossless: A.rec -> B.ffr -> C.rec gives A.rec again, and C.idx has the same keys as A.idx. An
// index in the form that MXNet's tools and `pack` write is reproduced byte for byte. B's sidecar
// holds the keys only if they differ from those that the records imply: the id in an image's
// header, or the record's number for other records. Without A.idx, C.idx has these implied keys.
//
// With a schema, the output and its companions are, byte for byte, what `pack` without resizing
// makes of the folder that the samples were packed from. Unreadable images are copied too.
//
// The output gets its name as a packed file does (part.h). Memory: the longest record, and 20 bytes
// for each record.
//
// Errors: InvalidArgumentError for names that do not describe a conversion, for a schema that does
// not fit the source, and for classes without a schema. Errors of opening the source. CorruptError
// and TruncatedError for a damaged record. CorruptError for an unusable sidecar beside the source,
// because data that only the sidecar has would be lost. For the source's index: CorruptError, and
// UnsupportedError if the output cannot keep it (keys that are not integers, or entries that are
// not one for each record in order). UnsupportedError for a record that is too long for the
// output's format. IoError as in `pack`. StateError "interrupted" if the caller stops the job.
// After any error there is no output.
PackResult::File convert(const std::string& source, const std::string& output,
                         const JobOptions& options = {}, const ConvertedAs& as = {});

}  // namespace fuelrail::pack
