#include "fuelrail/container/record_file.h"

#include "fuelrail/base/crc32.h"
#include "fuelrail/base/error.h"

namespace fuelrail {

void RecordFile::parse(uint64_t i, Bytes framed, Sample& out) const {
  const std::optional<uint32_t> crc = payload_crc(i);
  try {
    const Bytes found = payload(i, framed, out.storage);
    if (crc) check_record_crc(crc32(found), *crc);
    parser_.parse(i, found, out);
  } catch (Error& error) {
    if (error.detail().path.empty()) {
      const Place at = place(i);
      error.add({.path = at.path, .record = at.record, .offset = at.offset});
    }
    throw;
  }
}

}  // namespace fuelrail
