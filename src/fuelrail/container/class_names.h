// The names of a dataset's classes, by label: how they are read, compared and looked up. One table
// of names gives the same numbers to every file that is made or opened with it.
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

// The class names of the file `uri`: of what `open_container` opens by its name (a `.rec`, a folder
// ...), those that it has; of any other file, its text: a name on each line, the first being class
// 0. Spaces around a name and a carriage return do not count, nor do empty lines at the end.
// Errors: NotFoundError; IoError; CorruptError with the line's number for an empty line, a name
// that an earlier line has, and for what is no text; InvalidArgumentError for a file that names no
// class; those of open_container.
std::vector<std::string> read_class_names(const std::string& uri, const OpenOptions& options = {});

// The names of a text as `read_class_names` reads it; `uri` names it in errors.
std::vector<std::string> parse_class_names(std::string_view text, const std::string& uri);

// Errors: InvalidArgumentError for an empty name, and for one that is there twice.
void check_class_names(std::span<const std::string> names);

// Where two tables of class names differ first, as an error says it. Empty: nowhere.
struct ClassDifference {
  std::string expected;  // "'bee' as class 1"
  std::string found;     // "'cat' as class 1", "no class 1: the last is 0", "no class names"
};
std::optional<ClassDifference> first_difference(std::span<const std::string> expected,
                                                std::span<const std::string> found);

// Errors: InvalidArgumentError that says `failure` and the first difference, where `names` is not
// what the container has. `path` names the container.
void check_same_classes(std::span<const std::string> names, const Container& container,
                        const std::string& failure, const std::string& path);

// Labels by name. Lifetime: the names'.
class ClassLabels {
 public:
  explicit ClassLabels(std::span<const std::string> names);

  std::optional<size_t> find(std::string_view name) const;

  // What to do about a name that is not in the table.
  std::string remedy_for(const std::string& name) const;

 private:
  std::span<const std::string> names_;
  std::unordered_map<std::string_view, size_t> labels_;
};

}  // namespace fuelrail
