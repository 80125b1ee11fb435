// `fuelrail pack --from`: annotated images as samples of many fields.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "fuelrail/cli/command.h"
#include "fuelrail/pack/source/sample_source.h"

namespace fuelrail::cli {

struct AnnotatedArguments {
  std::string from;  // coco, voc, masks or jsonl; empty: images without annotations
  std::string set;   // of VOC
  bool dry_run = false;
};

// Returns the options --from, --set and --dry-run.
std::vector<Option> annotated_options(AnnotatedArguments& arguments);

// Opens the samples that `names` are the files and folders of. Removes these from `names`; the
// output is left. `root` and `classes`: as in PackOptions. Errors: InvalidArgumentError for an
// unknown --from, for the wrong number of names, and for an option that does not apply; those of
// the source.
std::unique_ptr<pack::SampleSource> open_annotated(const AnnotatedArguments& arguments,
                                                   std::vector<std::string>& names,
                                                   const std::string& root,
                                                   const std::vector<std::string>& classes,
                                                   Console& console);

// Prints the fields, the classes, the numbers of samples and of what cannot be packed, and the
// first sample as JSON. Returns: an ExitCode. Errors: those of the first sample.
int print_samples(const pack::SampleSource& samples, Console& console);

}  // namespace fuelrail::cli
