// Opens a container by its URI. The table of formats is in formats.cc.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "fuelrail/base/error.h"
#include "fuelrail/base/listener.h"
#include "fuelrail/container/container.h"

namespace fuelrail {

struct OpenOptions {
  // How to read the records, if a file can be read in more than one way. "class_folders": the
  // FFRecord file is a packed folder with one sub-folder per class; its files are read as images
  // with labels (ffrecord/packed_folder.h). Default: the content of the file decides.
  std::string schema{};

  // The folder that relative paths in a list of images start from. Default: the list's folder. If
  // given for anything but a list of images, an InvalidArgumentError is thrown.
  std::string root{};

  // The image of each record of a `.bzna` file: "bzna_thumb", at most 512 x 512 pixels, or
  // "bzna_input", in full size. Default: the thumbnail or, if a record has none, the other. If
  // given for any other format, an InvalidArgumentError is thrown.
  std::string track{};

  // The part of a `.bzna` file to open: "train", "validation" (or "val") or "test"
  // (bzna/outer_file.h). If given for any other format, an InvalidArgumentError is thrown. Default:
  // the whole file.
  std::string split{};

  // If true, sidecars are neither read nor written. The table of a record file that has none of its
  // own (RecordIO) is made by a scan instead, and the data that only the sidecar holds is
  // unavailable: class names (unless `classes` gives them) and payload checksums. Default: sidecars
  // are read, and those with the table of a file that has none are written if missing.
  bool ignore_sidecar = false;

  // The class names, by label. A folder or a list takes its label numbers from these names and need
  // not use all of them (class_names.h). A record file whose sidecar is ignored gets these names.
  // Any other file must have exactly these names. Default: the dataset's own class names.
  std::vector<std::string> classes{};

  Warn warn{};             // about, for example, an ignored sidecar or an unwritable cache
  KeepGoing keep_going{};  // called while a file is scanned or a folder listed

  // Called, by the opening thread, for each unreadable folder inside a folder of images. Return
  // true to skip the unreadable folder's contents (its class keeps its label), or false to throw
  // the error. Default: the error is thrown.
  std::function<bool(const IoError&)> leave_out{};
};

// Opens a `.rec` as RecordIO, a `.ffr` as FFRecord, a `.bzna` as Benzina's format, and a `.lst`,
// `.csv` or `.tsv` as the image files that it lists (files/list_container.h). A directory that
// directly contains `.ffr` files opens as these files, joined in the order of their names. Any
// other directory opens as image files, one sub-folder per class (files/files_container.h). Names
// in a directory that begin with a dot are skipped, with one warning. Errors: NotFoundError;
// UnsupportedError for a scheme or format that fuelrail does not read, with the supported ones and
// a guess at the file's type from its first bytes; InvalidArgumentError for an unknown schema, for
// invalid class names or names that differ from the file's, and for a directory with both `.ffr`
// files and images; CorruptError and TruncatedError for a damaged file; those of the format;
// StateError when `keep_going` returns false.
std::shared_ptr<const Container> open_container(const std::string& uri,
                                                const OpenOptions& options = {});

}  // namespace fuelrail
