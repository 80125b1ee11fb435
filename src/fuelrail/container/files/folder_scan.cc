#include "fuelrail/container/files/folder_scan.h"

#include <fmt/format.h>

#include <array>
#include <chrono>
#include <optional>
#include <utility>

#include "fuelrail/base/cpu.h"
#include "fuelrail/base/endian.h"
#include "fuelrail/base/error.h"
#include "fuelrail/base/ordered_work.h"
#include "fuelrail/container/class_names.h"
#include "fuelrail/container/files/files_container.h"
#include "fuelrail/container/files/hidden_names.h"

namespace fuelrail::files {
namespace {

constexpr int kMaxDepth = 32;
constexpr const char* kLayout = "one sub-folder of images per class";
constexpr std::chrono::milliseconds kPatience{50};

// Skipped files, which are not images in class folders.
struct Ignored {
  uint64_t count = 0;
  std::string first;

  void add(const std::string& uri) {
    if (count++ == 0) first = uri;
  }
  void add(const Ignored& others) {
    if (count == 0) first = others.first;
    count += others.count;
  }
};

// The content of a class folder.
struct ClassImages {
  Names names;                          // relative to the class folder
  uint64_t own_images = 0;              // in the class folder itself
  std::vector<std::string> subfolders;  // directly in it, with images somewhere in them
  Ignored ignored;
  HiddenNames hidden;
  std::vector<IoError> unreadable;  // folders

  uint64_t weight() const { return names.size() * 64; }
};

// Lists one class folder and all folders below it.
class ClassScan {
 public:
  ClassScan(const ListNames& list_names, std::string uri)
      : list_names_(list_names), uri_(std::move(uri)) {}

  ClassImages run() {
    list_folders("", 0);
    // Sorts by the whole path, as ImageFolder does: "a-b" comes between "a" and "a/c".
    std::sort(folders_.begin(), folders_.end(),
              [](const Folder& a, const Folder& b) { return a.name() < b.name(); });
    for (const Folder& folder : folders_) add_images(folder);
    found_.names.shrink_to_fit();
    return std::move(found_);
  }

 private:
  struct Folder {
    std::string path;  // relative to the class folder, ends with a slash, or empty
    std::vector<std::string> files;
    std::string_view name() const { return std::string_view(path).substr(0, path.rfind('/')); }
  };

  void list_folders(const std::string& path, int depth) {
    if (depth > kMaxDepth) {
      throw InvalidArgumentError(
          "folders are nested too deeply",
          {.path = uri_,
           .expected = fmt::format("at most {} levels below a class folder", kMaxDepth),
           .found = path,
           .remedy = "Look for a link to a parent folder, and remove that link"});
    }
    Folder folder{.path = path, .files = {}};
    std::vector<std::string> below;
    for (DirectoryEntry& entry : entries_of(path)) {
      (entry.is_directory ? below : folder.files).push_back(std::move(entry.name));
    }
    folders_.push_back(std::move(folder));
    for (const std::string& name : below) list_folders(path + name + "/", depth + 1);
  }

  std::vector<DirectoryEntry> entries_of(const std::string& path) {
    const std::string uri = path.empty() ? uri_ : join_uri(uri_, path.substr(0, path.size() - 1));
    try {
      std::vector<DirectoryEntry> entries = list_names_(uri);
      found_.hidden.remove_from(entries, uri);
      return entries;
    } catch (const IoError& error) {
      found_.unreadable.push_back(error);
      return {};
    }
  }

  void add_images(const Folder& folder) {
    const uint64_t before = found_.names.size();
    for (const std::string& name : folder.files) {
      if (has_image_extension(name)) {
        found_.names.add(folder.path + name);
      } else {
        found_.ignored.add(join_uri(uri_, folder.path + name));
      }
    }
    const uint64_t images = found_.names.size() - before;
    if (folder.path.empty()) found_.own_images = images;
    if (!folder.path.empty() && images > 0) note_subfolder(folder.path);
  }

  void note_subfolder(const std::string& path) {
    std::string name = path.substr(0, path.find('/'));
    auto& names = found_.subfolders;
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      names.push_back(std::move(name));
    }
  }

  const ListNames& list_names_;
  std::string uri_;
  std::vector<Folder> folders_;
  ClassImages found_;
};

// Finds folders that are more likely to contain class folders than to be classes.
class LayoutCheck {
 public:
  explicit LayoutCheck(const std::string& root) : root_(root) {}

