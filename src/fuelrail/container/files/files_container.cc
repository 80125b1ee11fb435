#include "fuelrail/container/files/files_container.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "fuelrail/base/endian.h"
#include "fuelrail/base/error.h"
#include "fuelrail/container/fingerprint.h"
#include "fuelrail/storage/file_system.h"

namespace fuelrail::files {
namespace {

// The images that fuelrail decodes. A further format is listed here and in decode/.
constexpr std::array<std::string_view, 8> kExtensions{".jpg",  ".jpeg", ".jpe", ".png",
                                                      ".webp", ".bmp",  ".tif", ".tiff"};

constexpr int kMaxDepth = 32;
constexpr const char* kLayout = "one sub-folder a class, with its images in it";

bool ends_with_ignoring_case(std::string_view text, std::string_view lower_case_end) {
  if (text.size() < lower_case_end.size()) return false;
  const std::string_view end = text.substr(text.size() - lower_case_end.size());
  return std::equal(end.begin(), end.end(), lower_case_end.begin(), [](char a, char b) {
    return (a >= 'A' && a <= 'Z' ? static_cast<char>(a - 'A' + 'a') : a) == b;
  });
}

// Names one after the other in one block of memory.
class Names {
 public:
  void add(std::string_view name) {
    text_ += name;
    ends_.push_back(text_.size());
  }
  std::string_view operator[](uint64_t i) const {
    const uint64_t begin = i == 0 ? 0 : ends_[i - 1];
    return std::string_view(text_).substr(begin, ends_[i] - begin);
  }
  uint64_t size() const { return ends_.size(); }
  void shrink_to_fit() {
    text_.shrink_to_fit();
    ends_.shrink_to_fit();
  }

 private:
  std::string text_;
  std::vector<uint64_t> ends_;
};

// What a folder holds: filled by a Scan, then left alone.
struct Listing {
  std::vector<std::string> classes;
  std::vector<uint64_t> class_begins;  // the first record of each class
  Names names;                         // below the class folder
  std::vector<uint64_t> sizes_bytes;
  Fingerprint fingerprint;
};

// Lists a folder and all below it.
class Scan {
 public:
  Scan(FileSystem& file_system, const std::string& root, const OpenOptions& options)
      : files_(file_system), root_(root), options_(options) {}

  Listing run() {
    scan_root();
    for (const std::string& name : listing_.classes) scan_class(name);
    listing_.names.shrink_to_fit();
    listing_.sizes_bytes.shrink_to_fit();
    listing_.fingerprint = fingerprint_.result();
    return std::move(listing_);
  }

  // What to tell the user about files left out; empty when there are none.
  std::string warning() const {
    if (ignored_ == 0) return {};
    return fmt::format("{}: {} {} and left out: first {} (images are {})", root_, ignored_,
                       ignored_ == 1 ? "file is no image in a class folder, by its name,"
                                     : "files are no images in class folders, by their names,",
                       first_ignored_, image_extensions());
  }

 private:
  // Finds the class folders. Errors: as open_files.
  void scan_root() {
    uint64_t images = 0;
    check_keep_going();
    for (const FileInfo& info : files_.list(root_)) {
      if (info.is_directory) {
        listing_.classes.push_back(base_name(info.uri));
      } else {
        images += has_image_extension(info.uri);
        ignore(info.uri);
      }
    }
    if (!listing_.classes.empty()) return;
    if (images > 0) {
      throw InvalidArgumentError(
          "the folder has images, and no class folders",
          {.path = root_,
           .expected = kLayout,
           .found = fmt::format("{} image{} in the folder itself", images, images == 1 ? "" : "s"),
           .remedy = "Move them into a sub-folder, or pack a list (.lst) of them"});
    }
    throw NotFoundError("the folder has no class folders",
                        {.path = root_,
                         .expected = kLayout,
                         .found = ignored_ == 0 ? "an empty folder"
                                                : fmt::format("no folder, and {} file{} (first {})",
                                                              ignored_, ignored_ == 1 ? "" : "s",
                                                              base_name(first_ignored_))});
  }

  void scan_class(const std::string& name) {
    const uint64_t begin = listing_.names.size();
    listing_.class_begins.push_back(begin);
    const std::string uri = join_uri(root_, name);
    std::vector<Folder> folders;
    list_folders(uri, "", 0, folders);
    // By whole path, as ImageFolder sorts them: "a-b" comes between "a" and "a/c".
    std::sort(folders.begin(), folders.end(),
              [](const Folder& a, const Folder& b) { return a.name() < b.name(); });
    for (const Folder& folder : folders) add_images(folder);
    if (listing_.names.size() > begin) return;
    throw NotFoundError(fmt::format("the class folder '{}' has no images", name),
                        {.path = uri,
                         .expected = "files ending in " + image_extensions(),
                         .remedy = "Put images into the folder, or remove it"});
  }

  struct Folder {
    std::string path;  // below the class folder, with a slash at its end; of that itself, empty
    std::vector<FileInfo> files;
    std::string_view name() const { return std::string_view(path).substr(0, path.rfind('/')); }
  };

