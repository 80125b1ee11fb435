// MXNet's header and labels in front of an image.
#include <algorithm>

#include "fuelrail/container/image_record.h"
#include "fuelrail/container/payload.h"
#include "fuelrail/container/sidecar/sidecar.h"
#include "fuelrail/container/sidecar/sidecar_writer.h"
#include "fuzzing.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace fuelrail;
  using fuzzing::require;
  const Bytes payload = fuzzing::as_bytes(data, size);
  ImageRecord record;
  if (!fuzzing::succeeds([&] { record = parse_image_record(payload); })) return 0;
  std::vector<float> labels;
  for (size_t i = 0; i < record.label_count(); ++i) labels.push_back(record.label(i));
  LabelTally tally;
  tally.add(record.labels);
  require(tally.summary().width == static_cast<int64_t>(labels.size()), "labels are counted");

  // As the only record of its file, it is a sample; together with another record, a sample or an
  // error.
  Sample sample;
  PayloadParser({.labels = tally.summary()}).parse(3, payload, sample);
  require(sample.id == record.id, "a sample has its record's id");
  require(std::ranges::equal(sample.fields[0].bytes, record.image), "a sample has its image");
  fuzzing::succeeds(
      [&] { PayloadParser({.labels = LabelSummary{.width = 2}}).parse(3, payload, sample); });
  fuzzing::succeeds(
      [&] { PayloadParser({.labels = LabelSummary{.integral = true}}).parse(3, payload, sample); });

  std::vector<std::byte> written;
  append_image_record(record.id, labels, record.image, written);
  const ImageRecord again = parse_image_record(written);
  require(again.id == record.id && std::ranges::equal(again.labels, record.labels) &&
              std::ranges::equal(again.image, record.image),
          "what is written is read back");
  return 0;
}
