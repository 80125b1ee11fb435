#include "fuelrail/container/container.h"

#include <fmt/format.h>

namespace fuelrail {

Fingerprint Container::fingerprint(const KeepGoing& keep_going) const {
  const Fingerprint* known = fingerprint_.load(std::memory_order_acquire);
  if (known == nullptr) {
    auto made = std::make_unique<const Fingerprint>(make_fingerprint(keep_going));
    if (fingerprint_.compare_exchange_strong(known, made.get(), std::memory_order_acq_rel)) {
      known = made.release();
    }  // else another thread was first, and `known` is its fingerprint
  }
  return *known;
}

const std::vector<std::string>& Container::classes_of(std::string_view field) const {
  static const std::vector<std::string> kNone;
  return field == "label" ? classes() : kNone;
}

void check_length(const Extent& extent, uint64_t max_record_bytes) {
  if (extent.length <= max_record_bytes) return;
  throw CorruptError("the record is longer than allowed",
                     {.offset = extent.offset,
                      .expected = fmt::format("at most {} bytes", max_record_bytes),
                      .found = fmt::format("{}", extent.length),
                      .remedy = "If the length is correct, raise the loader's `max_record_bytes`, "
                                "or write the record to a file with 'fuelrail cat'"});
}

void read_sample(const Container& container, uint64_t i, std::vector<std::byte>& framed,
                 Sample& out, const KeepGoing& keep_going) {
  if (i >= container.size()) {
    throw OutOfRangeError(
        container.size() == 0 ? "the record index is out of range, because there are no records"
                              : "the record index is out of range",
        {.expected = container.size() == 0 ? "" : fmt::format("0 to {}", container.size() - 1),
         .found = fmt::format("{}", i)});
  }
  try {
    const Extent extent = container.extent_while(i, keep_going);
    check_length(extent);
    check_range(extent.source->uri(), extent.source->size_bytes(), extent.offset, extent.length);
    framed.resize(extent.length);
    extent.source->read(extent.offset, framed);
    container.parse(i, framed, out);
  } catch (Error& error) {
    const Place place = container.place(i);
    error.add({.path = place.path, .record = place.record});
    throw;
  }
}

}  // namespace fuelrail
