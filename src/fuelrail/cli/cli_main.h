// The `fuelrail` command: called by the native binary and by Python's entry point.
#pragma once

namespace fuelrail {

// Returns the exit code: 0 ok, 1 data problem, 2 usage, 3 input/output, 130 interrupted.
int cli_main(int argc, const char* const* argv);

}  // namespace fuelrail
