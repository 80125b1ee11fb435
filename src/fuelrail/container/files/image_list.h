// A list of images: which files, with which ids and labels. Its formats are in list_reader.h. A
// path may hold spaces; one that is neither absolute nor a URI is relative to a root folder.
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

// The lines of a list, closely packed: their paths, their labels, and 32 bytes each.
class ImageList {
 public:
  // Takes memory for all lines of a text at once: what grows is there twice while it does.
  void reserve(std::string_view text);

  // Of a list whose labels are numbers. Errors: CorruptError for one that is not, or that float32
  // cannot hold; `uri` names the list.
  void add(const ListedLine& line, const std::string& uri);
  // Of a list whose labels are names of classes. Requires: one label. Errors: CorruptError for more
  // classes than float32 can number.
  void add_named(const ListedLine& line, const std::string& uri);

  // Once, after the last line. Names become labels: those of `classes`, or, where that is empty,
  // their rank among the list's names in code-point order. Labels that are numbers stay, and are
  // numbers of `classes`, where there are some. Errors: CorruptError with the line for a label that
  // is not of `classes`; of names that are not, it lists the first ten.
  void number_classes(const std::vector<std::string>& classes, const std::string& uri);

  uint64_t size() const { return ids_.size(); }
  uint64_t id(uint64_t i) const { return ids_[i]; }
  uint64_t line(uint64_t i) const { return lines_[i]; }
  std::string_view path(uint64_t i) const;  // as it is written
  std::span<const float> labels(uint64_t i) const;

  // Their names, by label; empty where labels are numbers that nobody has named.
  const std::vector<std::string>& classes() const { return classes_; }

 private:
  struct Name {
    uint64_t number;      // in the order in which they are met
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
  std::vector<float> labels_;  // one after the other; of names, until all are known, their number
  std::vector<uint64_t> label_ends_;
  std::unordered_map<std::string, Name> names_;
  std::vector<std::string> classes_;
};

// Which lines of a list will do, and what is said of them.
struct ListRules {
  std::optional<uint64_t> label_width{};  // every line must have so many labels
  // The list is one of MXNet's: a `.lst`, whose labels are numbers.
  bool of_mxnet = false;
  // The names of the classes, by label. Default: those that the list has.
  std::vector<std::string> classes{};
  // Asked of each line that cannot be used; true passes over it. Default: it is thrown.
  std::function<bool(const CorruptError&)> leave_out{};
  Warn warn{};  // of columns that are not used, and of names that look like numbers
  KeepGoing keep_going{};
};

// A path of a list, with the root in front unless it is absolute or a URI.
std::string listed_uri(std::string_view path, const std::string& root);

// `root`, or, when that is empty, the list's own folder.
std::string root_of_list(const std::string& uri, const std::string& root);

// The whole text of a list, without a byte order mark. Errors: NotFoundError, IoError.
std::string read_list_text(const std::string& uri);

// The labels are names of classes where every line has one label and the first is a word; with
// given classes, where any is a word or one of these. Else they are numbers. Lines that cannot be
// read, or that `rules.label_width` refuses, do not count. `uri` names the list in errors, and says
// by its end which format it has. Errors: CorruptError with the line's number for a line that the
// format does not allow (list_reader.h), for a word in a list of numbers, and for what `rules`
// refuses; StateError when told to stop.
ImageList parse_image_list(std::string_view text, const std::string& uri,
                           const ListRules& rules = {});

// What to tell the user when ids are there more than once: how many, and the first line. An id is
// the key of its record in the `.idx`, where the last record of a key is the one that readers find.
// Returns: empty when every id is there once.
std::string repeated_ids(const ImageList& images);

// Reads and parses a whole list. Errors: NotFoundError, IoError; those of parse_image_list.
ImageList read_image_list(const std::string& uri, const ListRules& rules = {});

}  // namespace fuelrail
