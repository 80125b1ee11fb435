#include "fuelrail/cli/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "fuelrail/base/error.h"
#include "fuelrail/base/parse_number.h"
#include "fuelrail/container/formats.h"

namespace fuelrail::cli {
namespace {

[[noreturn]] void refuse(const std::string& failure, const std::string& expected,
                         std::string_view found) {
  throw InvalidArgumentError(failure, {.expected = expected, .found = fmt::format("'{}'", found)});
}

// The position of one end of a slice, clipped to [0, records]; `otherwise` if `text` is empty.
uint64_t bound(std::string_view text, uint64_t records, uint64_t otherwise,
               std::string_view whole) {
  if (text.empty()) return otherwise;
  const std::optional<int64_t> index = parse_number<int64_t>(text);
  if (!index) refuse("the range of records is invalid", "7, -1, 5:10, :10 or -3:", whole);
  const auto size = static_cast<int64_t>(records);
  return static_cast<uint64_t>(std::clamp(*index < 0 ? *index + size : *index, int64_t{0}, size));
}

RecordRange one_record(std::string_view text, uint64_t records, std::string_view dataset) {
  const std::optional<int64_t> index = parse_number<int64_t>(text);
  if (!index) refuse("the record number is invalid", "7, -1, 5:10, :10 or -3:", text);
  const auto size = static_cast<int64_t>(records);
  if (*index >= size || *index < -size) {
    throw OutOfRangeError(records == 0
                              ? "the record number is out of range, because there are no records"
                              : "the record number is out of range",
                          {.path = std::string(dataset),
                           .expected = records == 0 ? "" : fmt::format("0 to {}", records - 1),
                           .found = std::string(text)});
  }
  const auto begin = static_cast<uint64_t>(*index < 0 ? *index + size : *index);
  return {begin, begin + 1};
}

}  // namespace

std::string grouped(uint64_t number) {
  std::string digits = fmt::to_string(number);
  for (size_t at = digits.size(); at > 3;) {
    at -= 3;
    digits.insert(at, 1, ',');
  }
  return digits;
}

std::string human_bytes(uint64_t bytes) {
  constexpr std::array kUnits{"kB", "MB", "GB", "TB", "PB", "EB"};
  if (bytes < 1000) return fmt::format("{} byte{}", bytes, bytes == 1 ? "" : "s");
  auto value = static_cast<double>(bytes);
  size_t unit = 0;
  for (value /= 1000; value >= 999.95 && unit + 1 < kUnits.size(); ++unit) value /= 1000;
  return fmt::format("{:.1f} {}", value, kUnits[unit]);
}

std::string clock_time(double seconds) {
  const auto whole = static_cast<uint64_t>(std::llround(std::clamp(seconds, 0.0, 3.6e8)));
  const uint64_t minutes = whole / 60 % 60;
  if (whole < 3600) return fmt::format("{}:{:02}", minutes, whole % 60);
  return fmt::format("{}:{:02}:{:02}", whole / 3600, minutes, whole % 60);
}

std::string counted(uint64_t number, std::string_view thing) {
  return fmt::format("{} {}{}", grouped(number), thing, number == 1 ? "" : "s");
}

std::string progress_line(std::string_view verb, std::string_view things, uint64_t done,
                          uint64_t total, double seconds) {
  const bool bytes = things == "bytes";
  const double rate = static_cast<double>(done) / std::max(seconds, 1e-3);
  const auto amount = [&](uint64_t n) { return bytes ? human_bytes(n) : grouped(n); };
  std::string text = fmt::format("{} {}", verb, amount(done));
  if (total > 0) text += " of " + amount(total);
  if (!bytes) text += fmt::format(" {}", things);
  if (total > 0) {
    text +=
        fmt::format(" ({:.0f} %)", 100 * static_cast<double>(done) / static_cast<double>(total));
  }
  text += fmt::format(", {}/s", amount(static_cast<uint64_t>(rate)));
  if (done > 0 && done < total) {
    text += fmt::format(", {} left", clock_time(static_cast<double>(total - done) / rate));
  }
  return text;
}

std::string with_formats(std::string help) {
  std::vector<std::string> written;
  std::string schema, with_schema, schemas;
  for (const FileFormat* format : all_formats()) {
    if (can(*format, FormatWork::kWrite)) written.emplace_back(format->extension);
    if (format->schema.name.empty()) continue;
    schema = format->schema.name;
    with_schema = format->extension;
    schemas += fmt::format("{}{}: a {} is {}", schemas.empty() ? "" : "; ", schema, with_schema,
                           format->schema.meaning);
  }
  const std::pair<std::string_view, std::string> tokens[] = {
      {".{1}", written.front()},
      {".{2}", written[std::min<size_t>(1, written.size() - 1)]},
      {".{s}", with_schema},
      {"{schema}", schema},
      {"{stills}", extensions_with(RecordContent::kNestedFile)},
      {"{written}", extensions_for(FormatWork::kWrite)},
      {"{copied}", extensions_for(FormatWork::kCopy)},
      {"{recovered}", extensions_for(FormatWork::kSalvage)},
      {"{indexed}", extensions_for(FormatWork::kIndex)},
      {"{known}", known_formats()},
      {"{schemas}", schemas},
      {"{existing}",
       "If OUT, its index or its sidecar already exists, the command does nothing and exits with "
       "code 3.\nWith --overwrite, the old file is replaced once the new one is completely on the "
       "disk."}};
  for (const auto& [token, value] : tokens) {
    for (size_t at = help.find(token); at != help.npos; at = help.find(token)) {
      help.replace(at, token.size(), value);
    }
  }
  return help;
}

std::vector<std::pair<std::string, double>> parse_split(std::string_view text) {
  std::vector<std::pair<std::string, double>> split;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    const std::string_view part = text.substr(begin, end - begin);
    const size_t equals = part.find('=');
    const std::optional<double> fraction = equals == std::string_view::npos
                                               ? std::nullopt
                                               : parse_number<double>(part.substr(equals + 1));
    if (!fraction || equals == 0) {
      refuse("`--split` is invalid", "NAME=FRACTION[,NAME=FRACTION...], such as train=.9,val=.1",
             text);
    }
    split.emplace_back(part.substr(0, equals), *fraction);
    begin = end + 1;
  }
  return split;
}

Allowance parse_allowance(std::string_view text) {
  if (text.ends_with('%')) {
    const std::optional<double> percent = parse_number<double>(text.substr(0, text.size() - 1));
    if (percent) {
      // Parsed again with exponent -2 if possible, because `*percent / 100` is not always the
      // double nearest to the number.
      const std::string moved = std::string(text.substr(0, text.size() - 1)) + "e-2";
      return {.count = 0, .fraction = parse_number<double>(moved).value_or(*percent / 100)};
    }
  } else if (const std::optional<uint64_t> count = parse_number<uint64_t>(text)) {
    return {.count = *count, .fraction = 0};
  }
  refuse("`--max-errors` is invalid", "a count (12) or a percentage (1.5%)", text);
}

RecordRange parse_range(std::string_view text, uint64_t records, std::string_view dataset) {
  const size_t colon = text.find(':');
  if (colon == std::string_view::npos) return one_record(text, records, dataset);
  const uint64_t begin = bound(text.substr(0, colon), records, 0, text);
  const uint64_t end = bound(text.substr(colon + 1), records, records, text);
  return {begin, std::max(begin, end)};
}

}  // namespace fuelrail::cli
