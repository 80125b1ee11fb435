#include "fuelrail/container/whole_records.h"

#include <utility>

#include "fuelrail/container/forwarding_container.h"

namespace fuelrail {
namespace {

class WholeRecords final : public ForwardingContainer {
 public:
  explicit WholeRecords(std::shared_ptr<const Container> of) : ForwardingContainer(std::move(of)) {}
  Extent extent(uint64_t i) const override { return inner().record_extent(i); }
};

}  // namespace

std::shared_ptr<const Container> whole_records(std::shared_ptr<const Container> container) {
  return std::make_shared<WholeRecords>(std::move(container));
}

}  // namespace fuelrail
