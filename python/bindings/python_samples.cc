#include "python_samples.h"

#include <fmt/format.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <exception>
#include <memory>
#include <string_view>

#include "buffer.h"
#include "fuelrail/base/error.h"
#include "fuelrail/encode/npy_writer.h"
#include "fuelrail/pack/image/image_steps.h"
#include "samples.h"

namespace fuelrail::python {
namespace {

std::string text_at(const nb::tuple& texts, size_t i) { return nb::cast<std::string>(texts[i]); }

// Requires: (failure, expected, found, remedy).
[[noreturn]] void throw_bad_sample(const nb::tuple& error) {
  throw CorruptError(
      text_at(error, 0),
      {.expected = text_at(error, 1), .found = text_at(error, 2), .remedy = text_at(error, 3)});
}

void assign(Bytes from, std::vector<std::byte>& to) { to.assign(from.begin(), from.end()); }

std::vector<int64_t> extents_of(nb::handle array) {
  std::vector<int64_t> shape;
  for (nb::handle extent : nb::borrow<nb::tuple>(array.attr("shape"))) {
    shape.push_back(nb::cast<int64_t>(extent));
  }
  return shape;
}

// The element type of an array that Schema.flatten has checked.
DType dtype_of(nb::handle array) {
  const auto name = nb::cast<std::string>(array.attr("dtype").attr("name"));
  for (size_t number = 0; number < kDTypes; ++number) {
    if (name == name_of(static_cast<DType>(number))) return static_cast<DType>(number);
  }
  throw InvalidArgumentError("the dtype of an array is unknown", {.found = name});
}

[[noreturn]] void throw_raised(nb::python_error& error) {
  throw pack::StepsError(InvalidArgumentError("the samples cannot be read"),
                         std::make_exception_ptr(Raised{shared_object(nb::borrow(error.value()))}));
}

// A buffer that the core's threads may release.
std::shared_ptr<const Buffer> shared_buffer(nb::handle object) {
  return {new Buffer(object), [](const Buffer* buffer) {
            const GilTaken taken;
            delete buffer;
          }};
}

ConstRawView layout_of(nb::handle array) {
  const std::vector<int64_t> shape = extents_of(array);
  ConstRawView view{.height = shape.at(0),
                    .width = shape.at(1),
                    .channels = shape.size() > 2 ? shape[2] : 1,
                    .dtype = dtype_of(array)};
  view.row_stride_bytes = view.row_bytes();
  return view;
}

pack::ArrayEncoder encoder_of(const std::pair<std::string, int>& given) {
  using Encoding = pack::ArrayEncoding;
  const auto& [name, quality] = given;
  const Encoding encoding = name == "jpeg"  ? Encoding::kJpeg
                            : name == "npy" ? Encoding::kNpy
                                            : Encoding::kPng;
  return {encoding, quality};
}

// The encoding of arrays and the JPEG quality of each image field; None for other fields.
using Encoders = std::vector<std::optional<std::pair<std::string, int>>>;
using FieldClassNames = std::vector<std::pair<std::string, Strings>>;

}  // namespace

SamplesDescription description_of(const nb::tuple& given) {
  SamplesDescription description{.schema = schema_of_fields(nb::cast<FieldTuples>(given[0])),
                                 .contents = nb::cast<std::string>(given[3])};
  for (const auto& [field, names] : nb::cast<FieldClassNames>(given[1])) {
    description.classes.emplace_back(field, fs_names(names));
  }
  for (const auto& encoder : nb::cast<Encoders>(given[2])) {
    description.encoders.push_back(encoder ? std::optional(encoder_of(*encoder)) : std::nullopt);
  }
  return description;
}

// While it exists, no other thread calls Python for these samples. For a stream, waits until sample
// i is the next one.
class PythonSamples::Turn {
 public:
  Turn(const PythonSamples& samples, uint64_t i) : samples_(samples) {
    if (samples_.at_once_) return;
    const Lock lock(samples_.mutex_);
    while (samples_.calling_ || (samples_.is_stream() && samples_.next_ != i)) {
      samples_.free_.wait(samples_.mutex_);
    }
    samples_.calling_ = true;
  }
  ~Turn() {
    if (samples_.at_once_) return;
    {
      const Lock lock(samples_.mutex_);
      samples_.calling_ = false;
      ++samples_.next_;
    }
    samples_.free_.notify_all();
  }
  Turn& operator=(Turn&&) = delete;

