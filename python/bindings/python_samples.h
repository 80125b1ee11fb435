// The samples of a Python program, as a source for packing.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bindings.h"
#include "fuelrail/base/guarded.h"
#include "fuelrail/base/raw_view.h"
#include "fuelrail/pack/source/encoded_values.h"
#include "fuelrail/pack/source/sample_source.h"

namespace fuelrail::python {

// The exception of a user's function, passed through the core.
struct Raised {
  std::shared_ptr<nb::object> exception;
};

// What is known of samples before they are packed.
struct SamplesDescription {
  Schema schema;
  pack::SampleSource::ClassNames classes{};
  std::vector<std::optional<pack::ArrayEncoder>> encoders{};  // of each image field
  std::string contents{};                                     // compared by a resumed job
};

// given: fields (FieldTuples), the class names of fields, the encoding of arrays and the JPEG
// quality of each image field (None for other fields), and what a resumed job compares.
SamplesDescription description_of(const nb::tuple& given);

// Calls `start()`, with the GIL, when the samples are first described, so that a job checks its
// options and its output before a sample is requested. Requires: this is before threads share the
// object.
//
// Then calls `read(i)`, which returns the values of sample i as `Schema.flatten` does; or a tuple
// (failure, expected, found, remedy) for a sample that cannot be packed; or None after the last
// sample of a stream. It is called by one thread at a time, with the GIL. Files are read, and
// arrays encoded, without the GIL, by the thread that calls `read`. Images that are `bytes`, which
// cannot change, are lent until the next sample.
//
// On a Python without a global lock, several threads call `read` at the same time if the number of
// samples is known and `at_once` is set.
//
// If one of the two raises, all methods may throw StepsError, whose cause is `Raised`.
class PythonSamples final : public pack::SampleSource {
 public:
  // size: the number of samples; empty: a stream, whose samples are requested in order.
  PythonSamples(std::function<SamplesDescription()> start, nb::object read,
                std::optional<uint64_t> size, bool at_once = false)
      : start_(std::move(start)),
        read_(shared_object(std::move(read))),
        size_(size),
        at_once_(at_once && size) {}

  const Schema& schema() const override { return described().schema; }
  const ClassNames& classes() const override { return described().classes; }
  uint64_t size() const override { return size_.value_or(0); }
  bool is_stream() const override { return !size_; }
  std::string contents() const override { return described().contents; }
  std::string path(uint64_t i) const override;
  void read(uint64_t i, pack::SourceSample& out) const override;
  std::shared_ptr<const void> begin_thread() const override {
    return std::make_shared<ThreadState>();
  }

 private:
  class Turn;
  // Where a value belongs, and what is left to do for it without the GIL: read a file, or encode
  // pixels.
  struct Pending {
    size_t field = 0;
    size_t item = 0;                          // of a list
    std::vector<std::byte>* bytes = nullptr;  // gets the result; pixels: also has them
    std::string file{};                       // empty: pixels
    ConstRawView pixels{};                    // without `data`
  };

  const SamplesDescription& described() const;
  std::vector<Pending> call(uint64_t i, pack::SourceSample& out) const;
  std::vector<Pending> take(nb::handle values, pack::SourceSample& out) const;
  // `item`: where the value belongs. Adds it to `pending` if something is left to do.
  void take_item(Pending item, nb::handle value, pack::SourceSample& out,
                 std::vector<Pending>& pending) const;
  void finish(const Pending& pending) const;

  std::function<SamplesDescription()> start_;
  std::shared_ptr<nb::object> read_;
  std::optional<uint64_t> size_;
  bool at_once_;
  mutable std::optional<SamplesDescription> described_;
  mutable Mutex mutex_;  // is not waited for while the GIL is held
  mutable Condition free_;
  mutable bool calling_ FUELRAIL_GUARDED_BY(mutex_) = false;
  mutable uint64_t next_ FUELRAIL_GUARDED_BY(mutex_) = 0;  // of a stream: the sample to request
  mutable bool ended_ = false;                             // used by the thread whose turn it is
};

}  // namespace fuelrail::python
