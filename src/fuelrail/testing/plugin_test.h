// A fixture of tests that need the plugin for H.265.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <string_view>

#include "fuelrail/base/error.h"
#include "fuelrail/base/hevc_library.h"

namespace fuelrail::testing {

// Skips the tests if there is no plugin. But if the environment variable FUELRAIL_HEVC names one,
// the tests fail instead.
class PluginTest : public ::testing::Test {
 protected:
  void SetUp() override {
    try {
      hevc_library();
    } catch (const MissingCodecError& error) {
      const char* const named = std::getenv("FUELRAIL_HEVC");
      if (named != nullptr && *named != '\0') FAIL() << error.what();
      GTEST_SKIP() << error.what();
    }
  }

  static bool decodes_with_libavcodec() {
    return std::string_view(hevc_library().description).starts_with("libavcodec");
  }
};

}  // namespace fuelrail::testing
