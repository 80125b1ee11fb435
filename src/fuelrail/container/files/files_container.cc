#include "fuelrail/container/files/files_container.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <optional>
#include <variant>

#include "fuelrail/base/cpu.h"
#include "fuelrail/base/error.h"
#include "fuelrail/base/ordered_work.h"
#include "fuelrail/container/files/folder_scan.h"
#include "fuelrail/container/fingerprint.h"
#include "fuelrail/container/name_end.h"
#include "fuelrail/storage/file_system.h"

namespace fuelrail::files {
namespace {

// The images that fuelrail decodes. A further format is listed here and in decode/.
constexpr std::array<std::string_view, 8> kExtensions{".jpg",  ".jpeg", ".jpe", ".png",
                                                      ".webp", ".bmp",  ".tif", ".tiff"};

constexpr std::chrono::milliseconds kAskEvery(50);  // whether to keep going

class FilesContainer final : public Container {
 public:
  FilesContainer(FileSystem& file_system, std::string root, std::string absolute_root,
                 FolderListing listing)
      : file_system_(file_system),
        root_(std::move(root)),
        absolute_root_(std::move(absolute_root)),
        listing_(std::move(listing)),
        lengths_(listing_.names.size()) {}

  uint64_t size() const override { return listing_.names.size(); }
  const Schema& schema() const override { return schema_; }

  Extent extent(uint64_t i) const override {
    const uint64_t length = length_of(i);
    check_image_length(place(i), length);
    const FileInfo info{.uri = uri_below(absolute_root_, i), .size_bytes = length};
    return {file_system_.open_lazily(info, uri_of(i)), 0, length};
  }

  bool knows_extent(uint64_t i) const override {
    return lengths_[i].load(std::memory_order_relaxed) != 0;
  }

  void parse(uint64_t i, Bytes framed, Sample& out) const override {
    if (framed.size() != length_of(i)) throw_wrong_length(i, framed.size());
    fill_sample(i, framed, listing_.class_of(i), out);
  }

  Place place(uint64_t i) const override { return {.path = uri_of(i), .record = i, .offset = 0}; }

  const std::vector<std::string>& classes() const override { return listing_.classes; }
  const char* format() const override { return "folder"; }
  bool verifies_checksums() const override { return false; }

 private:
  Fingerprint make_fingerprint(const std::function<bool()>& keep_going) const override {
    look_at_all(keep_going);
    FingerprintBuilder builder;
    for (uint64_t i = 0; i < size(); ++i) builder.add(length_if_there(i));
    return builder.result();
  }

  // As it was when it was first asked for. Errors: NotFoundError, IoError.
  uint64_t length_of(uint64_t i) const {
    uint64_t known = lengths_[i].load(std::memory_order_relaxed);
    if (known != 0) return known - 1;
    const uint64_t found = look_at(i) + 1;
    // Of several threads at once the first decides.
    if (lengths_[i].compare_exchange_strong(known, found, std::memory_order_relaxed)) known = found;
    return known - 1;
  }

  // 0 for a file that has gone since the names were listed: a run that skips it has a state to
  // save.
  uint64_t length_if_there(uint64_t i) const {
    try {
      return length_of(i);
    } catch (const NotFoundError&) {
      return 0;
    }
  }

  uint64_t look_at(uint64_t i) const {
    std::optional<FileInfo> info;
    try {
      info = file_system_.stat(uri_below(absolute_root_, i));
    } catch (const IoError& error) {
      ErrorDetail detail = error.detail();
      detail.path = uri_of(i);
      detail.record = i;
      throw IoError(error.failure(), detail);
    }
    if (info) return info->size_bytes;
    throw NotFoundError("no such file or directory", {.path = uri_of(i), .record = i});
  }

  // By several threads: on most file systems the time goes into waiting. Errors: StateError.
  void look_at_all(const std::function<bool()>& keep_going) const {
    constexpr uint64_t kGroup = 512;
    const uint64_t groups = (size() + kGroup - 1) / kGroup;
    OrderedWork<std::monostate> work(
        {.items = groups, .threads = default_threads()},
        [this]() -> OrderedWork<std::monostate>::Worker {
          return [this](uint64_t group) {
            const uint64_t end = std::min((group + 1) * kGroup, size());
            for (uint64_t i = group * kGroup; i < end; ++i) length_if_there(i);
            return std::monostate{};
          };
        },
        [](std::monostate) { return uint64_t{0}; });
    std::chrono::steady_clock::time_point asked{};
    for (uint64_t done = 0; done < groups;) {
      const auto now = std::chrono::steady_clock::now();
      if (keep_going && now - asked >= kAskEvery) {
        if (!keep_going()) throw StateError("interrupted", {.path = root_});
        asked = now;
      }
      done += work.take(kAskEvery).has_value();
    }
  }

  std::string uri_below(const std::string& root, uint64_t i) const {
    return join_uri(join_uri(root, listing_.classes[listing_.class_of(i)]),
                    std::string(listing_.names[i]));
  }
  std::string uri_of(uint64_t i) const { return uri_below(root_, i); }

  [[noreturn]] void throw_wrong_length(uint64_t i, size_t found) const {
    const uint64_t length = length_of(i);
    const ErrorDetail detail{.path = uri_of(i),
                             .record = i,
                             .offset = 0,
                             .expected = fmt::format("{} bytes", length),
                             .found = fmt::format("{}", found)};
    if (found < length) throw TruncatedError("the image file is cut short", detail);
    throw CorruptError("the image file is longer than it was", detail);
  }

  FileSystem& file_system_;
  std::string root_;           // as it was given: for people
  std::string absolute_root_;  // for opening files
  FolderListing listing_;
  mutable std::vector<std::atomic<uint64_t>> lengths_;  // plus 1; 0 = not known yet
  Schema schema_ = image_folder_schema();
};

}  // namespace

bool has_image_extension(std::string_view name) {
  return std::any_of(kExtensions.begin(), kExtensions.end(), [&](std::string_view extension) {
    return ends_with_ignoring_case(name, extension);
  });
}

std::string image_extensions() { return fmt::format("{}", fmt::join(kExtensions, ", ")); }

std::shared_ptr<const Container> open_files(const std::string& uri, const OpenOptions& options) {
  FileSystem& file_system = file_system_for(uri);
  std::string absolute = file_system.absolute(uri);
  FolderListing listing = scan_folder(
      [&file_system](const std::string& folder) { return file_system.list_names(folder); }, uri,
      options);
  return std::make_shared<FilesContainer>(file_system, uri, std::move(absolute),
                                          std::move(listing));
}

}  // namespace fuelrail::files
