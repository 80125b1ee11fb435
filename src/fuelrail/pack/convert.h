// A record file of one format becomes one of the other: `.rec` -> `.ffr`, `.ffr` -> `.rec`. Or what
// is in a record file by a schema becomes one of image records.
#pragma once

#include <string>
#include <vector>

#include "fuelrail/pack/pack_result.h"

namespace fuelrail::pack {

// What the source's records are.
struct ConvertedAs {
  // As OpenOptions has it: the records of the output are image records made of the samples that the
  // source has by it, and its format is either. Default: the source's own records.
  std::string schema{};
  // With a schema, as OpenOptions has it. Default: the source's own.
  std::vector<std::string> classes{};
};

// Copies every record's payload as it is, in order, and verifies the checksums that the source has
// on the way. What stands in the source's sidecar and cannot be rebuilt (class names) goes along.
//
// Lossless: A.rec -> B.ffr -> C.rec gives A.rec again, and of its index A.idx the same keys; an
// index as MXNet's tools and `pack` write it comes back byte for byte. B's sidecar holds the keys
// where they are not what the records say themselves: the id in an image's header, and of other
// records their number. Without A.idx that is what C.idx has.
//
// With a schema the output is, byte for byte and with all its companions, what `pack` without
// resizing makes of the folder that the samples were packed from; an image that cannot be read is
// copied too.
//
// The output gets its name as a packed file does (part.h). Memory: the longest record, and 20 bytes
// a record.
//
// Errors: InvalidArgumentError for names that say no conversion, for a schema that the source
// does not have, and for classes without a schema; those of opening the source; CorruptError and
// TruncatedError for a damaged record; CorruptError for a sidecar beside the source that cannot be
// used, for what only it knows would be lost; of the source's index: CorruptError, and
// UnsupportedError for one that cannot be kept (keys that are no whole numbers, entries that are
// not one a record in their order); UnsupportedError for a record too long for the output's format;
// IoError as pack; StateError "interrupted" when told to stop. After any of them there is no
// output.
PackResult::File convert(const std::string& source, const std::string& output,
                         const JobOptions& options = {}, const ConvertedAs& as = {});

}  // namespace fuelrail::pack
