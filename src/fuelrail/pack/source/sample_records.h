// The samples of a source as complete records to pack.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "fuelrail/container/sample_record.h"
#include "fuelrail/pack/source/pack_source.h"
#include "fuelrail/pack/source/sample_source.h"
#include "fuelrail/pack/source/schema_doubts.h"

namespace fuelrail::pack {

// What is checked and changed of the samples, besides what SampleEncoder checks.
struct SampleChecks {
  // Read the header of each image, to find invalid images, masks and maps that do not have their
  // image's aspect ratio, and boxes far outside their image.
  bool headers = true;
  // Also decode each image, mask and map, to find damage. Requires: `headers`.
  bool decode = false;
  // A box that is outside of its image by more than the image's size is an error. If false, such
  // boxes are counted.
  bool strict = false;
  // Re-code progressive JPEGs of image fields (image/baseline_recoder.h).
  bool baseline = false;
};

// Threads: any number may call any method at once.
class SampleRecords final : public PackSource {
 public:
  // Lifetime: `samples` outlives the object. Errors: those of SampleEncoder; InvalidArgumentError
  // for class names of a field that is not a label.
  SampleRecords(const SampleSource& samples, const SampleChecks& checks);

  uint64_t size() const override { return samples_.size(); }
  bool is_stream() const override { return samples_.is_stream(); }
  const std::vector<std::string>& classes() const override { return classes_; }
  const FieldClasses& field_classes() const override { return field_classes_; }
  std::string contents() const override;
  const char* thing() const override { return "sample"; }
  uint64_t id(uint64_t i) const override { return samples_.id(i); }
  std::string path(uint64_t i) const override { return samples_.path(i); }
  std::string description(uint64_t i) const override { return samples_.description(i); }

  // The complete record, or SourceImage::ended. Errors, which affect only this sample, besides
  // those of the source: CorruptError for an image that `probe` or the decoder refuses, for a mask,
  // map or partner image whose aspect ratio is not its image's to a pixel, and for boxes as in
  // SampleChecks; InvalidArgumentError as in SampleEncoder; UnsupportedError for a sample that is
  // too long for a record.
  void read(uint64_t i, SourceImage& out) const override;
  std::shared_ptr<const void> begin_thread() const override { return samples_.begin_thread(); }

  // As `read`, for a source that is no stream, but writes the record at the beginning of `room(its
  // length)`, and only uses the memory of `sample`. Returns: its length.
  uint64_t write(uint64_t i, SourceSample& sample,
                 const std::function<MutableBytes(uint64_t)>& room) const;

  // What was noticed in the samples read so far, one text each, for warnings.
  std::vector<std::string> remarks() const;

 private:
  // Reads a sample. Returns: its values, as views; empty after the end of a stream.
  std::vector<FieldValue> values_of(uint64_t i, SourceSample& sample) const;
  void check_headers(uint64_t i, SourceSample& sample) const;
  void recode_images(SourceSample& sample) const;
  void note_camera(size_t number, Bytes matrix) const;
  // Number: float or double.
  template <typename Number>
  void check_boxes(uint64_t i, size_t number, Bytes boxes, Size image) const;

  const SampleSource& samples_;
  SampleChecks checks_;
  SampleEncoder encoder_;
  std::vector<std::string> classes_;  // of the field `label`
  FieldClasses field_classes_;        // of the other fields
  mutable SchemaDoubts doubts_;
};

}  // namespace fuelrail::pack
