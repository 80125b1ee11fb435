#include "fuelrail/storage/file_system.h"

#include <fmt/format.h>

#include <array>
#include <atomic>
#include <filesystem>
#include <string_view>

#include "fuelrail/base/error.h"
#include "fuelrail/storage/local/local_file_system.h"
#include "fuelrail/storage/memory/memory_file_system.h"

namespace fuelrail {
namespace {

struct Scheme {
  std::string_view name;
  FileSystem& (*file_system)();  // null = known but not supported
  const char* remedy;            // for unsupported schemes
};

constexpr const char* kHttp = "Download the file (curl -O) and give its local path";
constexpr const char* kBucket =
    "Copy the file to a disk, or mount the bucket (with rclone mount or the store's own client), "
    "and give its local path";
constexpr const char* kHdfs =
    "Copy the file (hdfs dfs -get) or mount it by NFS, and give its local path";

// The table of file systems.
constexpr std::array kSchemes{
    Scheme{"file", local_file_system, nullptr},
    Scheme{"memory", memory_file_system, nullptr},
    Scheme{"http", nullptr, kHttp},
    Scheme{"https", nullptr, kHttp},
    Scheme{"s3", nullptr, kBucket},
    Scheme{"gs", nullptr, kBucket},
    Scheme{"azure", nullptr, kBucket},
    Scheme{"hdfs", nullptr, kHdfs},
    Scheme{"viewfs", nullptr, kHdfs},
};

// By index in kSchemes; null = no override.
std::array<std::atomic<FileSystem*>, kSchemes.size()> overrides;

// The scheme's index in kSchemes; kSchemes.size() for an unknown scheme.
size_t place_of(std::string_view scheme) {
  size_t place = 0;
  while (place < kSchemes.size() && kSchemes[place].name != scheme) ++place;
  return place;
}

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

bool may_be_in_scheme(char c) {
  return is_letter(c) || (c >= '0' && c <= '9') || c == '+' || c == '-' || c == '.';
}

// The text before "://", in lower case; empty for a plain path.
std::string scheme_of(const std::string& uri) {
  const size_t end = uri.find("://");
  if (end == std::string::npos || end == 0 || !is_letter(uri[0])) return {};
  std::string scheme;
  for (const char c : std::string_view(uri).substr(0, end)) {
    if (!may_be_in_scheme(c)) return {};
    scheme += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return scheme;
}

}  // namespace

std::string identity_of(const FileInfo& info) {
  if (info.inode > 0) return fmt::format("{}:{}", info.device, info.inode);
  const std::string absolute = file_system_for(info.uri).absolute(info.uri);
  const std::filesystem::path name = std::filesystem::path(absolute).lexically_normal();
  return name.has_filename() ? name : name.parent_path();  // "a/" is "a"
}

std::string identity_of_name(const std::string& uri) {
  return identity_of(file_system_for(uri).stat(uri).value_or(FileInfo{.uri = uri}));
}

std::vector<DirectoryEntry> FileSystem::list_names(const std::string& uri) {
  std::vector<DirectoryEntry> entries;
  for (const FileInfo& info : list(uri))
    entries.push_back({base_name(info.uri), info.is_directory});
  return entries;
}

FileSystem& file_system_for(const std::string& uri) {
  const std::string scheme = scheme_of(uri);
  const size_t place = place_of(scheme.empty() ? "file" : scheme);
  if (place < kSchemes.size()) {
    if (FileSystem* const other = overrides[place].load(std::memory_order_acquire)) return *other;
    if (kSchemes[place].file_system != nullptr) return kSchemes[place].file_system();
    throw UnsupportedError(fmt::format("{}:// is not supported yet", scheme),
                           {.path = uri, .remedy = kSchemes[place].remedy});
  }
  std::vector<std::string> names;
  for (const Scheme& known : kSchemes) names.emplace_back(known.name);
  throw InvalidArgumentError(fmt::format("unknown URI scheme '{}'", scheme),
                             {.path = uri, .remedy = suggest(scheme, names)});
}

FileSystemOverride::FileSystemOverride(const std::string& scheme, FileSystem& with)
    : place_(place_of(scheme)) {
  if (place_ == kSchemes.size()) {
    throw InvalidArgumentError(fmt::format("unknown URI scheme '{}'", scheme));
  }
  overrides[place_].store(&with, std::memory_order_release);
}

FileSystemOverride::~FileSystemOverride() {
  overrides[place_].store(nullptr, std::memory_order_release);
}

std::string join_uri(const std::string& directory, const std::string& name) {
  if (directory.empty() || directory.back() == '/') return directory + name;
  return directory + "/" + name;
}

std::string base_name(const std::string& uri) {
  const size_t scheme_end = uri.find("://");
  std::string_view path(uri);
  if (!scheme_of(uri).empty()) path.remove_prefix(scheme_end + 3);
  while (!path.empty() && path.back() == '/') path.remove_suffix(1);
  const size_t slash = path.rfind('/');
  return std::string(slash == std::string_view::npos ? path : path.substr(slash + 1));
}

bool is_file(const std::string& uri) {
  const auto info = file_system_for(uri).stat(uri);
  return info && !info->is_directory;
}

void check_other_file(const std::string& source, const std::string& output) {
  if (identity_of_name(source) != identity_of_name(output)) return;
  throw InvalidArgumentError("the source and the output are the same file",
                             {.path = output, .remedy = "Give the output a different name"});
}

void throw_existing(const std::string& uri, const std::string& unlike) {
  throw IoError(
      "the output already exists",
      {.path = uri,
       .expected = unlike.empty() ? "" : "no file, or a file that equals this job's output",
       .found = unlike,
       .remedy = "Choose another name, or allow replacing the file (overwrite, --overwrite)"});
}

}  // namespace fuelrail
