// Opens the dataset that the command line names, and prints its warnings.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fuelrail/cli/command.h"
#include "fuelrail/container/container.h"
#include "fuelrail/container/record_file.h"

namespace fuelrail::cli {

// The options that select the dataset.
struct DatasetArguments {
  std::string uri;
  std::string schema;
  std::string root;
  std::string track;
  std::string split;
  bool ignores_sidecar = false;
};

// Returns the options FILE, --schema, --root, --track, --split and --sidecar.
std::vector<Option> dataset_options(DatasetArguments& arguments);
// Returns only the option --schema, for commands whose input is not named FILE.
Option schema_option(std::string& schema);

// Opens the dataset. Also reports each sidecar that it creates, so that no command creates a file
// silently. Errors: those of open_input.
std::shared_ptr<const Container> open_warning(const DatasetArguments& arguments, Console& console);

// The record files in the container: the container itself if it is a record file, and those of its
// parts that are record files. Lifetime: the container outlives the result.
std::vector<const RecordFile*> record_files_of(const Container& container);

// The number of records with entry points of JPEGs, which 'fuelrail index' makes; empty if no file
// of the container can have them.
std::optional<uint64_t> entry_points(const Container& container);

// What would make the images of a dataset faster to load, from a few records spread over it.
struct PossibleGains {
  bool entry_points = false;  // some images have none, and 'fuelrail index' would make some
  bool baseline = false;  // some are progressive JPEGs, and packing with --baseline re-codes them
};
PossibleGains possible_gains(const Container& container);

bool has_images(const Container& container);
// Whether the records are not parsed: they are neither images nor sample records.
bool is_opaque(const Container& container);
// Whether the records are sample records, which may have any fields.
bool has_samples(const Container& container);
// The index of the field that commands show and measure: the first image that is not a mask, a map
// or a partner of another image, or the first field if there is no image.
size_t content_field(const Schema& schema);

}  // namespace fuelrail::cli
