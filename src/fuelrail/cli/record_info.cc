#include "fuelrail/cli/record_info.h"

#include <algorithm>
#include <exception>
#include <new>

#include "fuelrail/base/endian.h"
#include "fuelrail/base/error.h"
#include "fuelrail/cli/opening.h"
#include "fuelrail/cli/signals.h"

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

// As read_sample, but reads the whole record, in pieces, and checks for an interrupt between them.
void read_in_pieces(const Container& container, uint64_t i, std::vector<std::byte>& framed,
                    Sample& out) {
  const Extent extent = container.record_extent(i);
  check_length(extent);
  framed.resize(extent.length);
  for (uint64_t done = 0; done < extent.length; done += kPieceBytes) {
    throw_if_interrupted();
    extent.source->read(
        extent.offset + done,
        MutableBytes(framed).subspan(done, std::min(kPieceBytes, extent.length - done)));
  }
  container.parse(i, framed, out);
}

// Returns: empty if the bytes do not begin with an image, which is not an error here.
std::optional<ImageInfo> image_in(const EncodedImage& image) {
  try {
    return probe(image);
  } catch (const Error&) {
    return {};
  }
}

const ImageFormat* codec_format(const EncodedImage& image) {
  return image.codec == nullptr ? nullptr : image.codec->format;
}

}  // namespace

std::string_view name_field(const Schema& schema) {
  return schema.has("name") ? "name" : schema.has("file_name") ? "file_name" : "";
}

void read_record(const Container& container, uint64_t i, std::vector<std::byte>& framed,
                 Sample& out) {
  std::string failure;
  try {
    read_in_pieces(container, i, framed, out);
    return;
  } catch (const Error&) {
    throw;
  } catch (const Interrupted&) {
    throw;
  } catch (const std::bad_alloc&) {
    failure = "not enough memory for the record";
  } catch (const std::exception& error) {
    failure = std::string("cannot read the record: ") + error.what();
  }
  ErrorDetail detail = container.place(i).detail();
  detail.found = std::to_string(container.record_extent(i).length) + " bytes";
  throw IoError(failure, detail);
}

RecordInspector::RecordInspector(const Container& container, std::optional<size_t> field)
    : container_(container),
      field_(field.value_or(content_field(container.schema()))),
      pieces_(container) {}

RecordInfo RecordInspector::inspect(uint64_t i) {
  if (pieces_.is_long(i)) return inspect_long(i);
  read_record(container_, i, framed_, sample_);
  RecordInfo info;
  info.id = sample_.id;
  info.labels = labels();
  info.class_name = class_of(info.labels);
  info.name = name();
  info.objects = objects();
  const FieldValue& value = sample_.fields[field_];
  const EncodedImage& whole = value;
  const EncodedImage content = value.items.empty() ? whole : EncodedImage(value.items.front());
  info.content = content.stands_alone() ? content.bytes : Bytes(framed_);
  info.content_bytes = info.content.size();
  info.encoded = content;
  info.image = image_in(content);
  info.format = info.image ? info.image->format : codec_format(content);
  return info;
}

RecordInfo RecordInspector::inspect_long(uint64_t i) {
  RecordInfo info;
  info.id = container_.place(i).record;
  info.content_bytes = container_.extent(i).length;
  info.is_long = true;
  info.image = image_in(pieces_.head(i));
  if (info.image) info.format = info.image->format;
  return info;
}

std::vector<double> RecordInspector::labels() const {
  const Schema& schema = container_.schema();
  if (!schema.has("label")) return {};
  const size_t field = schema.index_of("label");
  if (schema.fields[field].kind != FieldKind::kTensor) return {};
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

std::string RecordInspector::name() const {
  const Schema& schema = container_.schema();
  const std::string_view known = name_field(schema);
  if (known.empty()) return "";
  const size_t field = schema.index_of(known);
  if (schema.fields[field].kind == FieldKind::kTensor) return "";
  return std::string(as_text(sample_.fields[field].bytes));
}

std::optional<uint64_t> RecordInspector::objects() const {
  const std::vector<FieldSpec>& fields = container_.schema().fields;
  if (container_.schema().has("label")) return {};
  std::optional<uint64_t> objects;
  for (size_t k = 0; k < fields.size(); ++k) {
    if (fields[k].rows != k) continue;  // not the first of its group
    objects = objects.value_or(0) + static_cast<uint64_t>(sample_.fields[k].shape.front());
  }
  return objects;
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
