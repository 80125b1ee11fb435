// The way back: images -> one RecordIO file with its `.idx` and its sidecar.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace fuelrail {

// How many images may fail before the whole job does.
struct MaxErrors {
  uint64_t count = 0;
  double fraction = 0;  // of all images; the larger of both holds
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
  int64_t resize = 0;  // shorter side; never enlarges; 0 = leave
  std::optional<int>
      quality{};  // JPEG quality of what is encoded anew (default 95); given without resize, every
                  // image is encoded anew; absent and no resize: bytes pass through untouched
  bool verify_images = true;  // probe every image, so that what cannot be read is left out now
  std::vector<std::pair<std::string, double>>
      split{};         // empty = one file; else OUT becomes OUT_<name>.rec
  uint64_t seed = 0;   // of the split
  std::string root{};  // for a list: folder that its paths are relative to; default: the list's own
  MaxErrors max_errors{};

  // Speed.
  int threads = 0;  // 0 = default_threads()

  // Called from the packing thread, at most ten times a second and at the end. Returns false to
  // stop: the job then ends with a StateError "interrupted" and leaves no file.
  std::function<bool(const PackProgress&)> progress{};
};

struct PackResult {
  struct File {
    std::string path;
    uint64_t records = 0;
    uint64_t bytes = 0;
  };
  std::vector<File> files;
  std::vector<PackFailure> failures;  // images left out
  std::string report;  // path of the report file (one JSON object a line), empty without failures
};

// `source`: a folder (one sub-folder a class), or a list `.lst` (id TAB label [TAB label...] TAB
// path). The output has its final names only when all of it is complete; for the same input the
// bytes are the same for any number of threads. Errors: NotFoundError; InvalidArgumentError (empty
// source, a list line that is not one, with its number); IoError; CorruptError when more images
// fail than allowed (the report file is written all the same).
PackResult pack(const std::string& source, const std::string& output, const PackOptions& options);

}  // namespace fuelrail
