#include "fuelrail/decode/codec_library.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <exception>
#include <new>
#include <string>

namespace fuelrail {
namespace {

[[noreturn]] void refuse(const CodecLibrary& library, const std::string& expected,
                         const std::string& found) {
  throw StateError(fmt::format("the library that decodes {} images cannot be used", library.title),
                   {.expected = expected, .found = found, .remedy = library.remedy});
}

template <typename Function>
Function function_in(void* opened, const char* name, const CodecLibrary& library) {
  void* const found = ::dlsym(opened, name);
  if (found == nullptr)
    refuse(library, fmt::format("the function {} in {}", name, library.file), "none");
  return reinterpret_cast<Function>(found);
}

}  // namespace

std::unique_ptr<Decoder> make_decoder_in(const CodecLibrary& library) {
  void* const opened = ::dlopen(library.file, RTLD_NOW | RTLD_LOCAL);
  if (opened == nullptr) refuse(library, library.file, ::dlerror());
  const int built_with = function_in<int (*)()>(opened, "fuelrail_codec_interface", library)();
  if (built_with != kCodecInterface) {
    refuse(library, fmt::format("{} with interface version {}", library.file, kCodecInterface),
           fmt::format("interface version {}", built_with));
  }
  const auto make = function_in<Decoder* (*)()>(opened, "fuelrail_make_decoder", library);
  std::string found = "none";
  try {
    if (std::unique_ptr<Decoder> decoder{make()}) return decoder;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    found = error.what();
  } catch (...) {
    found = "an exception of an unknown type";
  }
  refuse(library, "a decoder", found);
}

}  // namespace fuelrail
