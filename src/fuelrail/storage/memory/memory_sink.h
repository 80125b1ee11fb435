// A file in memory that is being written: the base of all sinks that write into memory.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "fuelrail/storage/sink.h"

namespace fuelrail {

class MemorySink : public Sink {
 public:
  explicit MemorySink(std::string uri) : uri_(std::move(uri)) {}

  const std::string& uri() const override { return uri_; }
  void write(Bytes bytes) override;
  uint64_t position() const override { return position_; }  // unchanged by `take`
  void rewrite(uint64_t offset, Bytes bytes) override;
  void read_back(uint64_t offset, MutableBytes into) override;
  void truncate(uint64_t size) override;
  void commit_as(const std::string& uri) override;
  [[nodiscard]] bool commit_new() override;

  const std::vector<std::byte>& bytes() const { return bytes_; }
  bool committed() const { return committed_; }

  // Moves the bytes out.
  std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  void check_usable() const;  // StateError

  std::string uri_;
  std::vector<std::byte> bytes_;
  uint64_t position_ = 0;
  bool committed_ = false;
};

}  // namespace fuelrail
