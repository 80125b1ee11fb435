// Rows of quoted fields (`.csv`, `.tsv`), and the lists of images in these formats.
#include <string>
#include <string_view>
#include <vector>

#include "fuelrail/container/files/csv_rows.h"
#include "fuelrail/container/files/image_list.h"
#include "fuzzing.h"

namespace {

using namespace fuelrail;
using fuzzing::require;
using Rows = std::vector<std::vector<std::string>>;

Rows rows_of(std::string_view text, char divider) {
  CsvRows rows(text, divider, "fuzzed.csv");
  Rows all;
  uint64_t line = 0;
  for (std::vector<std::string> fields; rows.next(fields);) {
    require(!fields.empty(), "a row has a field");
    require(rows.line() > line, "lines count up");
    line = rows.line();
    all.push_back(fields);
  }
  return all;
}

std::string quoted(const Rows& rows, char divider) {
  std::string text;
  for (const std::vector<std::string>& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) {
      if (i > 0) text += divider;
      text += '"';
      for (const char c : row[i]) text += c == '"' ? "\"\"" : std::string(1, c);
      text += '"';
    }
    text += '\n';
  }
  return text;
}

void check_rows(std::string_view text, char divider) {
  Rows rows;
  if (!fuzzing::succeeds([&] { rows = rows_of(text, divider); })) return;
  require(rows_of(quoted(rows, divider), divider) == rows, "written in quotes, rows are the same");
}

// Unreadable rows are skipped, and every row keeps its number.
void check_list(std::string_view text, const std::string& uri) {
  uint64_t left_out = 0;
  const ListRules rules{.leave_out = [&](const CorruptError&) { return ++left_out > 0; }};
  ImageList images;
  if (!fuzzing::succeeds([&] { images = parse_image_list(text, uri, rules); })) return;
  for (uint64_t i = 0; i < images.size(); ++i) {
    require(images.id(i) >= i && images.id(i) <= i + left_out, "an id is the row's number");
    require(!images.path(i).empty() && images.labels(i).size() == 1, "a row is an image");
    const bool named = images.classes().empty() ||
                       images.labels(i)[0] < static_cast<float>(images.classes().size());
    require(named, "a word's label is the number of a class");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const char divider : {',', '\t'}) check_rows(text, divider);
  check_list(text, "fuzzed.csv");
  check_list(text, "fuzzed.tsv");
  return 0;
}
