#include "fuelrail/mxnet/list_maker.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include "fuelrail/base/error.h"
#include "fuelrail/mxnet/python_random.h"
#include "fuelrail/storage/file_system.h"

namespace fuelrail::mxnet {
namespace {

constexpr uint64_t kShuffleSeed = 100;  // the seed that im2rec.py uses

struct MadeRow {
  uint64_t id;
  uint64_t label;
  std::string path;  // relative to the root
};

std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

// The extension of a name, from its last dot on, in lower case. Dots at the beginning of the name
// do not count: ".jpg" has no extension.
std::string extension_in(std::string_view name) {
  const size_t begin = name.find_first_not_of('.');
  const size_t dot = name.rfind('.');
  if (begin == name.npos || dot == name.npos || dot < begin) return "";
  return lower_case(name.substr(dot));
}

void check_options(const ListOptions& options) {
  if (options.chunks < 1 || options.chunks > kMostChunks) {
    throw InvalidArgumentError(
        "`chunks` is out of range",
        {.expected = fmt::format("1 to {}", kMostChunks), .found = fmt::to_string(options.chunks)});
  }
  const double train = options.train_ratio, test = options.test_ratio;
  constexpr double kRounding = 1e-9;  // allows for the rounding of decimal ratios
  if (!(train >= 0 && train <= 1 && test >= 0 && test <= 1) ||
      (train != 1 && train + test > 1 + kRounding)) {
    throw InvalidArgumentError("the train and test ratios are out of range",
                               {.expected = "two numbers from 0 to 1 with a sum of at most 1",
                                .found = fmt::format("train {}, test {}", train, test)});
  }
  for (const std::string& extension : options.extensions) {
    if (extension.size() >= 2 && extension.rfind('.') == 0) continue;
    throw InvalidArgumentError(
        "the file extension is invalid",
        {.expected = "one dot followed by one or more characters, such as '.jpg'",
         .found = fmt::format("'{}'", extension)});
  }
}

class ImageFinder {
 public:
  ImageFinder(std::string root, const ListOptions& options)
      : file_system_(file_system_for(root)), root_(std::move(root)), options_(options) {
    for (const std::string& extension : options.extensions) {
      extensions_.push_back(lower_case(extension));
    }
  }

  void find() { look_into("", 0); }

  std::vector<MadeRow> rows;
  std::vector<std::string> folders;

 private:
  // `below`: a folder relative to the root, with a slash at its end unless it is empty.
  void look_into(const std::string& below, int depth) {
    constexpr int kMaxDepth = 32;
    const std::string folder =
        below.empty() ? root_ : join_uri(root_, below.substr(0, below.size() - 1));
    if (depth > kMaxDepth) {
      throw InvalidArgumentError(
          "folders are nested too deeply",
          {.path = folder,
           .expected = fmt::format("at most {} levels below the root", kMaxDepth),
           .remedy = "Look for a link to a parent folder, and remove that link"});
    }
    check_keep_going(options_.keep_going, root_);
    std::vector<std::string> folders_below;
    bool labelled = false;
    for (const FileInfo& info : file_system_.list(folder)) {
      std::string name = base_name(info.uri);
      if (info.is_directory) {
        folders_below.push_back(std::move(name));
      } else if (is_image(name)) {
        if (!labelled) folders.push_back(below.empty() ? "." : below.substr(0, below.size() - 1));
        labelled = true;
        rows.push_back({rows.size(), options_.recursive ? folders.size() - 1 : 0, below + name});
        check_path(rows.back().path);
      }
    }
    if (!options_.recursive) return;
    for (const std::string& name : folders_below) look_into(below + name + "/", depth + 1);
  }

  bool is_image(std::string_view name) const {
    const std::string extension = extension_in(name);
    return std::find(extensions_.begin(), extensions_.end(), extension) != extensions_.end();
  }

  void check_path(const std::string& path) const {
    constexpr std::string_view kSpace = " \t\r\n\v\f";
    if (path.find_first_of("\t\r\n") == path.npos && kSpace.find(path.front()) == kSpace.npos &&
        kSpace.find(path.back()) == kSpace.npos) {
      return;
    }
    throw InvalidArgumentError(
        "the file's path cannot be stored in an image list",
        {.path = join_uri(root_, path),
         .expected = "a path that has no TAB or line end, and no white space at either end",
         .remedy = "Rename the file"});
  }

