// Containers in which each record is a whole file: the common part of image folders and image
// lists.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "fuelrail/base/listener.h"
#include "fuelrail/container/container.h"
#include "fuelrail/storage/file_system.h"

namespace fuelrail::files {

// A file's length is queried when `extent` or `fingerprint` first needs it, and then kept
// (`knows_extent`). `fingerprint` queries all files, on several threads. If a file's length changes
// later, reading the file is an error. In the fingerprint, a file that no longer exists counts as
// empty. Files are open only while they are read.
class FileRecords : public Container {
 public:
  uint64_t size() const final { return lengths_.size(); }
  Extent extent(uint64_t i) const final;
  bool knows_extent(uint64_t i) const final {
    return lengths_[i].load(std::memory_order_relaxed) != 0;
  }
  void parse(uint64_t i, Bytes framed, Sample& out) const final;
  Place place(uint64_t i) const final { return {.path = shown_uri(i), .record = i, .offset = 0}; }
  bool verifies_checksums() const final { return false; }

 protected:
  // `uri`: the folder or list, for messages.
  FileRecords(std::string uri, uint64_t files) : uri_(std::move(uri)), lengths_(files) {}

 private:
  // These methods describe file i. They may be called from any thread.
  virtual FileSystem& file_system(uint64_t i) const = 0;
  virtual std::string shown_uri(uint64_t i) const = 0;   // as given by the user, for messages
  virtual std::string opened_uri(uint64_t i) const = 0;  // independent of the working directory
  virtual void fill(uint64_t i, Bytes encoded, Sample& out) const = 0;

  Fingerprint make_fingerprint(const KeepGoing& keep_going) const final;
  uint64_t length_of(uint64_t i) const;
  uint64_t length_if_there(uint64_t i) const;
  uint64_t look_at(uint64_t i) const;
  void look_at_all(const KeepGoing& keep_going) const;
  [[noreturn]] void throw_wrong_length(uint64_t i, size_t found) const;

  std::string uri_;
  mutable std::vector<std::atomic<uint64_t>> lengths_;  // plus 1; 0 = not known yet
};

}  // namespace fuelrail::files
