// The text of an expected error.
#pragma once

#include <gtest/gtest.h>

#include <exception>
#include <string>

namespace fuelrail::testing {

// Calls `call`, which must throw an Expected error. Returns: the error's text. Any other outcome
// fails the test.
template <typename Expected, typename Call>
std::string refusal_of(Call call) {
  try {
    call();
  } catch (const Expected& error) {
    return error.what();
  } catch (const std::exception& error) {
    ADD_FAILURE() << "another error: " << error.what();
    return "";
  }
  ADD_FAILURE() << "no error";
  return "";
}

}  // namespace fuelrail::testing
