// What every test of the command shares: photographs, an output folder, and running the command.
#pragma once

#include <gmock/gmock.h>
#include <stdlib.h>

#include <algorithm>
#include <functional>
#include <string>

#include "command.h"
#include "fuelrail/testing/photograph_folder.h"

namespace fuelrail {

// Two classes, "ant" with 4 and "bee" with 3 photographs.
class CommandTest : public PhotographFolder {
 protected:
  CommandTest() {
    for (uint64_t i = 0; i < 7; ++i) {
      put_photograph(std::string(i < 4 ? "ant" : "bee") + "/" + std::to_string(i) + ".jpg",
                     40 + static_cast<int64_t>(i), 60, i);
    }
  }

  std::string rec() const { return out("x.rec"); }

  void pack_photos() const {
    ASSERT_EQ(testing::run_command({"pack", photos(), rec(), "-q", "--overwrite"}).code, 0);
  }

  // For Command: sidecars that cannot lie beside their file go here.
  std::function<void()> own_cache() const {
    return [cache = out("cache")] { ::setenv("XDG_CACHE_HOME", cache.c_str(), 1); };
  }

  // Overwrites bytes of a file.
  static void damage(const std::string& path, size_t offset, const std::string& bytes) {
    std::string contents = file_contents(path);
    ASSERT_LE(offset + bytes.size(), contents.size());
    contents.replace(offset, bytes.size(), bytes);
    write_file(path, contents);
  }
};

// One line that begins with "fuelrail: ".
inline void expect_one_line(const std::string& err) {
  EXPECT_THAT(err, ::testing::StartsWith("fuelrail: "));
  EXPECT_EQ(std::count(err.begin(), err.end(), '\n'), 1) << err;
  EXPECT_THAT(err, ::testing::EndsWith("\n"));
}

}  // namespace fuelrail
