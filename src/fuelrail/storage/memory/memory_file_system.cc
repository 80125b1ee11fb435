#include "fuelrail/storage/memory/memory_file_system.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <string_view>

#include "fuelrail/base/error.h"
#include "fuelrail/base/guarded.h"
#include "fuelrail/storage/memory/memory_sink.h"

namespace fuelrail {
namespace {

using Contents = std::shared_ptr<const std::vector<std::byte>>;

// The path below the root, without leading, trailing or repeated slashes. Empty for the root.
std::string path_of(const std::string& uri) {
  std::string_view rest(uri);
  const size_t scheme_end = rest.find("://");
  if (scheme_end != std::string_view::npos) rest.remove_prefix(scheme_end + 3);
  std::string path;
  for (const char c : rest) {
    if (c != '/' || (!path.empty() && path.back() != '/')) path += c;
  }
  if (!path.empty() && path.back() == '/') path.pop_back();
  return path;
}

std::string parent_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? std::string() : path.substr(0, slash);
}

// All files and directories of memory://, by path. Threads: any.
class Tree {
 public:
  Contents find(const std::string& path) const {
    const Lock hold(mutex_);
    const auto found = files_.find(path);
    return found == files_.end() ? nullptr : found->second;
  }

  bool is_directory(const std::string& path) const {
    const Lock hold(mutex_);
    return directories_.contains(path);
  }

  void put(const std::string& path, Contents contents) {
    const Lock hold(mutex_);
    files_[path] = std::move(contents);
  }

  // Returns: false if the name exists.
  bool put_new(const std::string& path, Contents contents) {
    const Lock hold(mutex_);
    return !directories_.contains(path) && files_.try_emplace(path, std::move(contents)).second;
  }

  void remove(const std::string& path) {
    const Lock hold(mutex_);
    files_.erase(path);
  }

  // Returns: false if `from` does not exist.
  bool rename(const std::string& from, const std::string& to) {
    const Lock hold(mutex_);
    const auto found = files_.find(from);
    if (found == files_.end()) return false;
    Contents contents = std::move(found->second);
    files_.erase(found);
    files_[to] = std::move(contents);
    return true;
  }

  // Returns: false if a file has the name of the directory or of one of its parents.
  bool make_directory(const std::string& path) {
    const Lock hold(mutex_);
    for (std::string at = path; !at.empty(); at = parent_of(at)) {
      if (files_.contains(at)) return false;
    }
    for (std::string at = path; !at.empty(); at = parent_of(at)) directories_.insert(at);
    return true;
  }

  std::vector<FileInfo> list(const std::string& path, const std::string& uri) const {
    const Lock hold(mutex_);
    const std::string prefix = path.empty() ? path : path + "/";
    std::vector<FileInfo> entries;
    const auto add = [&](const std::string& at, uint64_t size_bytes, bool is_directory) {
      const std::string name = at.substr(prefix.size());
      if (name.empty() || name.find('/') != std::string::npos) return;
      entries.push_back({join_uri(uri, name), size_bytes, is_directory});
    };
    for (auto at = files_.lower_bound(prefix); at != files_.end() && at->first.starts_with(prefix);
         ++at) {
      add(at->first, at->second->size(), false);
    }
    for (auto at = directories_.lower_bound(prefix);
         at != directories_.end() && at->starts_with(prefix); ++at) {
      add(*at, 0, true);
    }
    std::sort(entries.begin(), entries.end(),
              [](const FileInfo& a, const FileInfo& b) { return a.uri < b.uri; });
    return entries;
  }

 private:
  mutable Mutex mutex_;
  std::map<std::string, Contents> files_ FUELRAIL_GUARDED_BY(mutex_);
  std::set<std::string> directories_ FUELRAIL_GUARDED_BY(mutex_){""};
};

class MemorySource final : public Source {
 public:
  // `tree`: the tree that contains the file; null if none does.
  MemorySource(std::string uri, Contents contents, const Tree* tree = nullptr)
      : uri_(std::move(uri)), contents_(std::move(contents)), tree_(tree) {}

  uint64_t size_bytes() const override { return contents_->size(); }
  const std::string& uri() const override { return uri_; }

  void read(uint64_t offset, MutableBytes into) const override {
    check_range(uri_, contents_->size(), offset, into.size());
    if (!into.empty()) std::memcpy(into.data(), contents_->data() + offset, into.size());
  }

  // All bytes are in memory.
  bool read_if_cached(uint64_t offset, std::span<const MutableBytes> pieces) const override {
    for (const MutableBytes piece : pieces) {
      if (offset > contents_->size() || piece.size() > contents_->size() - offset) return false;
      read(offset, piece);
      offset += piece.size();
    }
    return true;
  }

  bool is_still_named() const override {
    return tree_ == nullptr || tree_->find(path_of(uri_)) == contents_;
  }

