// A sink that keeps what is written, for tests of writers.
#pragma once

#include <string>
#include <vector>

#include "fuelrail/storage/sink.h"

namespace fuelrail {

class CollectingSink final : public Sink {
 public:
  const std::string& uri() const override { return uri_; }
  void write(Bytes bytes) override { bytes_.insert(bytes_.end(), bytes.begin(), bytes.end()); }
  uint64_t position() const override { return bytes_.size(); }
  void commit() override { committed_ = true; }
  [[nodiscard]] bool commit_new() override { return committed_ = true; }

  const std::vector<std::byte>& bytes() const { return bytes_; }
  bool committed() const { return committed_; }

 private:
  std::string uri_ = "collected";
  std::vector<std::byte> bytes_;
  bool committed_ = false;
};

}  // namespace fuelrail
