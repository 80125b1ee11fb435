// The way back: images -> one RecordIO or FFRecord file with what belongs beside it.
#pragma once

#include <string>

#include "fuelrail/pack/pack_options.h"
#include "fuelrail/pack/pack_result.h"

namespace fuelrail::pack {

// `source`: a folder (one sub-folder a class), or a list: `.lst` (id TAB label [TAB label ...] TAB
// path), `.csv` or `.tsv` (list_reader.h). Records keep the source's order; a record's id is the
// image's index in the folder, or the list's id, so that ids stay the same in every part and
// whatever is left out.
//
// `output`: `X.rec`, a RecordIO file, beside which come `X.idx` (keyed by the ids) and the sidecar
// `X.rec.frx`; or `X.ffr`, an FFRecord file of the same payloads, beside which comes `X.ffr.frx`,
// and all that follows is said of it, too. part.h says how an X.rec can never be there without
// being whole and theirs, and how of two packers of one output the second gives up at once. For the
// same input the bytes are the same for any number of threads. Images that cannot be read are
// listed in `X.rec.errors.jsonl` (with several parts: beside the run's first one, for all of them),
// one {"path", "reason"} a line; a job without any removes an old such file. Where there are more
// than may be left out, nothing more is written, but the images that are left are looked at, too,
// so that the list has all (up to 10,000). A folder that cannot be listed fails the job, or, where
// images may be left out, counts as one of them: its class keeps its label, and ids count without
// what is in it.
//
// Parts by fraction get their names together, when all are complete; parts by position one by one,
// and those that have one keep it whatever comes after.
//
// A killed run leaves `.partial` files, and a journal of the images that it has dealt with
// (journal.h), as does one with `resume` that fails. A run with `resume`, of the same source and
// options (those that change the result), reads back and checks what is there, image for image,
// tries those that were left out again, and goes on behind the last one that is as it should be.
// Parts that have their names stay as they are. Where nothing says whose an output is that is there
// (and `overwrite` is not given), every image is prepared once more and compared with its record:
// where all are the same, and so are index and classes, the output stays; otherwise it is an error
// as without `resume`. The result is, byte
// for byte, that of a run that was never stopped, as long as the images have not changed and a
// PixelFunction gives the same pixels again. Where what was left is of another job it says so and
// begins anew, but where an output is there: then it is an error, and what was left stays. The
// order of the source, its ids, labels and paths, are part of what must be the same.
//
// Memory: at most 64 MiB of images that wait for their turn, and the one whose turn is next; the
// pixels and bytes of one image a thread, 20 bytes a record and 16 an image; with `resume` 8 more,
// and of an output that is compared 8 more and up to 27 at its end; and what is known of the
// source: its names, and of a list the labels and 32 bytes a line.
//
// Errors: NotFoundError; InvalidArgumentError (an option, a name, a part that would be empty);
// IoError (also: the output is there and `overwrite` is not given; another pack is writing it);
// CorruptError for a source that has no images where they should be, for a folder that
// is not of `classes`, for a line of a list that cannot be read or whose label is not of `classes`,
// with its number, and when more images fail than allowed or a part is left without any: then
// there is no output of that part, and the report; StepsError for the first image, in the order
// of packing, that the steps cannot do; StateError for the first whose format this machine cannot
// decode, because a codec's library is missing.
PackResult pack(const std::string& source, const std::string& output, const PackOptions& options);

}  // namespace fuelrail::pack
