// Reads and compares class names (the names of a dataset's labels), and finds the label of a name.
// Files that are packed or opened with the same class names have the same label numbers.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "fuelrail/container/container.h"
#include "fuelrail/container/open.h"

namespace fuelrail {

// The class names of a dataset: those of the field `label` or, if that has none, those of the other
// label fields. Empty if no field has any. Errors: InvalidArgumentError with the first difference
// if fields have different names.
const std::vector<std::string>& only_class_names(const Container& container);

// Reads class names from `uri`. If `uri` is a dataset that `open_container` recognizes by its name
// (such as a `.rec` or a folder), returns its only_class_names. Any other file is read as text: one
// name per line, class 0 first. Spaces around a name, carriage returns and empty lines at
// the end are ignored. Errors: NotFoundError; IoError; CorruptError for a file that is not text
// and, with the line number, for an empty line or a repeated name; InvalidArgumentError if there
// are no class names; those of only_class_names and open_container.
std::vector<std::string> read_class_names(const std::string& uri, const OpenOptions& options = {});

// Parses a text as `read_class_names` does. `uri` names the text in errors.
std::vector<std::string> parse_class_names(std::string_view text, const std::string& uri);

// Checks a table of class names. Errors: InvalidArgumentError for an empty or a repeated name.
void check_class_names(std::span<const std::string> names);

// The first difference between two tables of class names, as texts for an error. `first_difference`
// returns an empty optional if the tables are equal.
struct ClassDifference {
  std::string expected;  // "'bee' as class 1"
  std::string found;     // "'cat' as class 1", "no class 1 (the last class is 0)"
};
std::optional<ClassDifference> first_difference(std::span<const std::string> expected,
                                                std::span<const std::string> found);

// Checks that the container's only_class_names are `names`. Errors: InvalidArgumentError with the
// text `failure`, the container's `path` and the first difference.
void check_same_classes(std::span<const std::string> names, const Container& container,
                        const std::string& failure, const std::string& path);

// Finds labels by class name. Lifetime: `names` outlives it.
class ClassLabels {
 public:
  explicit ClassLabels(std::span<const std::string> names);

  std::optional<size_t> find(std::string_view name) const;

  // The remedy in an error about a name that is not in the table.
  std::string remedy_for(const std::string& name) const;

 private:
  std::span<const std::string> names_;
  std::unordered_map<std::string_view, size_t> labels_;
};

}  // namespace fuelrail
