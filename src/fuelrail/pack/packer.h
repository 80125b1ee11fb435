// Packs images into record files with their companions.
#pragma once

#include <string>
#include <vector>

#include "fuelrail/pack/pack_options.h"
#include "fuelrail/pack/pack_result.h"
#include "fuelrail/pack/source/sample_source.h"

namespace fuelrail::pack {

// `source`: a folder with one sub-folder per class, or a list: `.lst` (id TAB label [TAB label
// ...] TAB path), `.csv` or `.tsv` (list_reader.h). Records keep the source's order. A record's id
// is the image's index in the folder or its id in the list. Ids therefore do not depend on the
// parts or on skipped images.
//
// `output`: `X.rec` for a RecordIO file with the companions `X.idx` (keyed by the ids) and
// `X.rec.frx` (sidecar); `X.ffr` for an FFRecord file of the same payloads with the companion
// `X.ffr.frx`; or `X.bzna` for a file of H.265 stills with the companion `X.bzna.frx`. Everything
// below that names `X.rec` also applies to them. part.h explains why an
// existing X.rec is always complete and matches its companions, and why a second job that writes
// the same output fails at once. The same input gives the same bytes for any number of threads.
//
// Unreadable images are listed in the report `X.rec.errors.jsonl`, one {"path", "reason"} a line.
// With several parts, the report is beside the first part of the run and lists the images of all
// parts. A job without unreadable images removes an old report. If more images are unreadable than
// may be skipped, no more records are written, but the remaining images are still checked, so that
// the report is complete (up to 10,000 images). A folder that cannot be listed makes the job fail.
// If images may be skipped, it counts as one skipped image instead: its class keeps its label, and
// ids do not count its images.
//
// Parts by fraction get their names together, when all of them are complete. Parts by position get
// their names one by one, and keep them if a later part fails.
//
// A killed run, or a failed run with `resume`, leaves `.partial` files and a journal of the images
// that it has processed (journal.h). A run with `resume` continues it if the source (its order,
// ids, labels and paths) and the options that change the result are the same: the run reads back
// and checks every stored record, retries the skipped images, and resumes after the last intact
// record. Parts that have their names are kept. If an output exists that no journal attributes to
// this job, and `overwrite` is false, every image is prepared again and compared with its record.
// If all records, the index and the class names are equal, the output is kept; otherwise it is an
// error, as without `resume`. The result is, byte for byte, that of an uninterrupted run, provided
// that the images have not changed and every PixelFunction returns the same pixels again. If the
// unfinished files belong to a different job, the run warns and starts over; but if an output
// exists too, the run fails and keeps the unfinished files.
//
// With `quality_report`, each still that is encoded is decoded again and compared with its image,
// on the thread that encodes it; a still that cannot be decoded counts as an unreadable image.
// Apart from that, the records do not depend on it. A run writes one report, about the images of
// all its parts, after the parts have their names; a run that fails leaves an existing report as it
// is. Images that are packed unchanged, and those of an earlier run that `resume` continues, are
// only counted.
//
// Memory: encoded images that wait for their turn, at most 8 MiB for each thread and 64 MiB
// altogether, plus the image whose turn is next; the pixels and bytes of one image for each thread,
// and for H.265 stills encoders (12 bytes for each pixel of the image, or up to 60 MB for smaller
// images); with `baseline`, for each thread up to 22 bytes for each pixel of an image; 20 bytes for
// each record (120 and its name in a `.bzna` file) and 16 bytes for each image; with `resume`, 8
// more bytes for each image; while an existing output is compared, 8 more bytes for each image, and
// at the end of the comparison up to 27 more bytes for each image; with `quality_report`, 24 more
// bytes for each image, and at its end up to 24 more; the names in the source, and for a list its
// labels and 32 bytes for each line.
//
// Errors: NotFoundError if the source does not exist. InvalidArgumentError for an invalid option or
// name, for a folder that is not one of `classes`, and for a part that would be empty. IoError,
// including an output that exists while `overwrite` is false, and an output that another job is
// writing. CorruptError for a source that has no images, or none in the expected places; for a line
// of a list that cannot be read or whose label is not one of `classes` (with the line's number); if
// more images fail than allowed; and if a part has no readable image. In the last two cases the
// report is written, and the current part has no output. StepsError for the first image, in packing
// order, that the steps cannot process. MissingCodecError for the first image that needs
// a codec which this machine lacks.
PackResult pack(const std::string& source, const std::string& output, const PackOptions& options);

// A source whose images become a split of the output.
struct SplitSource {
  std::string split;  // one of FileFormat::splits of the output's format
  std::string uri;
};

// As above, for several sources: each becomes a split, and their images are packed in this order.
// An image's id is its position among all of them. Unless `options.classes` is given, the class
// names are those of the first source. Errors, besides those of `pack`: InvalidArgumentError for an
// output whose format has no splits, for an unknown split, and for one that is given twice.
PackResult pack(const std::vector<SplitSource>& sources, const std::string& output,
                const PackOptions& options);

// Packs samples of many fields as sample records (container/sample_record.h), into RecordIO or
// FFRecord files. Their class names are stored in the sidecar. Everything above applies to samples
// as to images, except that `options.images` must be StoredImages without `resize` and `quality`;
// `baseline` applies to their image fields; with `verify_images` or `decode`, the header of each
// image is read, and also compared with the boxes, masks and maps that refer to it. Boxes outside
// of their image by more than its size are counted in a warning; with `strict`, they are errors of
// their samples. Samples of a stream (is_stream) cannot be packed with `split`, `nsplit` and
// `resume`, and `max_errors` must be a number.
//
// Lifetime: `samples` outlives the call. Errors, besides those of `pack`: those of SampleRecords
// (source/sample_records.h).
PackResult pack_samples(const SampleSource& samples, const std::string& output,
                        const PackOptions& options, bool strict = false);

}  // namespace fuelrail::pack
