#include "fuelrail/cli/record_checker.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>

#include "fuelrail/cli/opening.h"
#include "fuelrail/cli/record_info.h"
#include "fuelrail/cli/signals.h"
#include "fuelrail/cli/text.h"

namespace fuelrail::cli {

Finding finding_of(const Error& error) {
  const ErrorDetail& detail = error.detail();
  return {.text = error.what(),
          .problem = error.what(),
          .path = detail.path,
          .record = detail.record,
          .offset = detail.offset,
          .unread = dynamic_cast<const IoError*>(&error) != nullptr ||
                    dynamic_cast<const NotFoundError*>(&error) != nullptr};
}

Finding finding_of(const Damage& damage) {
  return {.text = fmt::format("{}: offset {}: {}: {} skipped", damage.path, damage.offset,
                              damage.reason, counted(damage.skipped_bytes, "byte")),
          .problem = damage.reason,
          .path = damage.path,
          .offset = damage.offset,
          .skipped_bytes = damage.skipped_bytes};
}

RecordChecker::RecordChecker(const Container& container, bool decode, const Container* full)
    : container_(container),
      full_(full),
      files_(record_files_of(container)),
      pieces_(container),
      make_hints_(decode ? hint_maker() : MakeHints()) {
  if (decode) decoder_.emplace();
}

CheckedRecord RecordChecker::check(uint64_t i) {
  CheckedRecord checked;
  bool record_is_read = false;
  checked_ = nullptr;
  has_suspect_ = has_wrong_hints_ = false;
  try {
    if (pieces_.is_long(i)) {  // only its checksum can be checked
      pieces_.read(i, [](Bytes) {});
      return checked;
    }
    read_record(container_, i, framed_, sample_);
    check_tables(i);
    record_is_read = true;
    checked.tolerated = check_images(container_);
    if (full_ != nullptr) {
      full_->parse(i, framed_, sample_);
      checked.tolerated += check_images(*full_);
    }
    if (has_suspect_) {
      DecodeError notice(
          "the image decodes without a warning, but may be damaged: its data are not what encoders "
          "write");
      checked.suspect = finding_at(i, notice);
    }
    if (has_wrong_hints_) {
      CorruptError wrong(
          "the entry points in the sidecar are not those that this version makes of the image",
          {.remedy = "Make them again with 'fuelrail index'"});
      checked.finding = finding_at(i, wrong);
      checked.finding->in_hints = true;
    }
  } catch (MissingCodecError& error) {  // concerns other records too
    error.add(container_.place(i).detail());
    throw;
  } catch (Error& error) {
    checked.finding = finding_at(i, error);
    checked.finding->in_image = record_is_read;
  } catch (const Interrupted&) {           // the waiting thread also stops
  } catch (const std::exception& error) {  // std::bad_alloc: the image's header claims a huge size
    IoError refused("cannot check the record", {.found = error.what()});
    checked.finding = finding_at(i, refused);
  }
  return checked;
}

Finding RecordChecker::finding_at(uint64_t i, Error& error) const {
  error.add(container_.place(i).detail());
  return finding_of(error);
}

void RecordChecker::check_tables(uint64_t i) const {
  const Place place = container_.place(i);
  for (const RecordFile* file : files_) {
    if (file->uri() == place.path) file->check_record(place.record, framed_, false);
  }
}

uint32_t RecordChecker::check_images(const Container& container) {
  const Schema& schema = container.schema();
  uint32_t tolerated = 0;
  for (size_t f = 0; f < schema.fields.size(); ++f) {
    const FieldSpec& field = schema.fields[f];
    if (field.kind != FieldKind::kImage) continue;
    const auto check_item = [&](const EncodedImage& encoded, size_t item) {
      try {
        tolerated += check_image(field, encoded);
      } catch (Error& error) {
        error.add({.field = image_name(schema, f, item)});
        throw;
      }
    };
    const FieldValue& value = sample_.fields[f];
    if (!field.has(kListField)) check_item(value, 0);
    for (size_t k = 0; k < value.items.size(); ++k) check_item(value.items[k], k);
  }
  return tolerated;
}

uint32_t RecordChecker::check_image(const FieldSpec& field, const EncodedImage& encoded) {
  if (encoded.bytes.data() == checked_) return 0;  // the thumbnail is the image
  checked_ = encoded.bytes.data();
  const ImageInfo info = probe(encoded);
  if (!decoder_) {
    if (field.has_values()) value_layout(info, pack::value_encoding_of(field));
    return 0;
  }
  const DecodeJob job = decoder_->decode(field, encoded, info);
  has_suspect_ |= job.way == DecodeWay::kSuspect && job.tolerated == 0;
  has_wrong_hints_ |= !has_own_hints(encoded);
  return job.tolerated;
}

// The sidecar's checksums do not show whether its hints are those of this image.
bool RecordChecker::has_own_hints(const EncodedImage& encoded) const {
  return encoded.hints.empty() || std::ranges::equal(encoded.hints, make_hints_(encoded.bytes));
}

}  // namespace fuelrail::cli
