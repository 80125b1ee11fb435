#include "fuelrail/split/split_uri.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <regex>
#include <string_view>

#include "fuelrail/base/error.h"

namespace fuelrail::split {
namespace {

constexpr int kMaxDirectoryDepth = 32;

// The limit for one item. Several links to a parent directory would multiply the number of
// directories at each level.
constexpr size_t kMaxDirectories = 100'000;

// Matches in polynomial time; a backtracking matcher takes exponential time for some patterns. This
// syntax does not support references to groups (\1), which file names do not need.
#ifdef __GLIBCXX__
constexpr auto kPatternSyntax = std::regex::ECMAScript | std::regex_constants::__polynomial;
#else
constexpr auto kPatternSyntax = std::regex::ECMAScript;
#endif

// Allows at most nine digits in numbers such as \1 and {1,2}: libstdc++ overflows for longer ones.
// Errors: std::regex_error.
std::regex compiled(std::string_view pattern) {
  constexpr size_t kMostDigits = 9;
  constexpr std::string_view kDigits = "0123456789";
  for (size_t at = pattern.find_first_of("\\{,"); at < pattern.size();
       at = pattern.find_first_of("\\{,", at + 1)) {
    const size_t end = std::min(pattern.find_first_not_of(kDigits, at + 1), pattern.size());
    if (end - at - 1 > kMostDigits && (pattern[at] != ',' || pattern.find('{') < at)) {
      throw std::regex_error(std::regex_constants::error_badbrace);
    }
  }
  return std::regex(pattern.begin(), pattern.end(), kPatternSyntax);
}

[[noreturn]] void throw_bad_uri(const std::string& uri, const std::string& failure,
                                const std::string& remedy) {
  throw InvalidArgumentError(
      failure, {.path = uri, .expected = "item;item?key=value&key=value#cache", .remedy = remedy});
}

std::vector<std::string> divided_at(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (size_t begin = 0;;) {
    const size_t end = text.find(separator, begin);
    parts.emplace_back(text.substr(begin, end - begin));
    if (end == std::string_view::npos) return parts;
    begin = end + 1;
  }
}

// The text before the separator, and the text after it if there is a separator.
struct Divided {
  std::string before;
  std::optional<std::string> after;
};
Divided divided_once(const std::string& text, char separator, const std::string& uri) {
  std::vector<std::string> parts = divided_at(text, separator);
  if (parts.size() > 2) {
    throw_bad_uri(uri, fmt::format("the URI has '{}' more than once", separator),
                  fmt::format("Rename files that have '{}' in their names", separator));
  }
  Divided divided{std::move(parts[0]), std::nullopt};
  if (parts.size() == 2) divided.after = std::move(parts[1]);
  return divided;
}

std::pair<std::string, std::string> argument_of(const std::string& text, const std::string& uri) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) {
    throw_bad_uri(uri, "an argument of the URI is not of the form key=value",
                  "Write ?key=value&key=value");
  }
  return {text.substr(0, equals), text.substr(equals + 1)};
}

std::string without_slashes_at_end(std::string item) {
  while (item.size() > 1 && item.back() == '/' && !item.ends_with("://")) item.pop_back();
  return item;
}

bool is_own_file(std::string_view uri) {
  return uri.ends_with(".frx") || uri.ends_with(".partial");
}

// Whether `name` looks like a pattern. A '.' does not count, because most names have one.
bool is_pattern(std::string_view name) {
  return name.find_first_of("^$\\*+?()[]{}|") != std::string_view::npos;
}

// The directory of `uri`, with its slash, and the name or expression after it.
std::pair<std::string, std::string> directory_and_name(const std::string& uri) {
  const size_t slash = uri.rfind('/');
  const std::string directory = slash == uri.npos ? "" : uri.substr(0, slash + 1);
  return {directory, uri.substr(directory.size())};
}

// Finds the files of one item of the list. `place`: text for errors that says which item it is;
// empty if there is only one.
class ItemFiles {
 public:
  ItemFiles(bool recurse, std::string place, SplitListing& found)
      : recurse_(recurse), place_(std::move(place)), found_(found) {}

  // Whether the item names a file, even an empty one.
  bool names_any() const { return names_any_; }

  void find(const std::string& item) {
    if (item == "stdin") {
      throw UnsupportedError(
          "standard input cannot be read in parts",
          {.path = item, .remedy = "Write the input to a file, and give the path of that file"});
    }
    FileSystem& files = file_system_for(item);
    const std::optional<FileInfo> info = files.stat(without_slashes_at_end(item));
    if (info && info->is_directory) {
      add_directory(files, *info);
    } else if (info) {
      found_.places.push_back({*info, ""});
      add(*info);
    } else {
      add_matching(files, item);
    }
  }

 private:
  void add(const FileInfo& file) {
    names_any_ = true;
    if (file.size_bytes != 0) found_.files.push_back(file);
  }

