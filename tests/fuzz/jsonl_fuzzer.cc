// Tables of JSON objects, one on each line.
#include <string_view>

#include "fuelrail/pack/annotations/jsonl.h"
#include "fuelrail/storage/file_system.h"
#include "fuzzing.h"

namespace {

using namespace fuelrail;
using fuzzing::require;

constexpr const char* kUri = "memory://fuzzed.jsonl";

void check_tensor(const FieldSpec& field, const pack::SourceValue& value) {
  require(value.shape.size() == field.shape.size(), "a value has the field's dimensions");
  size_t elements = 1;
  for (size_t i = 0; i < value.shape.size(); ++i) {
    require(field.shape[i] == -1 || field.shape[i] == value.shape[i], "extents fit the field");
    elements *= static_cast<size_t>(value.shape[i]);
  }
  require(value.bytes.size() == elements * size_in_bytes(field.dtype), "elements fill the extents");
}

// No image of the table exists.
void check_samples(const pack::SampleSource& table) {
  pack::SourceSample sample;
  for (uint64_t i = 0; i < table.size(); ++i) {
    if (!fuzzing::succeeds([&] { table.read(i, sample); })) continue;
    require(sample.fields.size() == table.schema().fields.size(), "every field has a value");
    for (size_t k = 0; k < sample.fields.size(); ++k) {
      const FieldSpec& field = table.schema().fields[k];
      if (field.kind == FieldKind::kTensor) check_tensor(field, sample.fields[k]);
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto sink = file_system_for(kUri).create(kUri);
  sink->write(fuzzing::as_bytes(data, size));
  sink->commit();
  fuzzing::succeeds([] { check_samples(*pack::open_jsonl(kUri, "memory://none")); });
  return 0;
}
