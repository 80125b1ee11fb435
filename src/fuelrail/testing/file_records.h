// Records of memory in a file, so that each backend can read them in its own way.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "fuelrail/container/forwarding_container.h"
#include "fuelrail/storage/file_system.h"
#include "fuelrail/testing/record_worker.h"
#include "fuelrail/testing/temporary_directory.h"

namespace fuelrail {

class FileRecords final : public ForwardingContainer {
 public:
  explicit FileRecords(uint64_t records) : FileRecords(made_records(records)) {}
  explicit FileRecords(std::shared_ptr<const Container> records)
      : ForwardingContainer(std::move(records)) {
    std::string bytes;
    for (uint64_t i = 0; i < inner().size(); ++i) {
      const Extent from = inner().extent(i);
      std::vector<std::byte> record(static_cast<size_t>(from.length));
      from.source->read(from.offset, record);
      offsets_.push_back(bytes.size());
      bytes.append(reinterpret_cast<const char*>(record.data()), record.size());
    }
    write_file(directory_ / "records", bytes);
    source_ = file_system_for(directory_.path()).open(directory_ / "records");
  }
  Extent extent(uint64_t i) const override {
    return {source_, offsets_[i], inner().extent(i).length};
  }

 private:
  TemporaryDirectory directory_;
  std::shared_ptr<const Source> source_;
  std::vector<uint64_t> offsets_;
};

}  // namespace fuelrail
