#include "fuelrail/decode/codec_library.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <exception>
#include <new>
#include <string>
#include <string_view>

#include "fuelrail/base/error.h"

namespace fuelrail {
namespace {

[[noreturn]] void refuse(const CodecLibrary& library, const std::string& expected,
                         const std::string& found) {
  throw UnsupportedError(fmt::format("{} images need a library that cannot be used", library.title),
                         {.expected = expected, .found = found, .remedy = library.remedy});
}

template <typename Function>
Function function_in(void* opened, const char* name, const CodecLibrary& library) {
  void* const found = ::dlsym(opened, name);
  if (found == nullptr) refuse(library, fmt::format("{} in {}", name, library.file), "none");
  return reinterpret_cast<Function>(found);
}

}  // namespace

std::unique_ptr<Decoder> make_decoder_in(const CodecLibrary& library) {
  void* const opened = ::dlopen(library.file, RTLD_NOW | RTLD_LOCAL);
  if (opened == nullptr) refuse(library, library.file, ::dlerror());
  const auto version = function_in<const char* (*)()>(opened, "fuelrail_codec_version", library);
  const std::string_view built_with = version();
  if (built_with != FUELRAIL_VERSION) {
    refuse(library, fmt::format("{} of fuelrail {}", library.file, FUELRAIL_VERSION),
           fmt::format("one of {}", built_with));
  }
  const auto make = function_in<Decoder* (*)()>(opened, "fuelrail_make_decoder", library);
  try {
    if (std::unique_ptr<Decoder> decoder{make()}) return decoder;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    refuse(library, "a decoder", error.what());
  }
  refuse(library, "a decoder", "none");
}

}  // namespace fuelrail
