// The journal of a killed packing. Runs a second time with the input as the entries of a block with
// the right checksum.
#include <string>
#include <vector>

#include "fuelrail/base/crc32.h"
#include "fuelrail/base/endian.h"
#include "fuelrail/pack/output/journal.h"
#include "fuzzing.h"

namespace fuelrail {
namespace {

using fuzzing::require;

void put_u32(std::vector<std::byte>& out, uint32_t value) {
  out.resize(out.size() + sizeof value);
  store_le(out.data() + out.size() - sizeof value, value);
}

std::vector<std::byte> journal_of(Bytes entries) {
  const Bytes magic = as_bytes("frpackj1");
  const Bytes job = as_bytes("job");
  std::vector<std::byte> journal(magic.begin(), magic.end());
  put_u32(journal, static_cast<uint32_t>(job.size()));
  put_u32(journal, crc32(job));
  journal.insert(journal.end(), job.begin(), job.end());
  put_u32(journal, static_cast<uint32_t>(entries.size()));
  put_u32(journal, crc32(entries));
  journal.insert(journal.end(), entries.begin(), entries.end());
  return journal;
}

void check_journal(Bytes journal) {
  const auto contents = pack::parse_journal(journal, "job");
  if (!contents) return;
  require(contents->valid_bytes <= journal.size(), "what is used is there");
  require(contents->items.size() <= journal.size(), "no more items than bytes");
  for (const auto& [item, reason] : contents->reasons) {
    require(item < contents->items.size() && contents->items[item].framed_bytes == 0,
            "a reason is that of an image left out");
  }
  const auto again = pack::parse_journal(journal.first(contents->valid_bytes), "job");
  require(again && again->items.size() == contents->items.size(),
          "without what cannot be used it says the same");
}

}  // namespace
}  // namespace fuelrail

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace fuelrail;
  const Bytes input = fuzzing::as_bytes(data, size);
  check_journal(input);
  check_journal(journal_of(input));
  return 0;
}
