// Splits the bytes of a pickle into operations, which folder_pickle.cc executes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "fuelrail/base/bytes.h"
#include "fuelrail/base/endian.h"
#include "fuelrail/base/error.h"

namespace fuelrail::ffrecord {

// Errors of all reading methods: CorruptError, with the operation's position, if the bytes end too
// early or do not have the requested form. Returned views are into the pickle.
class PickleReader {
 public:
  explicit PickleReader(Bytes pickle) : text_(as_text(pickle)) {}

  // Returns: the opcode at the current position. Read its arguments next.
  uint8_t next_operation();

  size_t begin() const { return begin_; }  // position of the current operation
  size_t left() const { return text_.size() - at_; }

  // These read the operation's arguments.
  std::string_view take_utf8(uint64_t length);
  std::string_view take_line();
  template <typename T>
  T take_number() {
    return load_le<T>(as_bytes(take(sizeof(T))).data());
  }
  int64_t take_decimal() { return decimal(take_line()); }
  int64_t take_int();                  // as take_decimal, but refuses booleans
  int64_t take_decimal_long();         // a decimal number followed by L
  int64_t take_long(uint64_t length);  // little-endian, at most 8 bytes
  // A string of protocol 0: a line of Latin-1 with \uXXXX and \UXXXXXXXX. Returns: the text in
  // UTF-8.
  std::string take_escaped_line();

  [[noreturn]] void refuse(const std::string& failure, ErrorDetail detail = {}) const;
  [[noreturn]] void refuse_shape(const std::string& expected) const;

 private:
  std::string_view take(uint64_t length);
  int64_t decimal(std::string_view text) const;
  uint32_t code_point(std::string_view digits, size_t length) const;

  std::string_view text_;
  size_t at_ = 0;
  size_t begin_ = 0;
};

}  // namespace fuelrail::ffrecord
