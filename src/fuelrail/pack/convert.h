// Converts a record file to another format, or to image records of the samples that a schema finds
// in it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "fuelrail/pack/image/image_steps.h"
#include "fuelrail/pack/pack_result.h"

namespace fuelrail::pack {

// How to read the records of the source.
struct ConvertedAs {
  // As in OpenOptions. The output, in either format, has an image record for each sample that the
  // schema finds in the source. Default: no schema; the source's own records are copied.
  std::string schema{};
  // As in OpenOptions. Allowed only with a schema. Default: the class names of the source.
  std::vector<std::string> classes{};
  // For an output whose records are nested files: as in StoredImages and PackOptions.
  StoredStills stills{};
  std::optional<int> threads{};
};

// Copies every record's payload unchanged, in order, and the sections of the source's sidecar that
// cannot be rebuilt (class names). Verifies the checksums that the source has.
//
// The conversion is lossless: after A.rec -> B.ffr -> C.rec, C.rec equals A.rec, and C.idx has the
// same keys as A.idx. An index in the form that MXNet's tools and `pack` write is reproduced byte
// for byte. B's sidecar holds the keys only if they differ from those that the records imply: for
// an image, the id in its header; for any other record, its number. If there is no A.idx, C.idx has
// these implied keys.
//
// If only the source's records are nested files (RecordContent), each becomes the image of an image
// record, with its label, and with its key as the id; its name is stored in the sidecar. If only
// those of the output are, the images are decoded and encoded again, as by `pack` with these
// options, except images that are nested files already.
//
// With a schema, the output and its companions are, byte for byte, those that `pack` without
// resizing makes from the folder that the samples were packed from. Unreadable images are copied
// too.
//
// The output gets its name as a packed file does (part.h). Memory: that of the longest record, 20
// bytes for each record, and the names that only the sidecar gets. For an output of nested files,
// that of `pack`.
//
// Errors: InvalidArgumentError for a source and an output between which no conversion is needed or
// possible, for a schema that does not fit the source, and for classes without a schema. Errors of
// opening the source. CorruptError and TruncatedError for a damaged record. CorruptError for an
// unusable sidecar beside the source, because data that only the sidecar has would be lost.
// CorruptError for a damaged index, and UnsupportedError for an index that the output cannot keep,
// because a key is not an integer or the index does not have one entry for each record, in order.
// UnsupportedError for a record that is too long for the output's format, and for a label that it
// cannot store. For an output of nested files also the errors of `pack`. IoError as in `pack`.
// StateError "the work was interrupted" if the caller stops the job. A job that fails leaves no
// output, but for nested files `pack`'s report of unreadable images.
PackResult::File convert(const std::string& source, const std::string& output,
                         const JobOptions& options = {}, const ConvertedAs& as = {});

}  // namespace fuelrail::pack
