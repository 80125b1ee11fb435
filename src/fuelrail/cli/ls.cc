// fuelrail ls: lists the records of a dataset, one per line.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "fuelrail/base/error.h"
#include "fuelrail/base/json.h"
#include "fuelrail/cli/command.h"
#include "fuelrail/cli/opening.h"
#include "fuelrail/cli/record_info.h"
#include "fuelrail/cli/signals.h"
#include "fuelrail/cli/text.h"

namespace fuelrail::cli {
namespace {

struct LsArguments {
  DatasetArguments dataset;
  std::vector<std::string> ranges;
  bool json = false;
};

std::string labels_text(const std::vector<double>& labels) {
  if (labels.empty()) return "-";
  return fmt::format("{}", fmt::join(labels, ","));
}

// `last`: the last column: the class name and the record's name, or for a folder the image's path,
// which contains both. Annotated images have objects in place of a label.
std::string text_line(uint64_t i, const RecordInfo& info, const std::string& last) {
  const std::string objects =
      info.objects ? fmt::to_string(*info.objects) : labels_text(info.labels);
  const std::string size =
      info.image ? fmt::format("{} x {}", info.image->stored.height, info.image->stored.width)
                 : "-";
  return fmt::format("{:>9} {:>9} {:>7} {:<6} {:>13} {:>10}  {}", i, info.id, objects,
                     info.image ? info.image->format->name : "-", size, info.content_bytes, last);
}

// Labels that are whole numbers become integers, because readers of JSON distinguish integers from
// other numbers.
Json labels_json(const std::vector<double>& labels) {
  std::vector<Json> json;
  for (const double label : labels) {
    if (std::trunc(label) == label && std::abs(label) < 0x1p53) {
      json.emplace_back(static_cast<int64_t>(label));
    } else {
      json.emplace_back(label);
    }
  }
  return json;
}

Json json_line(uint64_t i, const RecordInfo& info, const Place& place) {
  std::vector<Json::Member> line{{"record", i}, {"id", info.id}};
  if (info.objects) {
    line.emplace_back("objects", *info.objects);
  } else {
    line.emplace_back("labels", labels_json(info.labels));
    line.emplace_back("class", info.class_name.empty() ? Json() : Json(info.class_name));
  }
  line.insert(line.end(), {{"name", info.name.empty() ? Json() : Json(info.name)},
                           {"bytes", info.content_bytes},
                           {"path", place.path},
                           {"offset", place.offset}});
  if (info.image) {
    line.insert(line.end(), {{"format", std::string(info.image->format->name)},
                             {"height", info.image->stored.height},
                             {"width", info.image->stored.width},
                             {"orientation", info.image->orientation}});
  }
  return line;
}

// Prints one record after another. Reports and skips damaged records.
class Listing {
 public:
  Listing(const Container& container, bool json, Console& console)
      : container_(container),
        inspector_(container),
        is_folder_(std::string_view(container.format()) == "folder"),
        has_labels_(container.schema().has("label")),
        has_names_(!name_field(container.schema()).empty()),
        json_(json),
        console_(console) {}

  // Returns: whether every record could be read.
  bool print(const std::vector<RecordRange>& ranges) {
    if (!json_) {
      const bool groups =
          std::ranges::any_of(container_.schema().fields,
                              [](const FieldSpec& field) { return field.rows.has_value(); });
      const char* names = has_labels_ ? "class / name" : "name";
      console_.print_line(fmt::format("{:>9} {:>9} {:>7} {:<6} {:>13} {:>10}  {}", "record", "id",
                                      groups && !has_labels_ ? "objects" : "label", "format",
                                      "height x width", "bytes",
                                      is_folder_   ? "path"
                                      : has_names_ ? names
                                                   : "class"));
    }
    for (const RecordRange& range : ranges) {
      for (uint64_t i = range.begin; i < range.end; ++i) {
        throw_if_interrupted();
        print_one(i);
      }
    }
    if (json_) console_.print_line(array_ + "]");
    return all_read_;
  }

 private:
  void print_one(uint64_t i) {
    try {
      const RecordInfo info = inspector_.inspect(i);
      const Place place = container_.place(i);
      if (json_) {
        print_element(json_line(i, info, place).text());
      } else {
        const std::string class_name = info.class_name.empty() ? "-" : info.class_name;
        const std::string last = !has_names_    ? info.class_name
                                 : !has_labels_ ? info.name
                                                : class_name + " / " + info.name;
        console_.print_line(text_line(i, info, is_folder_ ? place.path : last));
      }
    } catch (Error& error) {
      error.add({.path = container_.place(i).path, .record = i});
      all_read_ = false;
      console_.say(error.what());
      if (json_) print_element(Json{{"record", i}, {"error", error.what()}}.text());
    }
  }

  // Prints the previous element, and keeps this one: only the next call, or the end, decides
  // whether a comma follows it.
  void print_element(const std::string& json) {
    if (array_ != "[") console_.print_line(std::exchange(array_, "") + ",");
    array_ += json;
  }

  const Container& container_;
  RecordInspector inspector_;
  bool is_folder_;
  bool has_labels_;
  bool has_names_;
  bool json_;
  Console& console_;
  std::string array_ = "[";  // the part of the array that is not printed yet
  bool all_read_ = true;
};

int run(const LsArguments& arguments, Console& console) {
  const auto container = open_warning(arguments.dataset, console);
  std::vector<RecordRange> ranges;
  for (const std::string& text : arguments.ranges) {
    ranges.push_back(parse_range(text, container->size(), arguments.dataset.uri));
  }
  if (ranges.empty()) ranges.push_back({0, container->size()});
  return Listing(*container, arguments.json, console).print(ranges) ? kOk : kDataProblem;
}

constexpr const char* kLsFooter = R"(
Records are read and checked. For opaque records of more than 32 MiB, only the beginning is read.

Examples:
  fuelrail ls train.{1} | head
  fuelrail ls train.{1} 5:10 -3:
  fuelrail ls train.{1} :1000 --json | jq '.[].bytes')";

std::vector<Option> options_of(LsArguments& arguments) {
  return joined({dataset_options(arguments.dataset),
                 {{"RECORDS", &arguments.ranges,
                   "Record numbers in the form of Python's indices and slices: 7, -1, 5:10, :10, "
                   "-3: (default: all)"},
                  {"--json", &arguments.json, "Print one JSON document: an array of records"}}});
}

}  // namespace

Command ls_command() {
  return command_of<LsArguments>("ls", "List records", kLsFooter, options_of, run);
}

}  // namespace fuelrail::cli
