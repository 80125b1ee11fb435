#include "fuelrail/container/payload.h"

#include <algorithm>
#include <array>

#include "fuelrail/base/error.h"
#include "fuelrail/container/image_record.h"

namespace fuelrail {
namespace {

static_assert(kPayloadHeadBytes >= kImageHeaderBytes && kPayloadHeadBytes >= kSampleLengthsEnd);

constexpr const char* kDataField = "data";

}  // namespace

uint64_t payload_prefix_bytes(Bytes payload) {
  return announces_sample(payload) ? sample_prefix_bytes(payload) : image_prefix_bytes(payload);
}

std::optional<uint64_t> payload_id(const PayloadKind& kind, Bytes payload) {
  if (kind.samples) return sample_id_in(payload);
  if (kind.labels && has_image_prefix(payload)) return parse_image_record(payload).id;
  return std::nullopt;
}

// --- The records of a file ---

void PayloadTally::add(Bytes begin) {
  ++records_;
  if (announces_sample(begin)) {
    if (const std::optional<Bytes> descriptors = descriptors_in(begin)) add_sample(*descriptors);
  } else if (has_image_prefix(begin)) {
    ++image_records_;
    labels_.add(parse_image_record(begin).labels);
  }
}

void PayloadTally::add_sample(Bytes descriptors) {
  const bool same = !descriptors.empty() && std::ranges::equal(descriptors, descriptors_);
  if (!same) {
    try {
      schema_of(descriptors);
    } catch (const CorruptError&) {
      if (broken_records_++ == 0)
        broken_descriptors_.assign(descriptors.begin(), descriptors.end());
      return;
    } catch (const UnsupportedError&) {  // `kind` throws it
    }
  }
  ++sample_records_;
  if (same) {
    ++lead_;
  } else if (lead_ > 0) {
    --lead_;
  } else {
    descriptors_.assign(descriptors.begin(), descriptors.end());
    lead_ = 1;
  }
}

bool PayloadTally::would_change(Bytes begin) const {
  if (announces_sample(begin)) {
    const std::optional<Bytes> descriptors = descriptors_in(begin);
    return descriptors && !std::ranges::equal(*descriptors, descriptors_);
  }
  if (!has_image_prefix(begin)) return false;
  LabelTally after = labels_;
  after.add(parse_image_record(begin).labels);
  return after.summary() != labels_.summary();
}

PayloadKind PayloadTally::kind() const {
  if (image_records_ > records_ / 2) return {.labels = labels_.summary()};
  if (sample_records_ + broken_records_ <= records_ / 2) return {};
  try {
    return {.samples = schema_of(sample_records_ > 0 ? descriptors_ : broken_descriptors_)};
  } catch (CorruptError& error) {
    error.add({.remedy = "Restore the file, or pack it again"});
    throw;
  }
}

void check_fields_known(const Sidecar& sidecar, const Source& source, Bytes head, uint64_t first,
                        uint64_t last) {
  if (sidecar.payloads() != PayloadKind{}) return;
  const auto announces = [&](uint64_t at) {
    std::array<std::byte, kPayloadHeadBytes> begin{};
    if (at > source.size_bytes() || source.size_bytes() - at < begin.size()) return false;
    if (at + begin.size() <= head.size()) return announces_sample(head.subspan(at, begin.size()));
    source.read(at, begin);
    return announces_sample(begin);
  };
  if (!announces(first) || !announces(last)) return;
  throw CorruptError("the sidecar has no fields, but the file's records are sample records",
                     {.path = sidecar.uri(), .remedy = kNewSidecar});
}

PayloadParser::PayloadParser(const PayloadKind& kind) : images_(kind.labels.has_value()) {
  if (kind.samples) {
    samples_.emplace(*kind.samples);
  } else if (kind.labels) {
    schema_ = image_schema(*kind.labels);
  } else {
    schema_.fields = {{.name = kDataField, .kind = FieldKind::kBytes}};
  }
}

void PayloadParser::parse(uint64_t index, Bytes payload, Sample& out) const {
  if (samples_) return samples_->parse(payload, out);
  if (images_) {
    const ImageRecord record = parse_image_record(payload);
    fill_image_sample(schema_, record.id, record.image, record.labels, out);
    return;
  }
  out.fields.resize(schema_.fields.size());
  out.fields[0] = {payload};
  out.id = index;
}

// --- The only image of a payload ---

Bytes OnlyImage::in(Bytes payload) {
  if (announces_sample(payload)) return in_sample(payload);
  return has_image_prefix(payload) ? parse_image_record(payload).image : Bytes();
}

Bytes OnlyImage::in_sample(Bytes payload) {
  const std::optional<Bytes> descriptors = descriptors_in(payload);
  if (!descriptors) return {};
  try {
    if (!samples_ || !std::ranges::equal(*descriptors, descriptors_)) {
      samples_.emplace(schema_of(*descriptors));
      descriptors_.assign(descriptors->begin(), descriptors->end());
      field_ = only_image(samples_->schema());
    }
    if (!field_) return {};
    samples_->parse(payload, sample_);
    return sample_.fields[*field_].bytes;
  } catch (const CorruptError&) {
  } catch (const UnsupportedError&) {
  }
  return {};
}

}  // namespace fuelrail
