#include "fuelrail/cli/record_info.h"

#include <exception>
#include <new>

#include "fuelrail/base/endian.h"
#include "fuelrail/base/error.h"

namespace fuelrail::cli {
namespace {

template <typename Number>
std::vector<double> numbers(Bytes bytes) {
  std::vector<double> values;
  for (size_t at = 0; at + sizeof(Number) <= bytes.size(); at += sizeof(Number)) {
    values.push_back(static_cast<double>(load_le<Number>(bytes.data() + at)));
  }
  return values;
}

// No RecordIO record is as long; a file among images may be.
constexpr uint64_t kTooManyBytes = uint64_t{1} << 31;

void check_length(const Container& container, uint64_t i) {
  const uint64_t length = container.extent(i).length;
  if (length < kTooManyBytes) return;
  const Place place = container.place(i);
  throw UnsupportedError("the record is too long to be one",
                         {.path = place.path,
                          .record = place.record,
                          .offset = place.offset,
                          .expected = "less than 2 GiB",
                          .found = std::to_string(length) + " bytes"});
}

}  // namespace

void read_record(const Container& container, uint64_t i, std::vector<std::byte>& framed,
                 Sample& out) {
  std::string failure;
  try {
    check_length(container, i);
    read_sample(container, i, framed, out);
    return;
  } catch (const Error&) {
    throw;
  } catch (const std::bad_alloc&) {
    failure = "there is not enough memory for the record";
  } catch (const std::exception& error) {
    failure = std::string("the record cannot be read: ") + error.what();
  }
  const Place place = container.place(i);
  throw IoError(failure, {.path = place.path,
                          .record = place.record,
                          .offset = place.offset,
                          .found = std::to_string(container.extent(i).length) + " bytes"});
}

RecordInfo RecordInspector::inspect(uint64_t i) {
  read_record(container_, i, framed_, sample_);
  RecordInfo info;
  info.id = sample_.id;
  info.labels = labels();
  info.class_name = class_of(info.labels);
  info.content = sample_.fields[content_field(container_.schema())].bytes;
  try {
    info.image = probe(info.content);
  } catch (const Error&) {  // no image: that is what the empty member says
  }
  return info;
}

size_t RecordInspector::content_field(const Schema& schema) {
  return schema.has("image") ? schema.index_of("image") : 0;
}

std::vector<double> RecordInspector::labels() const {
  const Schema& schema = container_.schema();
  if (!schema.has("label")) return {};
  const size_t field = schema.index_of("label");
  const Bytes bytes = sample_.fields[field].bytes;
  switch (schema.fields[field].dtype) {
    case DType::kInt64:
      return numbers<int64_t>(bytes);
    case DType::kFloat32:
      return numbers<float>(bytes);
    default:
      return {};
  }
}

std::string RecordInspector::class_of(const std::vector<double>& labels) const {
  const std::vector<std::string>& classes = container_.classes();
  if (labels.size() != 1 || !(labels[0] >= 0 && labels[0] < static_cast<double>(classes.size()))) {
    return "";
  }
  const auto label = static_cast<size_t>(labels[0]);
  return static_cast<double>(label) == labels[0] ? classes[label] : "";
}

}  // namespace fuelrail::cli
