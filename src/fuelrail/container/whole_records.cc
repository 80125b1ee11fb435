#include "fuelrail/container/whole_records.h"

#include <utility>

namespace fuelrail {
namespace {

class WholeRecords final : public Container {
 public:
  explicit WholeRecords(std::shared_ptr<const Container> of) : of_(std::move(of)) {}

  uint64_t size() const override { return of_->size(); }
  const Schema& schema() const override { return of_->schema(); }
  Extent extent(uint64_t i) const override { return of_->record_extent(i); }
  bool knows_extent(uint64_t i) const override { return of_->knows_extent(i); }
  void parse(uint64_t i, Bytes framed, Sample& out) const override { of_->parse(i, framed, out); }
  Place place(uint64_t i) const override { return of_->place(i); }
  std::optional<Size> image_size(uint64_t i) const override { return of_->image_size(i); }
  const std::vector<std::string>& classes() const override { return of_->classes(); }
  const std::vector<std::string>& classes_of(std::string_view field) const override {
    return of_->classes_of(field);
  }
  const char* format() const override { return of_->format(); }
  bool verifies_checksums() const override { return of_->verifies_checksums(); }

 private:
  Fingerprint make_fingerprint(const KeepGoing& keep_going) const override {
    return of_->fingerprint(keep_going);
  }

  std::shared_ptr<const Container> of_;
};

}  // namespace

std::shared_ptr<const Container> whole_records(std::shared_ptr<const Container> container) {
  return std::make_shared<WholeRecords>(std::move(container));
}

}  // namespace fuelrail
