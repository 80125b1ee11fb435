#include "fuelrail/container/made/made_container.h"

#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "fuelrail/base/crc32.h"
#include "fuelrail/base/error.h"
#include "fuelrail/container/sample_record.h"
#include "fuelrail/storage/at_hand.h"

namespace fuelrail::made {
namespace {

class MadeContainer final : public Container {
 public:
  MadeContainer(MadeRecords records, std::shared_ptr<const RecordMaker> maker)
      : records_(std::move(records)), maker_(std::move(maker)), parser_(records_.schema) {
    for (const auto& [field, names] : records_.classes) {
      const size_t number = records_.schema.index_of(field);
      if (records_.schema.fields[number].role != Role::kLabel) {
        throw InvalidArgumentError(
            fmt::format("the field '{}' has class names, but is not a label", field));
      }
      parser_.limit_labels(number, names.size());
    }
  }

  uint64_t size() const override { return records_.size; }
  const Schema& schema() const override { return parser_.schema(); }
  size_t makes_at_once() const override { return maker_->at_once(); }
  bool knows_extent(uint64_t) const override { return false; }

  Extent extent(uint64_t i) const override { return extent_while(i, {}); }
  Extent extent_while(uint64_t i, const KeepGoing& keep_going) const override {
    OnlyAtHand::check();
    std::shared_ptr<const Source> source = maker_->make(i, keep_going);
    const uint64_t length = source->size_bytes();
    return {.source = std::move(source), .offset = 0, .length = length};
  }

  void parse(uint64_t i, Bytes framed, Sample& out) const override {
    try {
      parser_.parse(framed, out);
    } catch (Error& error) {
      error.add({.path = records_.name, .record = i});
      throw;
    }
  }

  Place place(uint64_t i) const override { return {.path = records_.name, .record = i}; }

  const std::vector<std::string>& classes() const override { return classes_of("label"); }
  const std::vector<std::string>& classes_of(std::string_view field) const override {
    static const std::vector<std::string> kNone;
    const auto names = records_.classes.find(std::string(field));
    return names == records_.classes.end() ? kNone : names->second;
  }
  const char* format() const override { return "a dataset of the program"; }
  bool verifies_checksums() const override { return false; }

 private:
  // The lengths of the records are unknown.
  Fingerprint make_fingerprint(const KeepGoing&) const override {
    return {.records = records_.size, .checksum = crc32(as_bytes(records_.fingerprint))};
  }

  const MadeRecords records_;
  const std::shared_ptr<const RecordMaker> maker_;
  SampleParser parser_;
};

}  // namespace

std::shared_ptr<const Container> open_made(MadeRecords records,
                                           std::shared_ptr<const RecordMaker> maker) {
  return std::make_shared<MadeContainer>(std::move(records), std::move(maker));
}

}  // namespace fuelrail::made
