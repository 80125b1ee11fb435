#include "fuelrail/base/hevc_library.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <vector>

namespace fuelrail {
namespace {

constexpr const char* kFile = "libfuelrail_hevc.so";
constexpr const char* kRemedy =
    "Install the plugin with 'pip install \"fuelrail[hevc]\"', or build it from fuelrail's sources "
    "(plugins/hevc)";

[[noreturn]] void refuse(std::string expected, std::string found) {
  throw MissingCodecError(
      "the plugin for H.265 images cannot be used",
      {.expected = std::move(expected), .found = std::move(found), .remedy = kRemedy});
}

// The plugin's file in the folder that its wheel installs, if this code is part of the Python
// extension `fuelrail/_core.so`; else empty.
std::string file_beside_package() {
  Dl_info info{};
  if (::dladdr(reinterpret_cast<const void*>(&file_beside_package), &info) == 0) return {};
  const std::filesystem::path own(info.dli_fname);
  if (!own.is_absolute()) return {};  // the main program's name, as it was called
  const auto file = own.parent_path().parent_path() / "fuelrail_hevc" / kFile;
  std::error_code ignored;
  return std::filesystem::exists(file, ignored) ? file.string() : std::string();
}

std::string file_to_open() {
  if (const char* named = std::getenv("FUELRAIL_HEVC"); named != nullptr && *named != '\0') {
    return named;
  }
  const std::string beside = file_beside_package();
  return beside.empty() ? kFile : beside;
}

const fuelrail_hevc_table* open_library() {
  const std::string file = file_to_open();
  void* const opened = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (opened == nullptr) refuse(file, ::dlerror());
  const auto table = reinterpret_cast<fuelrail_hevc_function>(::dlsym(opened, "fuelrail_hevc"));
  if (table == nullptr) refuse(fmt::format("the function fuelrail_hevc in {}", file), "none");
  const fuelrail_hevc_table* const found = table();
  const std::string version = fmt::format("interface version {}", FUELRAIL_HEVC_INTERFACE);
  if (found == nullptr) refuse(fmt::format("{} with {}", file, version), "no interface");
  if (found->interface != FUELRAIL_HEVC_INTERFACE) {
    refuse(fmt::format("{} with {}", file, version),
           fmt::format("interface version {}", found->interface));
  }
  return found;
}

}  // namespace

const fuelrail_hevc_table& hevc_library() {
  static std::atomic<const fuelrail_hevc_table*> known = nullptr;
  const fuelrail_hevc_table* table = known.load(std::memory_order_acquire);
  if (table == nullptr) {
    table = open_library();
    known.store(table, std::memory_order_release);
  }
  return *table;
}

std::string describe_hevc_library() {
  try {
    return hevc_library().description;
  } catch (const MissingCodecError& error) {
    return fmt::format("not usable ({}); docs/install.md describes the plugin",
                       error.detail().found);
  }
}

}  // namespace fuelrail
