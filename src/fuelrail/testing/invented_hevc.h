// Selects the plugin for H.265 that is opened next, and the fault of the invented plugin
// (invented_hevc.cc).
#pragma once

#include <cstdlib>

namespace fuelrail::testing {

// Sets the environment variables as long as it lives.
class SelectedPlugin {
 public:
  SelectedPlugin(const char* file, const char* fault) {
    ::setenv("FUELRAIL_HEVC", file, 1);
    ::setenv("FUELRAIL_INVENTED_HEVC", fault, 1);
  }
  ~SelectedPlugin() {
    ::unsetenv("FUELRAIL_HEVC");
    ::unsetenv("FUELRAIL_INVENTED_HEVC");
  }
  SelectedPlugin& operator=(SelectedPlugin&&) = delete;
};

}  // namespace fuelrail::testing
