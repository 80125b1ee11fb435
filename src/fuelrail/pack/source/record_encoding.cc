#include "fuelrail/pack/source/record_encoding.h"

#include "fuelrail/pack/source/sample_records.h"

namespace fuelrail::pack {

struct RecordEncoding::Parts {
  SampleRecords records;
  SourceSample sample{};  // keeps its memory
};

RecordEncoding::RecordEncoding(const SampleSource& samples, bool borrows)
    : parts_(new Parts{.records{samples, SampleChecks{}}}) {
  parts_->sample.borrows = borrows;
}

RecordEncoding::~RecordEncoding() = default;

uint64_t RecordEncoding::write(uint64_t i, const std::function<MutableBytes(uint64_t)>& room) {
  const uint64_t bytes = parts_->records.write(i, parts_->sample, room);
  parts_->sample.lent.clear();
  return bytes;
}

}  // namespace fuelrail::pack
