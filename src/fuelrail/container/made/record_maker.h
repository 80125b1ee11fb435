// Makes the records of a container on demand, instead of reading them from files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "fuelrail/base/listener.h"
#include "fuelrail/storage/source.h"

namespace fuelrail::made {

// Threads: any number may call any method at once.
class RecordMaker {
 public:
  virtual ~RecordMaker() = default;
  RecordMaker& operator=(RecordMaker&&) = delete;

  // Makes record i, whose bytes are a sample record (sample_record.h); blocks. Returns: a source
  // with `memory`. Polls `keep_going` while it waits. Errors: those of the record; StateError if no
  // record can be made, and if `keep_going` returns false.
  virtual std::shared_ptr<const Source> make(uint64_t i, const KeepGoing& keep_going) const = 0;

  // The number of records that it makes at the same time, at least 1.
  virtual size_t at_once() const = 0;
};

// Bytes that a record maker has put into memory of the process.
class RecordBytes : public Source {
 public:
  // Lifetime: the subclass owns `bytes`.
  explicit RecordBytes(Bytes bytes) : bytes_(bytes) {}

  uint64_t size_bytes() const override { return bytes_.size(); }
  const std::string& uri() const override;
  void read(uint64_t offset, MutableBytes into) const override;
  Bytes memory() const override { return bytes_; }

 private:
  Bytes bytes_;
};

std::shared_ptr<const Source> owned_record(std::vector<std::byte> bytes);

}  // namespace fuelrail::made