 private:
  const PythonSamples& samples_;
};

const SamplesDescription& PythonSamples::described() const {
  if (!described_) {
    const GilTaken taken;
    try {
      described_ = start_();
    } catch (nb::python_error& error) {
      throw_raised(error);
    }
  }
  return *described_;
}

std::string PythonSamples::path(uint64_t i) const { return fmt::format("sample {}", i); }

void PythonSamples::read(uint64_t i, pack::SourceSample& out) const {
  for (const Pending& pending : call(i, out)) finish(pending);
}

std::vector<PythonSamples::Pending> PythonSamples::call(uint64_t i, pack::SourceSample& out) const {
  const Turn turn(*this, i);  // first: others wait until the turn ends
  out.id = i;
  out.fields.resize(schema().fields.size());
  out.ended = ended_;
  if (ended_) return {};
  const GilTaken taken;
  try {
    out.lent.clear();  // with the GIL, which their release needs
    const nb::object values = call_python(*read_, nb::make_tuple(i));
    if (nb::isinstance<nb::tuple>(values)) throw_bad_sample(nb::borrow<nb::tuple>(values));
    out.ended = values.is_none();
    if (out.ended) ended_ = true;
    return out.ended ? std::vector<Pending>{} : take(values, out);
  } catch (nb::python_error& error) {
    throw_raised(error);
  }
}

std::vector<PythonSamples::Pending> PythonSamples::take(nb::handle values,
                                                        pack::SourceSample& out) const {
  std::vector<Pending> pending;
  const nb::list given = nb::borrow<nb::list>(values);
  for (size_t k = 0; k < out.fields.size(); ++k) {
    const FieldSpec& field = schema().fields[k];
    pack::SourceValue& to = out.fields[k];
    const nb::handle value = given[k];
    to.pixel_bytes = 0;
    to.rest = {};
    to.file.clear();
    if (field.has(kListField)) {
      const nb::list items = nb::borrow<nb::list>(value);
      to.items.resize(items.size());
      for (size_t n = 0; n < items.size(); ++n)
        take_item({k, n, &to.items[n]}, items[n], out, pending);
    } else {
      if (field.kind == FieldKind::kTensor) to.shape = extents_of(value);
      take_item({k, 0, &to.bytes}, value, out, pending);
      if (field.kind == FieldKind::kImage && PyUnicode_Check(value.ptr())) to.file = fs_name(value);
    }
  }
  return pending;
}

void PythonSamples::take_item(Pending item, nb::handle value, pack::SourceSample& out,
                              std::vector<Pending>& pending) const {
  const FieldSpec& field = schema().fields[item.field];
  const FieldKind kind = field.kind;
  if (PyUnicode_Check(value.ptr())) {
    if (kind == FieldKind::kImage) {
      item.file = fs_name(value);
      pending.push_back(std::move(item));
    } else {
      assign(as_bytes(std::string_view(nb::cast<std::string>(value))), *item.bytes);
    }
    return;
  }
  if (kind == FieldKind::kImage && !PyBytes_Check(value.ptr())) {
    const std::optional<pack::ArrayEncoder>& encoder = described().encoders[item.field];
    if (encoder && encoder->encoding == pack::ArrayEncoding::kNpy) {  // one copy, as the other way
      const auto buffer = shared_buffer(value);
      ConstRawView pixels = layout_of(value);
      pixels.data = buffer->bytes().data();
      if (!out.borrows || field.has(kListField)) return encode_npy(pixels, *item.bytes);
      encode_npy_header(pixels, *item.bytes);
      out.fields[item.field].rest = buffer->bytes();
      out.lent.push_back(buffer);
      return;
    }
  }
  if (kind == FieldKind::kImage && PyBytes_Check(value.ptr()) && !field.has(kListField)) {
    const auto buffer = shared_buffer(value);
    item.bytes->clear();
    out.fields[item.field].rest = buffer->bytes();
    out.lent.push_back(buffer);
    return;
  }
  assign(Buffer(value).bytes(), *item.bytes);
  if (kind == FieldKind::kImage && !PyBytes_Check(value.ptr())) {
    item.pixels = layout_of(value);
    pending.push_back(std::move(item));
  }
}

void PythonSamples::finish(const Pending& pending) const {
  try {
    if (!pending.file.empty()) return pack::read_whole(pending.file, *pending.bytes);
    ConstRawView pixels = pending.pixels;
    pixels.data = pending.bytes->data();
    std::vector<std::byte> encoded;
    pack::encode_array(pixels, described().encoders[pending.field].value(), encoded);
    *pending.bytes = std::move(encoded);
  } catch (const Error& error) {
    throw CorruptError(fmt::format("the image of field '{}' cannot be {} ({})",
                                   item_name(schema().fields[pending.field], pending.item),
                                   pending.file.empty() ? "encoded" : "read", error.what()));
  }
}

}  // namespace fuelrail::python
