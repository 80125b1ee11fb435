// From a URI to a container. The table of formats is in formats.cc.
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
  // What the records are, where the file can be read in more than one way. "class_folders": an
  // FFRecord file is a packed folder of class folders, and its files are images with labels
  // (ffrecord/packed_folder.h). Default: what the file says itself.
  std::string schema{};

  // Of a list of images: the folder that its paths are relative to. Default: the list's own. Given
  // for anything else it is an InvalidArgumentError.
  std::string root{};

  // Sidecars are neither read nor written: a record file is scanned, and what only its sidecar
  // knows (class names, unless `classes` gives them; checksums of payloads) is not known. Default:
  // they are used, and made.
  bool ignore_sidecar = false;

  // The names of the classes, by label. A folder and a list get the labels of their classes from
  // it, and it may have more classes than they (class_names.h); a record file whose sidecar is
  // ignored takes them as they are; any other file must have these names itself. Default: what is
  // there says it.
  std::vector<std::string> classes{};

  Warn warn{};             // of a sidecar that is set aside, a cache that cannot be written
  KeepGoing keep_going{};  // asked while a file is scanned or a folder listed

  // Asked by the opening thread about each folder in a folder of images that cannot be read; true
  // goes on without what is in it (its class keeps its label). Default: the error is thrown.
  std::function<bool(const IoError&)> leave_out{};
};

// A `.rec` opens as RecordIO, a `.ffr` as FFRecord, a `.lst`, `.csv` or `.tsv` as the image files
// that it lists (files/list_container.h); a directory with `.ffr` files directly in it as
// these, one after the other by name, and any other as files (one sub-folder a class:
// files/files_container.h). Names in a directory that begin with a dot are passed over, with one
// warning. Errors: NotFoundError; UnsupportedError for a scheme or a format that
// fuelrail does not read, naming those that it does and what the file's first bytes say it is;
// InvalidArgumentError for an unknown schema, for invalid class names or other ones than the file
// has, and for a directory with both `.ffr` files and images; CorruptError and TruncatedError for a
// damaged file; those of the format's own opening; StateError when told to stop.
std::shared_ptr<const Container> open_container(const std::string& uri,
                                                const OpenOptions& options = {});

}  // namespace fuelrail
