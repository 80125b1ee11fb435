// A list of images: files with their ids and labels. list_reader.h defines its formats. A path may
// contain spaces; a path that is neither absolute nor a URI is relative to a root folder.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "fuelrail/base/error.h"
#include "fuelrail/base/listener.h"
#include "fuelrail/container/files/list_reader.h"

namespace fuelrail {

class ClassLabels;

// The lines of a list in compact form: their paths, their labels, and 32 bytes per line.
class ImageList {
 public:
  // Reserves memory for all lines of a text, to avoid copies while the list grows.
  void reserve(std::string_view text);

  // Adds a line whose labels are numbers. Errors: CorruptError for a label that is not a number or
  // does not fit into float32; `uri` names the list.
  void add(const ListedLine& line, const std::string& uri);
  // Adds a line whose label is a class name. Requires: one label. Errors: CorruptError for more
  // classes than float32 can number.
  void add_named(const ListedLine& line, const std::string& uri);

  // Call once, after the last line. Replaces each class name by its label: its position in
  // `classes` or, if `classes` is empty, among the list's names in code-point order. Labels that
  // are numbers stay unchanged; if `classes` is given, each must be the position of a class.
  // Errors: CorruptError, with the line, for a label that is not in `classes`. The error lists at
  // most ten unknown names.
  void number_classes(const std::vector<std::string>& classes, const std::string& uri);

  uint64_t size() const { return ids_.size(); }
  uint64_t id(uint64_t i) const { return ids_[i]; }
  uint64_t line(uint64_t i) const { return lines_[i]; }
  std::string_view path(uint64_t i) const;  // as written in the list
  std::span<const float> labels(uint64_t i) const;

  // The class names, by label; empty if labels are numbers without names.
  const std::vector<std::string>& classes() const { return classes_; }

 private:
  struct Name {
    uint64_t number;      // in order of first use
    uint64_t first_line;  // of the list
  };

  void add_image(const ListedLine& line);
  void check_numbers(const std::string& uri) const;
  [[noreturn]] void refuse_unknown(const std::vector<std::string_view>& unknown,
                                   const ClassLabels& table, const std::string& uri) const;

  std::vector<uint64_t> ids_;
  std::vector<uint64_t> lines_;
  std::string paths_;  // one after the other
  std::vector<uint64_t> path_ends_;
  std::vector<float> labels_;  // one after the other; a name's label is at first its Name::number
  std::vector<uint64_t> label_ends_;
  std::unordered_map<std::string, Name> names_;
  std::vector<std::string> classes_;
};

// Which lines of a list are accepted, and how problems are reported.
struct ListRules {
  std::optional<uint64_t> label_width{};  // every line must have this many labels
  // True for a list of MXNet's: a `.lst` whose labels are numbers.
  bool of_mxnet = false;
  // The class names, by label. Default: those of the list.
  std::vector<std::string> classes{};
  // Called for each unusable line; return true to skip it. Default: the error is thrown.
  std::function<bool(const CorruptError&)> leave_out{};
  Warn warn{};  // of unused columns, and of class names that look like numbers
  KeepGoing keep_going{};
};

// A path of a list, with `root` in front unless the path is absolute or a URI.
std::string listed_uri(std::string_view path, const std::string& root);

// `root` or, if that is empty, the list's own folder.
std::string root_of_list(const std::string& uri, const std::string& root);

// The whole text of a list, without a byte order mark. Errors: NotFoundError, IoError.
std::string read_list_text(const std::string& uri);

// Parses a list. Labels are class names if every line has one label and the first label is a word;
// if `rules.classes` is given, they are class names if any label is a word or one of these names.
// Otherwise they are numbers. Lines that cannot be read, or that `rules.label_width` refuses, do
// not count for this decision. `uri` names the list in errors, and its extension selects the
// format. Errors: CorruptError, with the line number, for a line that the format does not allow
// (list_reader.h), for a word in a list of numbers, and for lines that `rules` refuses; StateError
// when `rules.keep_going` returns false.
ImageList parse_image_list(std::string_view text, const std::string& uri,
                           const ListRules& rules = {});

// A warning with the number of repeated ids and the first line that repeats one; empty if no id
// repeats. An id is its record's key in the `.idx`, and readers find only the last record of a
// repeated key.
std::string repeated_ids(const ImageList& images);

// Reads and parses a whole list. Errors: NotFoundError, IoError; those of parse_image_list.
ImageList read_image_list(const std::string& uri, const ListRules& rules = {});

}  // namespace fuelrail
