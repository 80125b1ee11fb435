// fuelrail's exception classes. An error says what failed, where (path, record, byte offset), what
// was expected, what was found, and what to do. It is thrown where the problem is detected; each
// layer above calls `add` with the details that only it knows. It is caught in the engine, which
// applies the error policy, in the Python bindings, and in the command's `main`.
//
//   throw CorruptError("the record's magic number is wrong",
//                      {.path = uri, .offset = at, .expected = "0xced7230a", .found = hex(magic)});
//
//   catch (Error& error) { error.add({.path = uri, .record = i}); throw; }
#pragma once

#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <vector>

namespace fuelrail {

// The details of an error. Every member is optional; an empty string or optional means "not known
// here".
struct ErrorDetail {
  std::string path{};                // URI of the file, as the user gave it
  std::optional<uint64_t> record{};  // index of the record in its container
  std::string field{};               // of the sample; an item of a list is "frames[3]"
  std::optional<uint64_t> offset{};  // byte offset in the file
  std::string expected{};
  std::string found{};
  std::string remedy{};  // what the user can do: one imperative sentence
};

class Error : public std::exception {
 public:
  // `failure` is one clause without a full stop: "the file ends inside a record".
  Error(std::string failure, ErrorDetail detail = {});

  // Fills in the members that are still empty; never overwrites those that a lower layer has set.
  void add(const ErrorDetail& detail);

  const std::string& failure() const { return failure_; }
  const ErrorDetail& detail() const { return detail_; }

  // One line: "<path>: record <i>, field '<name>', offset <n>: <failure>: expected <e>, found <f>.
  // <remedy>."
  const char* what() const noexcept override { return message_.c_str(); }

 private:
  void compose();

  std::string failure_;
  ErrorDetail detail_;
  std::string message_;
};

// One class for each kind of failure. The comment after each class names the built-in exception
// from which the Python class is also derived.
class InvalidArgumentError : public Error {
  using Error::Error;
};  // ValueError: a caller's value is wrong
class OutOfRangeError : public Error {
  using Error::Error;
};  // IndexError: the record, epoch or rank does not exist
class NotFoundError : public Error {
  using Error::Error;
};  // FileNotFoundError
class IoError : public Error {
  using Error::Error;
};  // OSError: an operation of the system failed
class TruncatedError : public Error {
  using Error::Error;
};  // EOFError: the data end too early
class CorruptError : public Error {
  using Error::Error;
};  // ValueError: the data contradict their format
class DecodeError : public Error {
  using Error::Error;
};  // ValueError: an image cannot be decoded
class OutOfMemoryError : public Error {
  using Error::Error;
};  // MemoryError: not enough memory
class UnsupportedError : public Error {
  using Error::Error;
};  // NotImplementedError: valid, but not supported here
class MissingCodecError : public UnsupportedError {
  using UnsupportedError::UnsupportedError;
};  // this machine lacks a codec: all images of a format fail, and no error policy skips them
class StateError : public Error {
  using Error::Error;
};  // RuntimeError: the object is closed, belongs to the parent process, or is in the wrong state
class StallError : public Error {
  using Error::Error;
};  // TimeoutError: nothing arrived within the caller's timeout
class TooManyBadRecordsError : public Error {
  using Error::Error;
};  // RuntimeError: more records were skipped than the error policy allows

// A remedy for an unknown name: "Did you mean 'x'?" with the name in `known` nearest to `given` by
// edit distance, or "Known: a, b, c" if none is near.
std::string suggest(const std::string& given, const std::vector<std::string>& known);

}  // namespace fuelrail
