#include "fuelrail/container/fingerprint.h"

#include <fmt/format.h>

#include <array>

#include "fuelrail/base/crc32.h"
#include "fuelrail/base/endian.h"

namespace fuelrail {
namespace {

// The CRC's polynomial, and polynomials over GF(2) modulo it: bit 31 is x^0.
constexpr uint32_t kPolynomial = 0xEDB88320;
constexpr uint32_t kOne = 0x80000000;
constexpr uint32_t kX8 = kOne >> 8;  // x^8: one byte

uint32_t multiply(uint32_t a, uint32_t b) {
  uint32_t product = 0;
  for (uint32_t bit = kOne; bit != 0; bit >>= 1) {
    if ((a & bit) != 0) product ^= b;
    b = (b & 1) != 0 ? (b >> 1) ^ kPolynomial : b >> 1;
  }
  return product;
}

// The CRC-32 of A followed by B, from those of A and B: CRC(A) * x^(8 * bytes of B) + CRC(B).
uint32_t join_crc32(uint32_t first, uint32_t second, uint64_t second_bytes) {
  uint32_t power = kOne;
  uint32_t square = kX8;
  for (uint64_t exponent = second_bytes; exponent != 0; exponent >>= 1) {
    if ((exponent & 1) != 0) power = multiply(power, square);
    square = multiply(square, square);
  }
  return multiply(first, power) ^ second;
}

// CRC-32 of little-endian integers, one after the other.
class IntegersChecksum {
 public:
  template <typename T>
  void add(T value) {
    std::array<std::byte, sizeof(T)> bytes;
    store_le(bytes.data(), value);
    crc_ = crc32(bytes, crc_);
  }
  uint32_t value() const { return crc_; }

 private:
  uint32_t crc_ = 0;
};

// A selection's fingerprint, built run by run.
class Selection {
 public:
  explicit Selection(const Fingerprint& parent) : parent_(parent) {
    checksum_.add(parent.records);
    checksum_.add(parent.bytes);
    checksum_.add(parent.checksum);
  }

  void add_run(uint64_t begin, uint64_t count, int64_t step) {
    whole_ = whole_ && count_ == 0 && begin == 0 && (step == 1 || count == 1);
    checksum_.add(begin);
    checksum_.add(count == 1 ? int64_t{0} : step);
    checksum_.add(count);
    count_ += count;
  }

  Fingerprint result() const {
    if (whole_ && count_ == parent_.records) return parent_;
    return {count_, parent_.bytes, checksum_.value()};
  }

 private:
  const Fingerprint& parent_;
  IntegersChecksum checksum_;
  uint64_t count_ = 0;
  bool whole_ = true;  // so far a prefix of the parent
};

}  // namespace

std::string to_string(const Fingerprint& fingerprint) {
  return fmt::format("{}-{}-{:08x}", fingerprint.records, fingerprint.bytes, fingerprint.checksum);
}

void FingerprintBuilder::add(uint64_t length) {
  std::array<std::byte, 8> bytes;
  store_le(bytes.data(), length);
  fingerprint_.checksum = crc32(bytes, fingerprint_.checksum);
  fingerprint_.bytes += length;
  fingerprint_.records += 1;
}

Fingerprint join(const Fingerprint& first, const Fingerprint& second) {
  return {first.records + second.records, first.bytes + second.bytes,
          join_crc32(first.checksum, second.checksum, 8 * second.records)};
}

Fingerprint select(const Fingerprint& parent, std::span<const uint64_t> indices) {
  Selection selection(parent);
  for (size_t begin = 0; begin < indices.size();) {
    size_t end = begin + 1;
    uint64_t step = 0;  // modulo 2^64
    if (end < indices.size()) step = indices[end] - indices[begin];
    while (end < indices.size() && indices[end] - indices[end - 1] == step) ++end;
    selection.add_run(indices[begin], end - begin, static_cast<int64_t>(step));
    begin = end;
  }
  return selection.result();
}

Fingerprint select(const Fingerprint& parent, uint64_t begin, uint64_t count, int64_t step) {
  Selection selection(parent);
  if (count > 0) selection.add_run(begin, count, step);
  return selection.result();
}

std::string fingerprint_of_classes(std::span<const std::string> names) {
  if (names.empty()) return {};
  uint32_t checksum = 0;
  for (const std::string& name : names) {
    std::array<std::byte, 8> length;
    store_le(length.data(), static_cast<uint64_t>(name.size()));
    checksum = crc32(as_bytes(name), crc32(length, checksum));
  }
  return fmt::format("{}-{:08x}", names.size(), checksum);
}

}  // namespace fuelrail
