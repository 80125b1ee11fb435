#include "fuelrail/loader/loss_warnings.h"

#include <fmt/format.h>

namespace fuelrail {

namespace {

// Reads first: images may come in many threads, and a write for each would slow all of them.
bool is_first(std::atomic<bool>& told) {
  return !told.load(std::memory_order_relaxed) && !told.exchange(true, std::memory_order_relaxed);
}

}  // namespace

void LossWarnings::look_at(const ImageInfo& info, const Container& container, uint64_t record) {
  const auto warn = [&](const std::string& loss) {
    if (!warn_) return;
    const Place place = container.place(record);
    warn_(
        fmt::format("{}: record {}, offset {}: {}, take the field 'encoded' and decode it "
                    "yourself. This is said once, of one such image.",
                    place.path, place.record, place.offset, loss));
  };
  if (info.bits > 8 && is_first(told_of_bits_)) {
    warn(
        fmt::format("the image has {} bits a channel, of which the upper 8 are kept. To decide "
                    "yourself how it becomes 8 bits, convert it before it is packed; to keep all "
                    "bits",
                    info.bits));
  }
  if (info.alpha && is_first(told_of_alpha_)) {
    warn(
        "the image may have alpha, which is dropped: its colours stay as they are stored. To see "
        "it on a background, blend the two before it is packed; to keep the alpha");
  }
}

}  // namespace fuelrail
