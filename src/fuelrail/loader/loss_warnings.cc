#include "fuelrail/loader/loss_warnings.h"

#include <fmt/format.h>

#include <utility>

#include "fuelrail/base/image_format.h"

namespace fuelrail {
namespace {

// Reads the flag before writing it, because a write for each image would slow down all threads.
bool is_first(std::atomic<bool>& told) {
  return !told.load(std::memory_order_relaxed) && !told.exchange(true, std::memory_order_relaxed);
}

}  // namespace

LossWarnings::LossWarnings(const Container& container, Warn warn)
    : container_(container), warn_(std::move(warn)) {}

void LossWarnings::look_closer(const ImageInfo& info, size_t field, uint64_t record) {
  if (info.bits > 8 && info.format == &kNpyFormat) return;  // decoding refuses such elements
  if (info.bits > 8 && is_first(told_of_bits_)) {
    warn(field, record,
         fmt::format("the image has {} bits per channel, of which only the upper 8 are kept. "
                     "For a different conversion, convert the image before packing it; to keep all "
                     "bits",
                     info.bits));
  }
  if (info.alpha && is_first(told_of_alpha_)) {
    warn(field, record,
         "the image may have an alpha channel, which is dropped without blending. To blend the "
         "image with a background, do so before packing it; to keep the alpha channel");
  }
}

void LossWarnings::tell_of_refused_hints(uint64_t record) {
  if (!is_first(told_of_hints_) || !warn_) return;
  const Place place = container_.place(record);
  warn_(fmt::format(
      "{0}: record {1}, offset {2}: the image's entry points in the sidecar are damaged or not its "
      "own, so it is decoded without them. Make them again with 'fuelrail index {0}'. This warning "
      "appears only once.",
      place.path, place.record, place.offset));
}

void LossWarnings::warn(size_t field, uint64_t record, const std::string& loss) {
  if (!warn_) return;
  const Place place = container_.place(record);
  const Schema& schema = container_.schema();
  const FieldSpec& spec = schema.fields[field];
  const bool is_only = image_name(schema, field).empty();
  const bool has_column = spec.name == "image" && !spec.has(kListField);
  warn_(fmt::format(
      "{}: record {}{}, offset {}: {}, {} and decode it yourself. This warning appears only once.",
      place.path, place.record, is_only ? "" : fmt::format(", field '{}'", spec.name), place.offset,
      loss,
      has_column ? "load the field 'encoded'"
                 : fmt::format("read it with data[i][\"{}\"]", spec.name)));
}

}  // namespace fuelrail
