// Writes a local file under a temporary name beside its final one. The file is locked, and the lock
// ends with the writer's process.
#pragma once

#include <string>
#include <vector>

#include "fuelrail/base/own_process.h"
#include "fuelrail/storage/local/posix.h"
#include "fuelrail/storage/sink.h"

namespace fuelrail::local {

class LocalSink final : public Sink {
 public:
  enum class Begin : uint8_t { kEmpty, kAsLeft };  // as in FileSystem::create, as in resume

  // Errors: as for FileSystem::create.
  explicit LocalSink(std::string uri, Begin begin = Begin::kEmpty);
  ~LocalSink() override;

  const std::string& uri() const override { return uri_; }
  void write(Bytes bytes) override;
  uint64_t position() const override { return position_; }
  void rewrite(uint64_t offset, Bytes bytes) override;
  void read_back(uint64_t offset, MutableBytes into) override;
  void truncate(uint64_t size) override;
  bool is_first_writer() const override { return partial_path_ == path_ + ".partial"; }
  void flush() override;
  void leave_partial(bool leave) override { leave_partial_ = leave; }
  void sync() override;
  void commit_as(const std::string& uri) override;
  [[nodiscard]] bool commit_new() override;

 private:
  void check_usable() const;  // StateError
  void write_buffer();
  void write_at(uint64_t offset, Bytes bytes);
  void send_to_device(uint64_t end);
  void flush_to_device();
  void finish(const OpenedDirectory& directory);

  std::string uri_;
  std::string path_;
  std::string partial_path_;
  Descriptor file_;                // locked while it is open
  std::vector<std::byte> buffer_;  // appended but not yet written; collects small writes
  uint64_t position_ = 0;
  uint64_t sent_bytes_ = 0;  // the system writes this part of the file to the device
  bool leave_partial_ = false;
  const OwnProcess process_;
  enum class State { kOpen, kCommitted, kFailed } state_ = State::kOpen;
};

}  // namespace fuelrail::local
