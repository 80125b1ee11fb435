// Packs images into one RecordIO or FFRecord file with its companions.
#pragma once

#include <string>

#include "fuelrail/pack/pack_options.h"
#include "fuelrail/pack/pack_result.h"

namespace fuelrail::pack {

// `source`: a folder with one sub-folder per class, or a list: `.lst` (id TAB label [TAB label
// ...] TAB path), `.csv` or `.tsv` (list_reader.h). Records keep the source's order. A record's id
// is the image's index in the folder, or the id in the list, so that ids are the same in every part
// and do not depend on skipped images.
//
// `output`: `X.rec` for a RecordIO file with the companions `X.idx` (keyed by the ids) and
// `X.rec.frx` (sidecar), or `X.ffr` for an FFRecord file of the same payloads with the companion
// `X.ffr.frx`. Everything below that names `X.rec` also applies to `X.ffr`. part.h explains why an
// existing X.rec is always complete and matches its companions, and how the second of two packers
// of the same output fails at once. The same input gives the same bytes for any number of threads.
//
// Unreadable images are listed in `X.rec.errors.jsonl`, one {"path", "reason"} a line. With several
// parts this file is beside the first part of the run and lists the images of all parts. A job
// without unreadable images removes an old such file. If more images are unreadable than may be
// skipped, nothing more is written, but the remaining images are still checked so that the list is
// complete (up to 10,000). A folder that cannot be listed fails the job, or counts as one skipped
// image if images may be skipped: its class keeps its label, and ids do not count its images.
//
// Parts by fraction get their names together when all of them are complete. Parts by position get
// their names one by one and keep them if a later part fails.
//
// A killed run leaves `.partial` files and a journal of the images that it has processed
// (journal.h). So does a failed run with `resume`. A run with `resume`, of the same source and the
// same options (those that change the result), reads back and checks every image that was left,
// retries the skipped ones, and resumes after the last intact one. Parts that have their names stay
// as they are. If an output exists that no journal attributes to this job (and `overwrite` is
// false), every image is prepared again and compared with its record. If all records, the index and
// the classes are equal, the output stays; otherwise it is an error, as without `resume`. The
// result is, byte for byte, that of an uninterrupted run, provided that the images have not changed
// and every PixelFunction returns the same pixels again. If the files left belong to another job,
// the run warns and starts over; but if an output exists too, this is an error and the files stay.
// "The same source" includes its order, ids, labels and paths.
//
// Memory: at most 64 MiB of encoded images that wait for their turn, and the image whose turn is
// next; the pixels and bytes of one image for each thread; 20 bytes for each record and 16 for each
// image, with `resume` 8 more, and for an output that is compared 8 more and up to 27 more at its
// end; the names in the source, and for a list the labels and 32 bytes for each line.
//
// Errors: NotFoundError if the source does not exist. InvalidArgumentError for an option, a name,
// or a part that would be empty. IoError, also if the output exists and `overwrite` is false, and
// while another job is writing the output. CorruptError for a source without images where they
// should be, for a folder that is not one of `classes`, for a line of a list that cannot be read or
// whose label is not one of `classes` (with the line's number), if more images fail than allowed,
// and if a part has no readable image; that part then has no output, and the report is written.
// StepsError for the first image, in packing order, that the steps cannot process. StateError for
// the first image whose format this machine cannot decode because a codec's library is missing.
PackResult pack(const std::string& source, const std::string& output, const PackOptions& options);

}  // namespace fuelrail::pack