 private:
  std::string uri_;
  Contents contents_;
  const Tree* tree_;
};

// Finds its file in the tree at each read.
class LazyMemorySource final : public Source {
 public:
  LazyMemorySource(const Tree& tree, std::string path, std::string uri, uint64_t size_bytes)
      : tree_(tree), path_(std::move(path)), uri_(std::move(uri)), size_bytes_(size_bytes) {}

  uint64_t size_bytes() const override { return size_bytes_; }
  const std::string& uri() const override { return uri_; }

  void read(uint64_t offset, MutableBytes into) const override {
    check_range(uri_, size_bytes_, offset, into.size());
    open().read(offset, into);
  }

 private:
  MemorySource open() const {
    Contents contents = tree_.find(path_);
    if (contents == nullptr) throw NotFoundError("no such file or directory", {.path = uri_});
    if (contents->size() != size_bytes_) {
      throw IoError("the file's size has changed since the file was listed",
                    {.path = uri_,
                     .expected = fmt::format("{} bytes", size_bytes_),
                     .found = fmt::format("{}", contents->size()),
                     .remedy = "Open the dataset again"});
    }
    return {uri_, std::move(contents)};
  }

  const Tree& tree_;
  std::string path_;
  std::string uri_;
  uint64_t size_bytes_;
};

// Puts its file into a tree at commit.
class TreeSink final : public MemorySink {
 public:
  TreeSink(Tree& tree, std::string uri) : MemorySink(std::move(uri)), tree_(tree) {}

  void commit_as(const std::string& uri) override { tree_.put(path_of(uri), finished()); }
  [[nodiscard]] bool commit_new() override { return tree_.put_new(path_of(uri()), finished()); }

 private:
  Contents finished() {
    MemorySink::commit_as(uri());
    return std::make_shared<const std::vector<std::byte>>(take());
  }

  Tree& tree_;
};

class MemoryFileSystem final : public FileSystem {
 public:
  std::shared_ptr<const Source> open(const std::string& uri) override {
    const std::string path = path_of(uri);
    if (Contents contents = tree_.find(path)) {
      return std::make_shared<MemorySource>(uri, std::move(contents), &tree_);
    }
    refuse_directory(path, uri);
    throw NotFoundError("no such file or directory", {.path = uri});
  }

  std::shared_ptr<const Source> open_lazily(const FileInfo& info,
                                            const std::string& shown_as) override {
    return std::make_shared<LazyMemorySource>(tree_, path_of(info.uri), shown_as, info.size_bytes);
  }

  std::string absolute(const std::string& uri) override { return uri; }

  std::unique_ptr<Sink> create(const std::string& uri) override {
    const std::string path = path_of(uri);
    refuse_directory(path, uri);
    if (!tree_.is_directory(parent_of(path))) {
      throw NotFoundError("no such file or directory", {.path = "memory://" + parent_of(path)});
    }
    return std::make_unique<TreeSink>(tree_, uri);
  }

  std::optional<FileInfo> stat(const std::string& uri) override {
    const std::string path = path_of(uri);
    if (const Contents contents = tree_.find(path)) return FileInfo{uri, contents->size(), false};
    if (tree_.is_directory(path)) return FileInfo{uri, 0, true};
    return std::nullopt;
  }

  std::vector<FileInfo> list(const std::string& uri) override {
    const std::string path = path_of(uri);
    if (tree_.find(path) != nullptr) {
      throw InvalidArgumentError("this is a file, not a directory", {.path = uri});
    }
    if (!tree_.is_directory(path)) {
      throw NotFoundError("no such file or directory", {.path = uri});
    }
    return tree_.list(path, uri);
  }

  void remove(const std::string& uri) override {
    const std::string path = path_of(uri);
    if (tree_.is_directory(path)) {
      throw IoError("cannot remove the file", {.path = uri, .found = "a directory"});
    }
    tree_.remove(path);
  }

  void rename(const std::string& from, const std::string& to) override {
    if (tree_.is_directory(path_of(to))) {
      throw IoError("cannot rename the file",
                    {.path = from, .found = "a directory with the new name"});
    }
    if (tree_.rename(path_of(from), path_of(to))) return;
    throw NotFoundError("no such file or directory", {.path = from});
  }

  void make_directory(const std::string& uri) override {
    if (tree_.make_directory(path_of(uri))) return;
    throw IoError(
        "cannot create the directory",
        {.path = uri, .found = "a file with this name, or with the name of a parent directory"});
  }

 private:
  void refuse_directory(const std::string& path, const std::string& uri) const {
    if (!tree_.is_directory(path)) return;
    throw InvalidArgumentError("this is a directory, not a file", {.path = uri});
  }

  Tree tree_;
};

}  // namespace

FileSystem& memory_file_system() {
  static FileSystem& instance = *new MemoryFileSystem;  // lives as long as the process
  return instance;
}

std::shared_ptr<const Source> memory_source(std::string uri, std::vector<std::byte> bytes) {
  return std::make_shared<MemorySource>(
      std::move(uri), std::make_shared<const std::vector<std::byte>>(std::move(bytes)));
}

}  // namespace fuelrail