  void add(const std::string& name, const ClassImages& found) {
    if (found.own_images > 0) {
      own_images_ = true;
    } else if (found.names.size() > 0) {
      if (is_part_name(name)) parts_.push_back(name);
      if (first_.empty()) first_ = name;
      for (const std::string& subfolder : found.subfolders) add_subfolder(subfolder);
    }
  }

  // The warning; empty if the layout looks right.
  std::string warning() const {
    if (parts_.size() > 1) {
      return fmt::format(
          "{}: '{}' and '{}' are read as classes, but they are named like dataset splits and "
          "contain folders. To read one split, open {}",
          root_, parts_[0], parts_[1], join_uri(root_, parts_[0]));
    }
    if (own_images_ || !subfolders_differ_) return {};
    return fmt::format(
        "{}: all images are in sub-folders of the class folders. Those in {}/{}, for example, are "
        "read as class '{}'. If the sub-folders are the classes, open {}",
        root_, first_, first_subfolder_, first_, join_uri(root_, first_));
  }

 private:
  static bool is_part_name(std::string_view name) {
    constexpr std::array<std::string_view, 6> kNames{"train", "training",   "val",
                                                     "valid", "validation", "test"};
    return std::find(kNames.begin(), kNames.end(), name) != kNames.end();
  }

  // A folder of the same name in every class ("images") is a common layout.
  void add_subfolder(const std::string& name) {
    if (first_subfolder_.empty()) first_subfolder_ = name;
    subfolders_differ_ |= name != first_subfolder_;
  }

  const std::string& root_;
  std::vector<std::string> parts_;  // classes with the name of a dataset split
  std::string first_;
  std::string first_subfolder_;
  bool own_images_ = false;
  bool subfolders_differ_ = false;
};

// Lists a folder and all folders below it.
class Scan {
 public:
  Scan(const ListNames& list_names, const std::string& root, const OpenOptions& options)
      : list_names_(list_names), root_(root), options_(options), layout_(root) {}

  FolderListing run() {
    check_keep_going(options_.keep_going, root_);
    find_classes();
    OrderedWork<ClassImages> work(
        {.items = folders_.size(), .threads = default_threads()},
        [this]() -> OrderedWork<ClassImages>::Worker {
          return [this](uint64_t i) {
            return ClassScan(list_names_, join_uri(root_, folders_[i].name)).run();
          };
        },
        [](const ClassImages& found) { return found.weight(); });
    for (const ClassFolder& folder : folders_) add_class(folder, next(work));
    begin_class(listing_.classes.size());  // classes after the last folder have no images
    listing_.names.shrink_to_fit();
    warn();
    return std::move(listing_);
  }

 private:
  struct ClassFolder {
    size_t label;
    std::string name;
  };

  // Errors: those of open_files.
  void find_classes() {
    uint64_t images = 0;
    std::vector<DirectoryEntry> entries = list_names_(root_);
    hidden_.remove_from(entries, root_);
    for (const DirectoryEntry& entry : entries) {
      if (entry.is_directory) {
        folders_.push_back({folders_.size(), entry.name});
      } else {
        images += has_image_extension(entry.name);
        ignored_.add(join_uri(root_, entry.name));
      }
    }
    if (!folders_.empty()) return number_classes();
    if (images > 0) {
      throw InvalidArgumentError(
          "the folder has images but no class folders",
          {.path = root_,
           .expected = kLayout,
           .found = fmt::format("{} image{} in the folder itself", images, images == 1 ? "" : "s"),
           .remedy =
               "Move the images into a sub-folder, or list them in a .csv, .tsv or .lst file and "
               "open that file"});
    }
    throw NotFoundError("the folder has no class folders",
                        {.path = root_, .expected = kLayout, .found = what_else()});
  }

  // Labels come from the given classes, and the folders are sorted by them; by default, labels
  // follow the order of the folders.
  void number_classes() {
    if (options_.classes.empty()) {
      for (const ClassFolder& folder : folders_) listing_.classes.push_back(folder.name);
      return;
    }
    listing_.classes = options_.classes;
    const ClassLabels table(listing_.classes);
    std::vector<std::string> unknown;
    for (ClassFolder& folder : folders_) {
      const std::optional<size_t> label = table.find(folder.name);
      if (!label) unknown.push_back(folder.name);
      folder.label = label.value_or(0);
    }
    if (!unknown.empty()) refuse_folders(unknown, table);
    std::ranges::sort(folders_, {}, &ClassFolder::label);
  }

