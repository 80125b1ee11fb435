// Records of memory in a file, so that each backend can read them in its own way.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "fuelrail/storage/file_system.h"
#include "fuelrail/testing/record_worker.h"
#include "fuelrail/testing/temporary_directory.h"

namespace fuelrail {

class FileRecords final : public Container {
 public:
  explicit FileRecords(uint64_t records) : FileRecords(made_records(records)) {}
  explicit FileRecords(std::shared_ptr<const Container> records) : made_(std::move(records)) {
    std::string bytes;
    for (uint64_t i = 0; i < made_->size(); ++i) {
      const Extent from = made_->extent(i);
      std::vector<std::byte> record(static_cast<size_t>(from.length));
      from.source->read(from.offset, record);
      offsets_.push_back(bytes.size());
      bytes.append(reinterpret_cast<const char*>(record.data()), record.size());
    }
    write_file(directory_ / "records", bytes);
    source_ = file_system_for(directory_.path()).open(directory_ / "records");
  }
  uint64_t size() const override { return made_->size(); }
  const Schema& schema() const override { return made_->schema(); }
  Extent extent(uint64_t i) const override {
    return {source_, offsets_[i], made_->extent(i).length};
  }
  void parse(uint64_t i, Bytes framed, Sample& out) const override { made_->parse(i, framed, out); }
  Place place(uint64_t i) const override { return made_->place(i); }
  const std::vector<std::string>& classes() const override { return made_->classes(); }
  bool verifies_checksums() const override { return made_->verifies_checksums(); }

 private:
  Fingerprint make_fingerprint(const std::function<bool()>&) const override {
    return made_->fingerprint();
  }

  TemporaryDirectory directory_;
  std::shared_ptr<const Container> made_;
  std::shared_ptr<const Source> source_;
  std::vector<uint64_t> offsets_;
};

}  // namespace fuelrail