  FileSystem& file_system_;
  std::string root_;
  const ListOptions& options_;
  std::vector<std::string> extensions_;
};

// One list of a chunk: the suffix of its name, and its rows in the chunk.
struct Share {
  std::string_view end;
  uint64_t begin;
  uint64_t count;
};

// `rows`: number of rows in a chunk; the last chunk may have fewer.
std::vector<Share> shares_of(uint64_t rows, const ListOptions& options) {
  if (options.train_ratio == 1) return {{".lst", 0, rows}};
  const auto train = static_cast<uint64_t>(static_cast<double>(rows) * options.train_ratio);
  const auto test = static_cast<uint64_t>(static_cast<double>(rows) * options.test_ratio);
  std::vector<Share> shares;
  if (options.test_ratio != 0) shares.push_back({"_test.lst", 0, test});
  shares.push_back({"_train.lst", test, train});
  if (options.train_ratio + options.test_ratio < 1) {
    shares.push_back({"_val.lst", test + train, rows});
  }
  return shares;
}

std::string list_uri(const std::string& prefix, uint64_t chunk, const Share& share,
                     const ListOptions& options) {
  return fmt::format("{}{}{}", prefix, options.chunks > 1 ? fmt::format("_{}", chunk) : "",
                     share.end);
}

void refuse_existing(const std::string& prefix, const ListOptions& options) {
  if (options.overwrite) return;
  for (uint64_t chunk = 0; chunk < options.chunks; ++chunk) {
    check_keep_going(options.keep_going, prefix);
    for (const Share& share : shares_of(0, options)) {
      const std::string uri = list_uri(prefix, chunk, share, options);
      if (is_file(uri)) throw_existing(uri);
    }
  }
}

void write_list(const std::string& uri, std::span<const MadeRow> rows, bool overwrite) {
  constexpr size_t kWriteBytes = size_t{1} << 20;
  const std::unique_ptr<Sink> sink = file_system_for(uri).create(uri);
  std::string text;
  for (const MadeRow& row : rows) {
    text += fmt::format("{}\t{:.6f}\t{}\n", row.id, static_cast<double>(row.label), row.path);
    if (text.size() < kWriteBytes) continue;
    sink->write(as_bytes(text));
    text.clear();
  }
  sink->write(as_bytes(text));
  if (overwrite) {
    sink->commit();
  } else if (!sink->commit_new()) {
    throw_existing(uri);  // created by another process in the meantime
  }
}

}  // namespace

MadeLists make_lists(const std::string& prefix, const std::string& root,
                     const ListOptions& options) {
  check_options(options);
  refuse_existing(prefix, options);
  ImageFinder found(root, options);
  found.find();
  if (found.rows.empty()) {
    throw NotFoundError(
        "the folder has no images",
        {.path = root,
         .expected = fmt::format("files that end in {}", fmt::join(options.extensions, ", ")),
         .remedy = options.recursive ? "Check the path and the extensions"
                                     : "Set the option `recursive` to search the subfolders too"});
  }
  refuse_existing(prefix, options);  // again, for files created in the meantime
  if (options.shuffle) PythonRandom(kShuffleSeed).shuffle(found.rows);
  MadeLists made{.uris = {}, .folders = {}, .images = found.rows.size()};
  if (options.recursive) made.folders = std::move(found.folders);
  const uint64_t nominal = (made.images + options.chunks - 1) / options.chunks;
  const std::span<const MadeRow> rows = found.rows;
  for (uint64_t chunk = 0; chunk < options.chunks; ++chunk) {
    for (const Share& share : shares_of(nominal, options)) {
      const uint64_t end = std::min((chunk + 1) * nominal, made.images);
      const uint64_t begin = std::min(chunk * nominal + share.begin, end);
      made.uris.push_back(list_uri(prefix, chunk, share, options));
      write_list(made.uris.back(), rows.subspan(begin, std::min(share.count, end - begin)),
                 options.overwrite);
    }
  }
  return made;
}

}  // namespace fuelrail::mxnet
