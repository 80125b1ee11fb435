// Text files with one class name per line.
#include <string>
#include <string_view>
#include <vector>

#include "fuelrail/container/class_names.h"
#include "fuzzing.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace fuelrail;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  std::vector<std::string> names;
  if (!fuzzing::succeeds([&] { names = parse_class_names(text, "fuzzed.txt"); })) return 0;
  check_class_names(names);
  std::string written = "\xEF\xBB\xBF";  // a byte order mark, with which a name may begin as well
  for (const std::string& name : names) written += name + "\n";
  fuzzing::require(parse_class_names(written, "again.txt") == names,
                   "what is written is read back");
  return 0;
}