  void list_folders(const std::string& class_uri, const std::string& path, int depth,
                    std::vector<Folder>& folders) {
    if (depth > kMaxDepth) {
      throw InvalidArgumentError(
          "folders are nested too deep",
          {.path = class_uri,
           .expected = fmt::format("at most {} below a class", kMaxDepth),
           .found = path,
           .remedy = "Look for a link that leads back into its own folder, and remove it"});
    }
    check_keep_going();
    std::vector<FileInfo> entries = files_.list(join_uri(class_uri, path));
    const auto folders_begin = std::stable_partition(
        entries.begin(), entries.end(), [](const FileInfo& entry) { return !entry.is_directory; });
    const std::vector<FileInfo> below(folders_begin, entries.end());
    entries.erase(folders_begin, entries.end());
    folders.push_back({path, std::move(entries)});
    for (const FileInfo& folder : below) {
      list_folders(class_uri, path + base_name(folder.uri) + "/", depth + 1, folders);
    }
  }

  void add_images(const Folder& folder) {
    for (const FileInfo& info : folder.files) {
      if (!has_image_extension(info.uri)) {
        ignore(info.uri);
        continue;
      }
      listing_.names.add(folder.path + base_name(info.uri));
      listing_.sizes_bytes.push_back(info.size_bytes);
      fingerprint_.add(info.size_bytes);
    }
  }

  void check_keep_going() const {
    if (options_.keep_going && !options_.keep_going()) {
      throw StateError("interrupted", {.path = root_});
    }
  }

  void ignore(const std::string& uri) {
    if (ignored_++ == 0) first_ignored_ = uri;
  }

  FileSystem& files_;
  const std::string& root_;
  const OpenOptions& options_;
  Listing listing_;
  FingerprintBuilder fingerprint_;
  uint64_t ignored_ = 0;
  std::string first_ignored_;
};

class FilesContainer final : public Container {
 public:
  FilesContainer(FileSystem& file_system, std::string root, std::string absolute_root,
                 Listing listing)
      : file_system_(file_system),
        root_(std::move(root)),
        absolute_root_(std::move(absolute_root)),
        listing_(std::move(listing)) {
    schema_.fields = {{.name = "image", .kind = FieldKind::kImage},
                      {.name = "label", .kind = FieldKind::kTensor, .dtype = DType::kInt64}};
  }

  uint64_t size() const override { return listing_.sizes_bytes.size(); }
  const Schema& schema() const override { return schema_; }

  Extent extent(uint64_t i) const override {
    const uint64_t length = listing_.sizes_bytes[i];
    if (length > kMaxImageFileBytes) {
      throw CorruptError("the file is too long to be an image",
                         {.path = uri_of(i),
                          .record = i,
                          .expected = fmt::format("at most {} bytes", kMaxImageFileBytes),
                          .found = fmt::format("{}", length)});
    }
    const FileInfo info{.uri = uri_below(absolute_root_, i), .size_bytes = length};
    return {file_system_.open_lazily(info, uri_of(i)), 0, length};
  }

  void parse(uint64_t i, Bytes framed, Sample& out) const override {
    if (framed.size() != listing_.sizes_bytes[i]) throw_wrong_length(i, framed.size());
    out.fields.resize(2);
    out.fields[0].bytes = framed;
    store_le(out.scalars.data(), static_cast<int64_t>(class_of(i)));
    out.fields[1].bytes = Bytes(out.scalars).first(sizeof(int64_t));
    for (FieldValue& field : out.fields) field.shape.clear();
    out.id = i;
  }

  Place place(uint64_t i) const override { return {.path = uri_of(i), .record = i, .offset = 0}; }
  Fingerprint fingerprint() const override { return listing_.fingerprint; }
  const std::vector<std::string>& classes() const override { return listing_.classes; }
  bool verifies_checksums() const override { return false; }

 private:
  size_t class_of(uint64_t i) const {
    const auto& begins = listing_.class_begins;
    return static_cast<size_t>(std::upper_bound(begins.begin(), begins.end(), i) - begins.begin()) -
           1;
  }

  std::string uri_below(const std::string& root, uint64_t i) const {
    return join_uri(join_uri(root, listing_.classes[class_of(i)]), std::string(listing_.names[i]));
  }
  std::string uri_of(uint64_t i) const { return uri_below(root_, i); }

  [[noreturn]] void throw_wrong_length(uint64_t i, size_t found) const {
    const ErrorDetail detail{.path = uri_of(i),
                             .record = i,
                             .offset = 0,
                             .expected = fmt::format("{} bytes", listing_.sizes_bytes[i]),
                             .found = fmt::format("{}", found)};
    if (found < listing_.sizes_bytes[i])
      throw TruncatedError("the image file is cut short", detail);
    throw CorruptError("the image file is longer than it was", detail);
  }

  FileSystem& file_system_;
  std::string root_;           // as it was given: for people
  std::string absolute_root_;  // for opening files
  Listing listing_;
  Schema schema_;
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
  Scan scan(file_system, uri, options);
  auto container =
      std::make_shared<FilesContainer>(file_system, uri, std::move(absolute), scan.run());
  if (const std::string warning = scan.warning(); !warning.empty() && options.warn) {
    options.warn(warning);
  }
  return container;
}

}  // namespace fuelrail::files
