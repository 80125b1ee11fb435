// A file of numbered bytes, and the expected results of its reads.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "fuelrail/storage/local/local_file_system.h"
#include "fuelrail/storage/read_queue.h"
#include "fuelrail/storage/source.h"
#include "fuelrail/testing/temporary_directory.h"

namespace fuelrail {

// Bytes that differ between places.
inline std::vector<std::byte> numbered_bytes(size_t size) {
  std::mt19937 random(static_cast<unsigned>(size));
  std::vector<std::byte> bytes(size);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
  return bytes;
}

inline std::vector<std::byte> read_range(const Source& source, uint64_t offset, size_t length) {
  std::vector<std::byte> bytes(length);
  source.read(offset, bytes);
  return bytes;
}

// A source with a descriptor, so that each backend can read it in its own way.
class ReadFile {
 public:
  explicit ReadFile(size_t bytes) : bytes_(numbered_bytes(bytes)) {
    const std::string_view text(reinterpret_cast<const char*>(bytes_.data()), bytes_.size());
    write_file(directory_ / "data", std::string(text));
    source_ = local_file_system().open(directory_ / "data");
  }
  const Source& source() const { return *source_; }
  const std::vector<std::byte>& bytes() const { return bytes_; }
  std::string path() const { return directory_ / "data"; }
  // Whether the request's bytes have been read.
  bool gave(const ReadRequest& request, const Completion& done) const {
    return done.error == nullptr &&
           std::equal(request.into.begin(), request.into.end(),
                      bytes_.begin() + static_cast<ptrdiff_t>(request.offset));
  }

 private:
  TemporaryDirectory directory_;
  std::vector<std::byte> bytes_;
  std::shared_ptr<const Source> source_;
};

}  // namespace fuelrail
