// For tests: calls the command in this process, as Python's entry point does.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "fuelrail/cli/cli_main.h"

namespace fuelrail::testing {

struct Said {
  int code = -1;
  std::string out;
  std::string err;
};

inline Said call(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "fuelrail");
  std::vector<const char*> argv;
  for (const std::string& argument : arguments) argv.push_back(argument.c_str());
  ::testing::internal::CaptureStdout();
  ::testing::internal::CaptureStderr();
  Said said;
  said.code = cli_main(static_cast<int>(argv.size()), argv.data());
  said.out = ::testing::internal::GetCapturedStdout();
  said.err = ::testing::internal::GetCapturedStderr();
  return said;
}

}  // namespace fuelrail::testing
