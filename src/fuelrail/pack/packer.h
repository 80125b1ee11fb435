// The way back: images -> one RecordIO or FFRecord file with what belongs beside it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace fuelrail {

// How many images may be left out because they cannot be read, before the whole job fails.
struct MaxErrors {
  uint64_t count = 0;
  double fraction = 0;  // of the images to be packed, rounded down; the larger of both holds

  // How many of `images` that is. The fraction counts as the decimal number that it was written as:
  // 0.29 of 100 images is 29, though the double is a little less.
  uint64_t of(uint64_t images) const;
};

struct PackProgress {
  uint64_t done = 0;  // images, also those left out
  uint64_t total = 0;
  uint64_t bytes = 0;  // written
  double seconds = 0;
};

struct PackFailure {
  std::string path;
  std::string reason;
};

struct PackOptions {
  // Results.
  int64_t resize = 0;            // shorter side; never enlarges; 0 = leave
  std::optional<int> quality{};  // JPEG quality, 1 to 100, of what is encoded anew (default 95);
                                 // given, every image is; image_preparer.h has the whole rule
  bool verify_images = true;     // probe what passes through, so that what is no image is found now
  // Random parts by name and fraction (container/subset.h); empty = one file. What the fractions
  // leave is left out. With OUT = `X.rec`, part `train` becomes `X_train.rec`.
  std::vector<std::pair<std::string, double>> split{};
  uint64_t seed = 0;   // of the split
  std::string root{};  // for a list: folder that its paths are relative to; default: the list's own
  MaxErrors max_errors{};
  // Replace an output, or what would go with one (part.h), that is there; otherwise it is an error.
  bool overwrite = false;

  // Speed.
  int threads = 0;  // that read, decode and encode; at most 1,024; 0 = default_threads()

  // Called from the calling thread, at most ten times a second and at the end. Returns false to
  // stop: the job then ends with a StateError "interrupted" and leaves no file.
  std::function<bool(const PackProgress&)> progress{};

  // Asked by the calling thread while a folder is listed, before there is any progress, every 50
  // ms; false stops the job as `progress` does. Default: never asked.
  std::function<bool()> keep_going{};

  // What is said to the user without failing: files in the folder that are no images, folders that
  // hold something else than class folders, as it seems, ids that are in a list more than once.
  // Called from the calling thread. Default: said to nobody.
  std::function<void(const std::string&)> warn{};
};

struct PackResult {
  struct File {
    std::string path;
    uint64_t records = 0;
    uint64_t bytes = 0;
  };
  std::vector<File> files;            // in the order of the split
  std::vector<PackFailure> failures;  // folders, then images left out, in the source's order
  uint64_t unassigned = 0;            // images that no part of the split takes
  std::string report;                 // path of the report file; empty without failures
};

// `source`: a folder (one sub-folder a class), or a list `.lst` (id TAB label [TAB label ...] TAB
// path; image_list.h). Records keep the source's order; a record's id is the image's index in the
// folder, or the list's id, so that ids stay the same in every part and whatever is left out.
//
// `output`: `X.rec`, a RecordIO file, beside which come `X.idx` (keyed by the ids) and the sidecar
// `X.rec.frx`; or `X.ffr`, an FFRecord file of the same payloads, beside which comes `X.ffr.frx`,
// and all that follows is said of it, too. part.h says how an X.rec can never be there without
// being whole and theirs, and how of two packers of one output the second gives up at once. For the
// same input the bytes are the same for any number of threads. Images that cannot be read are
// listed in `X.rec.errors.jsonl` (with a split: beside its first part, `X_train.rec.errors.jsonl`,
// for all parts), one {"path", "reason"} a line; a job without any removes an old such file. A
// folder that cannot be listed fails the job, or, where images may be left out, counts as one of
// them: its class keeps its label, and ids count without what is in it.
//
// Memory: at most 64 MiB of images that wait for their turn, the pixels and bytes of one image a
// thread, and 20 bytes a record.
//
// Errors: NotFoundError; InvalidArgumentError (an option, a name, a part that would be empty);
// IoError (also: the output is there and `overwrite` is not given; another pack is writing it);
// CorruptError for a source that has no images where they should be, for a list line that is none,
// with its number, and when more images fail than allowed or a part is left without any: then there
// is no output, and the report.
PackResult pack(const std::string& source, const std::string& output, const PackOptions& options);

}  // namespace fuelrail
