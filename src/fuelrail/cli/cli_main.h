// The `fuelrail` command: called by the native binary and by Python's entry point.
#pragma once

namespace fuelrail {

// Runs one command. `argv[0]` is the program's name. Results go to standard output, everything else
// to standard error as lines `fuelrail: <text>`. Never throws. Returns the exit code: 0 ok, 1 data
// problem, 2 usage, 3 input/output, 130 interrupted by Ctrl-C, 143 by SIGTERM. May be called any
// number of times; signal handlers are restored when it returns. Threads: one call at a time per
// process.
int cli_main(int argc, const char* const* argv);

}  // namespace fuelrail
