#include "fuelrail/container/made/record_maker.h"

#include <algorithm>
#include <string>
#include <vector>

namespace fuelrail::made {
namespace {

class OwnedRecord final : public RecordBytes {
 public:
  explicit OwnedRecord(std::vector<std::byte> bytes)
      : RecordBytes(bytes), owned_(std::move(bytes)) {}  // a move keeps the address

 private:
  const std::vector<std::byte> owned_;
};

}  // namespace

const std::string& RecordBytes::uri() const {
  static const std::string kNone;
  return kNone;
}

void RecordBytes::read(uint64_t offset, MutableBytes into) const {
  check_range(uri(), bytes_.size(), offset, into.size());
  std::ranges::copy(bytes_.subspan(offset, into.size()), into.begin());
}

std::shared_ptr<const Source> owned_record(std::vector<std::byte> bytes) {
  return std::make_shared<OwnedRecord>(std::move(bytes));
}

}  // namespace fuelrail::made
