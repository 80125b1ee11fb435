#include <nanobind/nanobind.h>

#include <string>
#include <vector>

#include "bindings.h"
#include "fuelrail/base/error.h"
#include "fuelrail/cli/cli_main.h"

namespace fuelrail::python {
namespace {

int run_command(const Strings& arguments) {
  const std::vector<std::string> words = fs_names(arguments);
  std::vector<const char*> argv;
  for (const std::string& word : words) {
    if (word.find('\0') != std::string::npos) {  // the command would end the argument there
      throw InvalidArgumentError("an argument of the command has a NUL character", {.found = word});
    }
    argv.push_back(word.c_str());
  }
  const GilReleased released;
  return cli_main(static_cast<int>(argv.size()), argv.data());
}

}  // namespace

void bind_cli(nb::module_& module) {
  module.def("cli_main", run_command, nb::arg("argv"),
             "Runs the `fuelrail` command and returns its exit code.");
}

}  // namespace fuelrail::python
