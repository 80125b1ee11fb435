// Local files as sources: kept open, or opened for each read.
#pragma once

#include <atomic>
#include <memory>
#include <span>
#include <string>

#include "fuelrail/base/guarded.h"
#include "fuelrail/storage/local/posix.h"
#include "fuelrail/storage/source.h"

namespace fuelrail::local {

// Reads its descriptor only with pread, so that threads and forked processes share no file
// position. The size is the file's size when it was opened.
class LocalSource final : public Source {
 public:
  // `shown_as`: the name in `uri` and in errors. Errors: as for FileSystem::open.
  LocalSource(const std::string& uri, std::string shown_as);
  explicit LocalSource(const std::string& uri) : LocalSource(uri, uri) {}

  uint64_t size_bytes() const override { return size_bytes_; }
  const std::string& uri() const override { return uri_; }
  void read(uint64_t offset, MutableBytes into) const override;
  void read_scattered(uint64_t offset, std::span<const MutableBytes> pieces) const override;
  bool read_if_cached(uint64_t offset, std::span<const MutableBytes> pieces) const override;
  bool is_still_named() const override;
  bool has_hole(uint64_t offset, uint64_t length) const override;
  bool is_hole(uint64_t offset, uint64_t length) const override;
  int descriptor() const override { return file_.get(); }
  bool reads_without_waiting() const override;
  Direct direct_descriptor() const override;

 private:
  void read_at_hand(uint64_t offset, std::span<const MutableBytes> pieces) const;
  bool is_believed_cached() const;
  bool read_without_waiting(uint64_t offset, std::span<const MutableBytes> pieces) const;

  std::string uri_;
  std::string path_;
  Descriptor file_;
  uint64_t size_bytes_ = 0;
  mutable std::atomic<uint32_t> cached_in_a_row_ = 0;  // number of reads; updates may be lost
  mutable std::once_flag asked_to_wait_;
  mutable bool without_waiting_ = false;
  mutable Mutex direct_mutex_;
  mutable Descriptor direct_ FUELRAIL_GUARDED_BY(direct_mutex_);  // with O_DIRECT
  mutable std::atomic<int> direct_number_ = -1;  // direct_'s number once it is open; needs no lock
};

// Opens the file for each read and closes it afterwards. Millions of these sources may exist,
// because only reads in progress use descriptors.
class LazyLocalSource final : public Source {
 public:
  LazyLocalSource(std::string opened_uri, std::string shown_as, uint64_t size_bytes)
      : opened_uri_(std::move(opened_uri)), uri_(std::move(shown_as)), size_bytes_(size_bytes) {}

  uint64_t size_bytes() const override { return size_bytes_; }
  const std::string& uri() const override { return uri_; }
  void read(uint64_t offset, MutableBytes into) const override;

 private:
  // Errors: those of opening; IoError if the size has changed.
  std::unique_ptr<const LocalSource> open() const;

  std::string opened_uri_;
  std::string uri_;
  uint64_t size_bytes_;
};

}  // namespace fuelrail::local
