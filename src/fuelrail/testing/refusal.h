// The text of an error that must come.
#pragma once

#include <gtest/gtest.h>

#include <exception>
#include <string>

namespace fuelrail::testing {

// Calls `call` and returns what the Expected error that it throws says. Anything else is a failure
// of the test.
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
