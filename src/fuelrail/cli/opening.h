// Opening what the command line names, with warnings said.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "fuelrail/cli/command.h"
#include "fuelrail/container/container.h"
#include "fuelrail/container/record_file.h"

namespace fuelrail::cli {

// The dataset that a command opens, as the command line says it.
struct DatasetArguments {
  std::string uri;
  std::string schema;
  std::string root;
  bool ignores_sidecar = false;
};

// FILE, --schema, --root and --sidecar.
std::vector<Option> dataset_options(DatasetArguments& arguments);
// --schema alone, where FILE has another name.
Option schema_option(std::string& schema);

// Says, too, when a sidecar was made, so that no command leaves a file behind in silence. Errors:
// those of open_input.
std::shared_ptr<const Container> open_warning(const DatasetArguments& arguments, Console& console);

// The files with sidecars that the container is made of: itself, those that a folder of them
// joins, or none. Lifetime: the container's.
std::vector<const RecordFile*> record_files_of(const Container& container);

bool is_image(const FieldSpec& field);
bool has_images(const Container& container);
// Which field of a sample is shown and measured: its first image, else its first field.
size_t content_field(const Schema& schema);

}  // namespace fuelrail::cli
