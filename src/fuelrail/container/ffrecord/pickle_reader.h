// The bytes of a pickle, operation by operation: what folder_pickle.cc runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "fuelrail/base/bytes.h"
#include "fuelrail/base/endian.h"
#include "fuelrail/base/error.h"

namespace fuelrail::ffrecord {

// Errors, of all that read: CorruptError, which says the operation's place, for bytes that end too
// early or are not what was asked for. Views are into the pickle.
class PickleReader {
 public:
  explicit PickleReader(Bytes pickle) : text_(as_text(pickle)) {}

  // Returns: the code of the operation that begins here, whose arguments are read next.
  uint8_t next_operation();

  size_t begin() const { return begin_; }  // of the operation
  size_t left() const { return text_.size() - at_; }

  // Of the operation's arguments.
  std::string_view take_utf8(uint64_t length);
  std::string_view take_line();
  template <typename T>
  T take_number() {
    return load_le<T>(as_bytes(take(sizeof(T))).data());
  }
  int64_t take_decimal() { return decimal(take_line()); }
  int64_t take_int();                  // as a decimal, but no truth value
  int64_t take_decimal_long();         // with an L behind it
  int64_t take_long(uint64_t length);  // little-endian, of at most 8 bytes
  // Of protocol 0: a line of Latin-1, with \uXXXX and \UXXXXXXXX. Returns: it in UTF-8.
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