  [[noreturn]] void refuse_folders(const std::vector<std::string>& unknown,
                                   const ClassLabels& table) const {
    constexpr size_t kMostFolders = 10;
    std::string found;
    for (size_t i = 1; i < std::min(unknown.size(), kMostFolders); ++i) {
      found += fmt::format("{} '{}'", i == 1 ? "the same problem with" : ",", unknown[i]);
    }
    if (unknown.size() > kMostFolders) {
      found += fmt::format(" and {} more", unknown.size() - kMostFolders);
    }
    throw InvalidArgumentError(
        fmt::format("the folder name '{}' is not one of the given class names", unknown[0]),
        {.path = root_, .found = std::move(found), .remedy = table.remedy_for(unknown[0])});
  }

  // Describes the content of a folder without class folders.
  std::string what_else() const {
    std::string text;
    if (ignored_.count > 0) {
      text = fmt::format("no folders, and {} file{} (first {})", ignored_.count,
                         ignored_.count == 1 ? "" : "s", base_name(ignored_.first));
    }
    if (hidden_.count() > 0) text += (text.empty() ? "" : ", and ") + hidden_.describe();
    return text.empty() ? "an empty folder" : text;
  }

  ClassImages next(OrderedWork<ClassImages>& work) const {
    for (;;) {
      check_keep_going(options_.keep_going, root_);
      if (std::optional<ClassImages> found = work.take(kPatience)) return *std::move(found);
    }
  }

  // The images of this class, and of earlier classes without a folder, begin here.
  void begin_class(size_t label) {
    const size_t begun = std::min(label + 1, listing_.classes.size());
    listing_.class_begins.resize(begun, listing_.names.size());
  }

  void add_class(const ClassFolder& folder, const ClassImages& found) {
    const std::string& name = folder.name;
    for (const IoError& error : found.unreadable) {
      if (!options_.leave_out || !options_.leave_out(error)) throw error;
    }
    if (found.names.size() == 0 && found.unreadable.empty()) {
      throw NotFoundError(fmt::format("the class folder '{}' has no images", name),
                          {.path = join_uri(root_, name),
                           .expected = "files ending in " + image_extensions(),
                           .found = found.hidden.count() > 0 ? found.hidden.describe() : "",
                           .remedy = "Put images into the folder, or remove the folder"});
    }
    begin_class(folder.label);
    for (uint64_t i = 0; i < found.names.size(); ++i) listing_.names.add(found.names[i]);
    ignored_.add(found.ignored);
    hidden_.add(found.hidden);
    layout_.add(name, found);
  }

  void warn() const {
    if (!options_.warn) return;
    if (ignored_.count > 0) {
      options_.warn(fmt::format(
          "{}: {} {} {} (image names end in {})", root_, ignored_.count,
          ignored_.count == 1
              ? "file is skipped because it is not an image in a class folder:"
              : "files are skipped because they are not images in class folders; the first is",
          ignored_.first, image_extensions()));
    }
    if (hidden_.count() > 0) options_.warn(hidden_.warning(root_));
    if (const std::string doubt = layout_.warning(); !doubt.empty()) options_.warn(doubt);
  }

  const ListNames& list_names_;
  const std::string& root_;
  const OpenOptions& options_;
  std::vector<ClassFolder> folders_;  // in the order of their labels
  FolderListing listing_;
  Ignored ignored_;
  HiddenNames hidden_;
  LayoutCheck layout_;
};

}  // namespace

FolderListing scan_folder(const ListNames& list_names, const std::string& root,
                          const OpenOptions& options) {
  return Scan(list_names, root, options).run();
}

Schema image_folder_schema() { return {{image_field("image"), label_field("label")}}; }

void fill_sample(uint64_t i, Bytes encoded, size_t label, Sample& out) {
  out.fields.resize(2);
  store_le(out.scalars.data(), static_cast<int64_t>(label));
  out.fields[0] = {encoded};
  out.fields[1] = {Bytes(out.scalars).first(sizeof(int64_t))};
  out.id = i;
}

void check_image_length(const Place& place, uint64_t length) {
  if (length <= kMaxImageFileBytes) return;
  throw CorruptError("the file is too long to be an image",
                     {.path = place.path,
                      .record = place.record,
                      .expected = fmt::format("at most {} bytes", kMaxImageFileBytes),
                      .found = fmt::format("{}", length)});
}

}  // namespace fuelrail::files
