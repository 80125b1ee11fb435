#include "fuelrail/split/split_cache.h"

#include <fmt/format.h>

#include <array>
#include <cstring>
#include <optional>
#include <utility>

#include "fuelrail/base/endian.h"
#include "fuelrail/base/error.h"
#include "fuelrail/container/sidecar/sidecar.h"
#include "fuelrail/storage/file_system.h"

namespace fuelrail::split {
namespace {

// The file: magic, length of the identity, length of the part, the identity, the part's bytes.
constexpr std::string_view kCacheMagic =
    "\x89"
    "FRSPLIT";
constexpr size_t kCacheHeadBytes = 24;

uint64_t data_begin(const std::string& identity) { return kCacheHeadBytes + identity.size(); }

std::vector<std::byte> cache_head(const std::string& identity, uint64_t bytes) {
  std::vector<std::byte> head(kCacheHeadBytes + identity.size());
  std::memcpy(head.data(), kCacheMagic.data(), kCacheMagic.size());
  store_le<uint64_t>(head.data() + 8, identity.size());
  store_le<uint64_t>(head.data() + 16, bytes);
  std::memcpy(head.data() + kCacheHeadBytes, identity.data(), identity.size());
  return head;
}

}  // namespace

SplitCache::SplitCache(std::string uri, std::string identity, uint64_t bytes)
    : uri_(std::move(uri)), identity_(std::move(identity)), bytes_(bytes) {
  open_existing();
}

void SplitCache::open_existing() {
  FileSystem& files = file_system_for(uri_);
  const auto info = files.stat(uri_);
  if (!info || (!info->is_directory && info->size_bytes == 0)) return;
  std::shared_ptr<const Source> source = files.open(uri_);
  const std::vector<std::byte> wanted = cache_head(identity_, bytes_);
  std::array<std::byte, kCacheMagic.size()> magic{};
  if (source->size_bytes() >= magic.size()) source->read(0, magic);
  if (as_text(magic) != kCacheMagic) {
    throw InvalidArgumentError(
        "the existing file is not a cache file",
        {.path = uri_, .remedy = "Choose another path for the cache, or delete the file"});
  }
  if (source->size_bytes() != wanted.size() + bytes_) return;
  std::vector<std::byte> found(wanted.size());
  source->read(0, found);
  if (found == wanted) source_ = std::move(source);
}

void SplitCache::read(uint64_t offset, MutableBytes into) const {
  source_->read(data_begin(identity_) + offset, into);
}

void SplitCache::begin() {
  sink_ = file_system_for(uri_).create(uri_);
  sink_->write(cache_head(identity_, bytes_));
}

void SplitCache::fill(Bytes bytes) {
  try {
    if (sink_ == nullptr) begin();
    sink_->write(bytes);
    filled_ += bytes.size();
    if (filled_ < bytes_) return;
    sink_->commit();
    source_ = file_system_for(uri_).open(uri_);
    sink_.reset();
  } catch (...) {  // a sink cannot be used after an error
    sink_.reset();
    filled_ = 0;
    throw;
  }
}

std::string split_cache_uri(const std::string& file, uint64_t part, uint64_t nsplit) {
  return nsplit == 1 ? file : fmt::format("{}.split{}.part{}", file, nsplit, part);
}

std::string split_cache_identity(const SplitFiles& files, PartRange range, uint64_t part,
                                 uint64_t nsplit) {
  std::string identity = fmt::format("{}\npart {} of {}\nbytes {} to {}\n", name_of(files.type()),
                                     part, nsplit, range.begin, range.end);
  for (const SplitPiece& piece : files.pieces(range)) {
    const FileInfo& info = files.info(piece.file);
    const FileIdentity ends = identify(files.source(piece.file));
    identity += fmt::format("{} bytes, changed {}, ends {:08x} {:08x}, from {}: {}\n",
                            info.size_bytes, info.modified_ns, ends.first_crc, ends.last_crc,
                            piece.offset, file_system_for(info.uri).absolute(info.uri));
  }
  return identity;
}

void check_cache_is_no_source(const std::string& uri, const SplitFiles& files,
                              const std::vector<SplitPlace>& places) {
  const std::optional<FileInfo> there = file_system_for(uri).stat(uri);
  const std::string identity = there ? identity_of(*there) : "";
  for (size_t file = 0; file < files.size(); ++file) {
    if (identity_of(files.info(file)) != identity) continue;
    throw InvalidArgumentError("the cache would overwrite one of the input files",
                               {.path = uri, .remedy = "Choose another path for the cache"});
  }
  if (would_find_split_file(places, uri)) {
    throw InvalidArgumentError(
        "the next run would read the cache file as data, because the input URI includes this file",
        {.path = uri, .remedy = "Choose another directory for the cache"});
  }
}

}  // namespace fuelrail::split
