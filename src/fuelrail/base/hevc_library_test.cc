// Plugins for H.265 that cannot be used. A plugin that can be used stays open, so these tests are
// in a program that opens none.
#include "fuelrail/base/hevc_library.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "fuelrail/base/error.h"
#include "fuelrail/testing/invented_hevc.h"
#include "fuelrail/testing/refusal.h"

namespace fuelrail::testing {
namespace {

using ::testing::HasSubstr;

std::string refused(const char* file, const char* fault = "") {
  const SelectedPlugin selected(file, fault);
  return refusal_of<MissingCodecError>([] { hevc_library(); });
}

TEST(HevcLibrary, that_cannot_be_used_is_one_error_with_one_remedy) {
  const std::string absent = refused("libfuelrail_absent.so");
  EXPECT_THAT(absent, HasSubstr("expected libfuelrail_absent.so, found libfuelrail_absent.so: "));
  const std::string another = refused("libm.so.6");
  EXPECT_THAT(another, HasSubstr("expected the function fuelrail_hevc in libm.so.6, found none"));
  const std::string old = refused(INVENTED_HEVC, "old");
  EXPECT_THAT(old, HasSubstr("with interface version 1, found interface version 0"));
  const std::string none = refused(INVENTED_HEVC, "no table");
  EXPECT_THAT(none, HasSubstr("found no interface"));
  for (const std::string& error : {absent, another, old, none}) {
    EXPECT_THAT(error, HasSubstr("the plugin for H.265 images cannot be used"));
    EXPECT_THAT(error, HasSubstr("Install the plugin with 'pip install \"fuelrail[hevc]\"', or "));
  }
}

TEST(HevcLibrary, that_cannot_be_used_is_described_by_the_reason) {
  const SelectedPlugin selected(INVENTED_HEVC, "old");
  EXPECT_EQ(describe_hevc_library(),
            "not usable (interface version 0); docs/install.md describes the plugin");
}

}  // namespace
}  // namespace fuelrail::testing
