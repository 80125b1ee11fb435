#include "fuelrail/loader/loss_warnings.h"

#include <fmt/format.h>

#include <string_view>

namespace fuelrail {
namespace {

constexpr const char* kOnce = "This is said once, of one such image";

std::string text_of(const Place& place, std::string_view loss, std::string_view remedy) {
  return fmt::format("{}: record {}, offset {}: {}. {}. {}.", place.path, place.record,
                     place.offset, loss, remedy, kOnce);
}

}  // namespace

void LossWarnings::tell_of_bits(int bits, const Place& place) const {
  if (!warn_) return;
  warn_(text_of(place,
                fmt::format("the image has {} bits a channel, of which the upper 8 are kept", bits),
                "To decide yourself how it becomes 8 bits, convert it before it is packed; to keep "
                "all bits, take the field 'encoded' and decode it yourself"));
}

void LossWarnings::tell_of_alpha(const Place& place) const {
  if (!warn_) return;
  warn_(text_of(place,
                "the image may have alpha, which is dropped: its colours stay as they are stored",
                "To see it on a background, blend the two before it is packed; to keep the alpha, "
                "take the field 'encoded' and decode it yourself"));
}

}  // namespace fuelrail
