#include "fuelrail/pack/source/record_encoding.h"

#include "fuelrail/pack/source/sample_records.h"

namespace fuelrail::pack {

struct RecordEncoding::Parts {
  SampleRecords records;
  SourceSample sample{};  // keeps its memory
};

RecordEncoding::RecordEncoding(const SampleSource& samples)
    : parts_(new Parts{.records{samples, SampleChecks{}}}) {}

RecordEncoding::~RecordEncoding() = default;

uint64_t RecordEncoding::write(uint64_t i, const std::function<MutableBytes(uint64_t)>& room) {
  return parts_->records.write(i, parts_->sample, room);
}

}  // namespace fuelrail::pack
