#include "fuelrail/container/record_file.h"

#include <new>

#include "fuelrail/base/crc32.h"
#include "fuelrail/base/error.h"

namespace fuelrail {

RecordFile::RecordFile(std::shared_ptr<const Source> source, StoredSidecar sidecar)
    : source_(std::move(source)),
      stored_(std::move(sidecar)),
      parser_(stored_.sidecar->payloads()) {
  hinted_ = only_image(parser_.schema());
  if (!stored_.sidecar->payloads().samples) return;
  const std::vector<FieldSpec>& fields = parser_.schema().fields;
  for (size_t i = 0; i < fields.size(); ++i) {
    if (fields[i].role != Role::kLabel) continue;
    parser_.limit_labels(i, RecordFile::classes_of(fields[i].name).size());
  }
}

void RecordFile::read_pieces(uint64_t i, MutableBytes,
                             const std::function<void(Bytes piece)>&) const {
  throw StateError(
      "the code for this file's format cannot read long records",
      {.path = uri(), .record = i, .remedy = "Report this as a bug: the file is not at fault"});
}

const std::vector<std::string>& RecordFile::classes_of(std::string_view field) const {
  const FieldClasses& others = sidecar().field_classes();
  const auto found = others.find(std::string(field));
  return found != others.end() ? found->second : Container::classes_of(field);
}

std::optional<Bytes> RecordFile::hints(uint64_t i, uint32_t crc,
                                       std::vector<std::byte>& storage) const {
  if (!hinted_ || !sidecar().has_hints()) return Bytes();
  try {
    return sidecar().hints(i, crc, storage);
  } catch (const Error&) {
    return std::nullopt;
  } catch (const std::bad_alloc&) {  // nobody needs them
    return Bytes();
  }
}

std::optional<uint64_t> RecordFile::hinted_records() const {
  if (!hinted_) return std::nullopt;
  try {
    return sidecar().has_hints() ? sidecar().hinted_records() : 0;
  } catch (const Error&) {
    return 0;
  }
}

void RecordFile::parse(uint64_t i, Bytes framed, Sample& out) const {
  try {
    const std::optional<uint32_t> crc = payload_crc(i);
    const Bytes found = payload(i, framed, out.storage);
    if (crc) check_record_crc(crc32(found), *crc);
    parser_.parse(i, found, out);
    if (!crc || !hinted_) return;
    // No decoder accepts this byte, so hints that cannot be read are counted and warned of.
    static constexpr std::byte kUnreadable[1] = {};
    out.fields[*hinted_].hints = hints(i, *crc, out.hints).value_or(kUnreadable);
  } catch (Error& error) {
    if (error.detail().path.empty()) error.add(place(i).detail());
    throw;
  }
}

}  // namespace fuelrail
