// The samples to pack, in one order: images with their annotations, or the caller's own samples.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "fuelrail/base/box.h"
#include "fuelrail/base/bytes.h"
#include "fuelrail/container/sample.h"
#include "fuelrail/pack/pack_result.h"

namespace fuelrail::pack {

// The value of one field as a source has it.
struct SourceValue {
  // An encoded image, text, bytes, or the elements of a tensor (row-major, little-endian). If
  // `pixels` is set, its pixels.
  std::vector<std::byte> bytes;
  // What follows `bytes`, in memory that SourceSample::lent keeps; an image may have all of it
  // here.
  Bytes rest;
  Bytes begin() const { return bytes.empty() ? rest : Bytes(bytes); }
  // Of a tensor: all its extents.
  std::vector<int64_t> shape;
  // Of a list, instead of `bytes`.
  std::vector<std::vector<std::byte>> items;
  // Of an image that the packer is to encode as a PNG: grey, row by row, without padding.
  // `pixel_bytes`: 1, or 2 (little-endian). 0: the image is encoded.
  Size pixels;
  size_t pixel_bytes = 0;
  // The file of an encoded image, for messages; "" if it is not from a file, and for a list.
  std::string file;
};

class WholeDecoder;

// The object is reused for the next sample, to keep its memory.
struct SourceSample {
  uint64_t id = 0;
  std::vector<SourceValue> fields;  // in the schema's order
  bool ended = false;  // there is no sample i, because the source is a stream that has ended
  // Whether the source may lend memory that the program can change. The reader then clears `lent`
  // when it has used the values, before the program continues.
  bool borrows = false;
  std::vector<std::shared_ptr<const void>> lent{};  // of this sample; `read` may clear it
  uint64_t recoded = 0;                             // its images that SampleRecords re-coded
  std::shared_ptr<WholeDecoder> decoder{};          // that SampleRecords uses, if it decodes
};

// Immutable. Threads: any number may call any method at once.
class SampleSource {
 public:
  virtual ~SampleSource() = default;
  SampleSource& operator=(SampleSource&&) = delete;

  virtual const Schema& schema() const = 0;

  // The class names, by class number, of each label field that has names.
  using ClassNames = std::vector<std::pair<std::string, std::vector<std::string>>>;
  virtual const ClassNames& classes() const {
    static const ClassNames kNone;
    return kNone;
  }

  // Number of samples; 0 for a stream.
  virtual uint64_t size() const = 0;

  // Whether the number of samples becomes known only by reading them: `read` is called once for
  // each of 0, 1, 2, ..., by any threads, until it sets SourceSample::ended.
  virtual bool is_stream() const { return false; }

  // What the values depend on besides the samples' descriptions, such as encoding options. A
  // resumed job compares these texts.
  virtual std::string contents() const { return ""; }

  // The id of sample i. Requires: i < size().
  virtual uint64_t id(uint64_t i) const { return i; }

  // The path of sample i's image, or its place in the source, for messages. Requires: i < size().
  virtual std::string path(uint64_t i) const = 0;

  // Everything that is known about sample i without reading it. A resumed job compares these texts
  // to check that the source is the same.
  virtual std::string description(uint64_t i) const { return path(i); }

  // What the source found but cannot deliver, such as an image without its mask. A packing job
  // counts each as a sample that cannot be read.
  virtual const std::vector<PackFailure>& unread() const {
    static const std::vector<PackFailure> kNone;
    return kNone;
  }

  // Reads sample i. Requires: i < size(), or is_stream(). Errors, which affect only this sample,
  // name its path and the field: NotFoundError, IoError, TruncatedError; CorruptError for a value
  // that does not fit the schema or the sample's other values; UnsupportedError for an image too
  // long for a record.
  virtual void read(uint64_t i, SourceSample& out) const = 0;

  // A thread that reads many samples calls this before the first, and destroys the object after the
  // last: what the source keeps for the thread. Default: null, nothing.
  virtual std::shared_ptr<const void> begin_thread() const { return nullptr; }

  // What was noticed in the samples read so far, one text each, for warnings.
  virtual std::vector<std::string> remarks() const { return {}; }
};

}  // namespace fuelrail::pack