  // Adds the files of a directory, and with `recurse_` those below, level by level.
  void add_directory(FileSystem& files, const FileInfo& directory) {
    std::vector<FileInfo> level{directory};
    size_t directories = 0;
    for (int depth = 0; !level.empty(); ++depth) {
      directories += level.size();
      if (depth == kMaxDirectoryDepth || directories > kMaxDirectories) {
        throw InvalidArgumentError(
            "there are too many directories, or they are nested too deeply",
            {.path = level.front().uri,
             .expected = fmt::format("at most {} levels and {} directories in all",
                                     kMaxDirectoryDepth, kMaxDirectories),
             .remedy = "Look for a link to a parent directory, and remove that link"});
      }
      std::vector<FileInfo> below;
      for (const FileInfo& listed : level) {
        found_.places.push_back({listed, ""});
        for (const FileInfo& entry : files.list(listed.uri)) {
          if (entry.is_directory) {
            below.push_back(entry);
          } else if (!is_own_file(entry.uri)) {
            add(entry);
          }
        }
      }
      level.clear();
      if (recurse_) level = std::move(below);
    }
  }

  void add_matching(FileSystem& files, const std::string& item) {
    const auto [directory, name] = directory_and_name(item);
    const auto info = directory.empty() ? std::nullopt : files.stat(directory);
    bool matched = false;
    if (info && info->is_directory && !name.empty()) {
      found_.places.push_back({*info, name});
      for (const FileInfo& entry : matching(files, directory, name, item)) {
        matched = true;
        add(entry);
      }
    }
    if (matched) return;
    if (!is_pattern(name)) {
      throw NotFoundError(fmt::format("no such file or directory{}", place_), {.path = item});
    }
    throw NotFoundError(
        fmt::format("no file has this name or matches this pattern{}", place_),
        {.path = item,
         .remedy = "Write a pattern as DIRECTORY/REGULAR_EXPRESSION, for example ./part-.* "
                   "instead of part-*"});
  }

  static std::vector<FileInfo> matching(FileSystem& files, const std::string& directory,
                                        const std::string& name, const std::string& item) {
    std::vector<FileInfo> matches;
    try {
      const std::regex pattern = compiled(name);
      for (const FileInfo& entry : files.list(directory)) {
        if (!entry.is_directory && std::regex_match(base_name(entry.uri), pattern)) {
          matches.push_back(entry);
        }
      }
    } catch (const std::regex_error& error) {
      throw InvalidArgumentError(
          "no file has this name, and the name is not a valid regular expression",
          {.path = item, .expected = "an ECMAScript regular expression", .found = error.what()});
    }
    return matches;
  }

  const bool recurse_;
  const std::string place_;
  SplitListing& found_;
  bool names_any_ = false;
};

}  // namespace

SplitUri parse_split_uri(const std::string& uri) {
  SplitUri parsed;
  const Divided with_cache = divided_once(uri, '#', uri);
  if (with_cache.after) {
    parsed.cache = *with_cache.after;
    if (parsed.cache.empty()) {
      throw_bad_uri(uri, "the URI has no cache file name after '#'",
                    "Add a name, or remove the '#'");
    }
  }
  const Divided with_arguments = divided_once(with_cache.before, '?', uri);
  if (with_arguments.after) {
    for (const std::string& argument : divided_at(*with_arguments.after, '&')) {
      parsed.arguments.push_back(argument_of(argument, uri));
    }
  }
  parsed.items = divided_at(with_arguments.before, ';');
  if (parsed.items.size() > 1 && parsed.items.back().empty()) parsed.items.pop_back();
  for (const std::string& item : parsed.items) {
    if (item.empty()) {
      throw_bad_uri(uri, "an item of the list is empty", "Remove the extra ';'");
    }
  }
  return parsed;
}

SplitListing find_split_files(const SplitUri& uri, bool recurse_directories) {
  SplitListing found;
  const size_t count = uri.items.size();
  bool names_any = false;
  for (size_t i = 0; i < count; ++i) {
    const std::string place = count == 1 ? "" : fmt::format(" (item {} of {})", i + 1, count);
    ItemFiles item(recurse_directories, place, found);
    item.find(uri.items[i]);
    names_any = names_any || item.names_any();
  }
  if (!names_any) {
    throw NotFoundError("the directory has no files",
                        {.path = uri.items.front(),
                         .remedy = "Give the directories that contain the files, or set "
                                   "recurse_directories if the reader has this option"});
  }
  if (found.files.empty()) {
    throw NotFoundError("every file is empty",
                        {.path = uri.items.front(), .remedy = "Give files that are not empty"});
  }
  return found;
}

bool would_find_split_file(const std::vector<SplitPlace>& places, const std::string& file) {
  FileSystem& files = file_system_for(file);
  const auto identity = [&files](const std::string& uri) -> std::optional<std::string> {
    const std::optional<FileInfo> info = files.stat(uri);
    return info ? std::optional(identity_of(*info)) : std::nullopt;
  };
  const auto [directory, name] = directory_and_name(file);
  const auto own = identity(file);
  const auto around = identity(directory.empty() ? "." : directory);
  return std::any_of(places.begin(), places.end(), [&](const SplitPlace& place) {
    const std::string wanted = identity_of(place.where);
    if (!place.where.is_directory) return own == wanted;
    if (around != wanted) return false;
    if (place.pattern.empty()) return !is_own_file(name);
    // A file whose name equals the pattern is used instead of files that match it.
    return name == place.pattern || std::regex_match(name, compiled(place.pattern));
  });
}

}  // namespace fuelrail::split
