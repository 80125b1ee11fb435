// Makes the records of a source's samples one at a time, exactly as packing does.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "fuelrail/base/bytes.h"
#include "fuelrail/pack/source/sample_source.h"

namespace fuelrail::pack {

// Threads: one at a time.
class RecordEncoding {
 public:
  // Lifetime: `samples` outlives the object. Errors: InvalidArgumentError for a schema that cannot
  // be stored, and for class names of a field that is not a label.
  // `borrows`: as in SourceSample.
  RecordEncoding(const SampleSource& samples, bool borrows);
  ~RecordEncoding();
  RecordEncoding& operator=(RecordEncoding&&) = delete;

  // Writes the sample record (docs/formats/frs1.md) of sample i at the beginning of `room(its
  // length)`. Returns: its length. Errors, which affect only this sample: those of
  // SampleSource::read; InvalidArgumentError and CorruptError for values that do not fit the schema
  // or each other; UnsupportedError for a sample that is too long for a record; those of `room`.
  uint64_t write(uint64_t i, const std::function<MutableBytes(uint64_t)>& room);

 private:
  struct Parts;
  const std::unique_ptr<Parts> parts_;
};

}  // namespace fuelrail::pack
