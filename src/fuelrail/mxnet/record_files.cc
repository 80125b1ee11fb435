#include "fuelrail/mxnet/record_files.h"

#include <algorithm>
#include <array>

#include "fuelrail/base/endian.h"
#include "fuelrail/base/error.h"
#include "fuelrail/container/fingerprint.h"
#include "fuelrail/container/image_record.h"
#include "fuelrail/container/recordio/framing.h"
#include "fuelrail/container/recordio/recordio_container.h"

namespace fuelrail::mxnet {
namespace {

// If the file's own schema converts labels to int64, converts them back to the stored float32.
void labels_as_floats(const FieldSpec& spec, Sample& sample) {
  FieldValue& label = sample.fields[1];
  if (spec.dtype == DType::kInt64) {
    const auto value = load_le<int64_t>(label.bytes.data());
    store_le(sample.scalars.data(), static_cast<float>(value));
    label.bytes = Bytes(sample.scalars).first(sizeof(float));
  }
  label.shape.assign(1, static_cast<int64_t>(label.bytes.size() / sizeof(float)));
}

// Parses an image record in a file whose schema is bytes because most of its records are not image
// records.
void image_of_bytes(Sample& sample) {
  const ImageRecord record = parse_image_record(sample.fields[0].bytes);
  sample.id = record.id;
  sample.fields.resize(2);
  sample.fields[0] = {record.image};
  sample.fields[1] = {record.labels, {static_cast<int64_t>(record.label_count())}};
}

}  // namespace

RecordFiles::RecordFiles(const std::vector<std::string>& uris, const OpenOptions& options)
    : schema_{{image_field("image"),
               {.name = "label",
                .kind = FieldKind::kTensor,
                .dtype = DType::kFloat32,
                .shape = {-1}}}} {
  for (const std::string& uri : uris) {
    const auto file = recordio::open_recordio(uri, options);
    if (file->sidecar().payloads().samples) {
      throw UnsupportedError("the file has sample records, not image records",
                             {.path = uri, .remedy = "Load the file with fuelrail.Loader"});
    }
    files_.push_back(file);
    const Extent last = file->extent(file->size() - 1);
    records_.add(file->size());
    bytes_.add(last.offset + last.length);
  }
}

Extent RecordFiles::extent(uint64_t i) const {
  const auto [file, record] = records_.find(i);
  return files_[file]->extent(record);
}

void RecordFiles::parse(uint64_t i, Bytes framed, Sample& out) const {
  const auto [file, record] = records_.find(i);
  const Container& from = *files_[file];
  from.parse(record, framed, out);
  if (from.schema().has("image")) {
    labels_as_floats(from.schema().fields[1], out);
    return;
  }
  try {
    image_of_bytes(out);
  } catch (Error& error) {
    error.add(from.place(record).detail());
    error.add(
        {.remedy = "Give files that contain only image records, such as those that im2rec writes"});
    throw;
  }
}

Place RecordFiles::place(uint64_t i) const {
  const auto [file, record] = records_.find(i);
  return files_[file]->place(record);
}

bool RecordFiles::verifies_checksums() const {
  return std::all_of(files_.begin(), files_.end(),
                     [](const auto& file) { return file->verifies_checksums(); });
}

uint64_t RecordFiles::offset(uint64_t i) const {
  if (i == size()) return total_bytes();
  const auto [file, record] = records_.find(i);
  return bytes_.begin(file) + files_[file]->extent(record).offset;
}

uint64_t RecordFiles::first_from(uint64_t offset) const {
  return first_index(size(), [&](uint64_t i) { return this->offset(i) >= offset; });
}

uint64_t RecordFiles::most_labels(const OpenOptions& open) const {
  constexpr uint64_t kBetweenAsking = 1024;
  uint64_t most = 0;
  for (uint64_t i = 0; i < size(); ++i) {
    if (i % kBetweenAsking == 0) check_keep_going(open.keep_going);
    most = std::max(most, label_count(i));
  }
  return most;
}

// Reads only the record's first bytes, unless the record is divided inside its image header.
uint64_t RecordFiles::label_count(uint64_t i) const {
  const Extent at = extent(i);
  std::array<std::byte, recordio::kHeadBytes + sizeof(uint32_t)> begin{};
  if (at.length >= begin.size() + kImageHeaderBytes) {
    at.source->read(at.offset, begin);
    const recordio::PartHead head(begin.data());
    if (head.valid() && head.length() >= kImageHeaderBytes) {
      const auto flag = load_le<uint32_t>(begin.data() + recordio::kHeadBytes);
      if (uint64_t{flag} * sizeof(float) < at.length) return std::max(flag, 1U);
    }
  }
  std::vector<std::byte> framed;
  Sample sample;
  read_sample(*this, i, framed, sample);
  return sample.fields[1].bytes.size() / sizeof(float);
}

Fingerprint RecordFiles::make_fingerprint(const KeepGoing& keep_going) const {
  Fingerprint all;
  for (const auto& file : files_) all = join(all, file->fingerprint(keep_going));
  return all;
}

}  // namespace fuelrail::mxnet
