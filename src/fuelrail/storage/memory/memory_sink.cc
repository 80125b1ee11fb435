#include "fuelrail/storage/memory/memory_sink.h"

#include <algorithm>

#include "fuelrail/base/error.h"

namespace fuelrail {

void MemorySink::check_usable() const {
  if (!committed_) return;
  throw StateError("the file is committed; nothing more can be written", {.path = uri_});
}

void MemorySink::write(Bytes bytes) {
  check_usable();
  bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  position_ += bytes.size();
}

void MemorySink::rewrite(uint64_t offset, Bytes bytes) {
  check_usable();
  check_appended(offset, bytes.size());
  std::copy(bytes.begin(), bytes.end(), bytes_.begin() + static_cast<ptrdiff_t>(offset));
}

void MemorySink::read_back(uint64_t offset, MutableBytes into) {
  check_usable();
  check_appended(offset, into.size());
  std::copy_n(bytes_.begin() + static_cast<ptrdiff_t>(offset), into.size(), into.begin());
}

void MemorySink::truncate(uint64_t size) {
  check_usable();
  check_appended(size, 0);
  bytes_.resize(size);
  position_ = size;
}

void MemorySink::commit_as(const std::string&) {
  check_usable();
  committed_ = true;
}

bool MemorySink::commit_new() {
  commit();
  return true;
}

}  // namespace fuelrail
