// A fixture for tests that pack: a folder for photographs, and an empty output folder. A test that
// includes this links fuelrail_dep::jpeg.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "fuelrail/base/bytes.h"
#include "fuelrail/testing/photographs.h"
#include "fuelrail/testing/temporary_directory.h"

namespace fuelrail {

class PhotographFolder : public ::testing::Test {
 protected:
  PhotographFolder() { std::filesystem::create_directory(out()); }

  void put_photograph(const std::string& name, int64_t height, int64_t width, uint64_t seed) const {
    const std::vector<std::byte> jpeg = make_jpeg(height, width, seed);
    write_file(photo(name), as_text(jpeg));
  }

  std::string photos() const { return directory_ / "photos"; }
  std::string photo(const std::string& name) const { return photos() + "/" + name; }
  std::string out() const { return directory_ / "out"; }
  std::string out(const std::string& name) const { return out() + "/" + name; }

  // All files of the output folder, by name.
  std::map<std::string, std::string> outputs() const {
    std::map<std::string, std::string> files;
    for (const std::string& name : names_in(out())) files[name] = file_contents(out(name));
    return files;
  }

  TemporaryDirectory directory_;
};

}  // namespace fuelrail
