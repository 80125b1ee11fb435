#include "fuelrail/cli/cli_main.h"

#include <unistd.h>

#include <new>
#include <string>
#include <vector>

#include "fuelrail/base/errand.h"
#include "fuelrail/base/error.h"
#include "fuelrail/cli/command.h"
#include "fuelrail/cli/signals.h"
#include "fuelrail/storage/file_system.h"

namespace fuelrail {
namespace cli {
namespace {

// All commands, in the order in which the help lists them.
std::vector<Command> all_commands() {
  return {pack_command(),    im2rec_command(), merge_command(), convert_command(),
          info_command(),    ls_command(),     cat_command(),   verify_command(),
          recover_command(), index_command(),  bench_command(), doctor_command()};
}

// Errors: InvalidArgumentError if the argument is a URI of an unsupported scheme.
void check_store(const std::string& argument) {
  try {
    file_system_for(argument);
  } catch (const UnsupportedError& error) {
    throw InvalidArgumentError(error.failure(), error.detail());
  }
}

int run(int argc, const char* const* argv, Console& console) {
  const std::vector<Command> commands = all_commands();
  const CommandLine line = parse(commands, argc, argv);
  int code = kOk;
  if (line.command == nullptr) {
    console.write(as_bytes(line.text));
  } else {
    for (const std::string& value : line.values) check_store(value);
    code = line.command->run(console);
  }
  console.flush();
  return code;
}

ExitCode code_of(const Error& error) {
  if (dynamic_cast<const InvalidArgumentError*>(&error) != nullptr ||
      dynamic_cast<const OutOfRangeError*>(&error) != nullptr) {
    return kUsage;
  }
  if (dynamic_cast<const IoError*>(&error) != nullptr ||
      dynamic_cast<const NotFoundError*>(&error) != nullptr) {
    return kInputOutput;
  }
  return kDataProblem;
}

// Drops unprinted output: the user may have interrupted because the reader of the output is slow.
int stop(Console& console, const std::string& outcome = "") {
  console.say(outcome.empty() ? "interrupted" : "interrupted: " + outcome);
  return interrupted_exit_code();
}

// Prints the output that was gathered before the error, and then the error.
int fail(Console& console, const std::string& message, ExitCode code) {
  try {
    console.flush();
  } catch (const std::exception&) {  // report the first error, not this one
  }
  console.say(message);
  return code;
}

int code_of_run(int argc, const char* const* argv) {
  Console console;
  try {
    return run(argc, argv, console);
  } catch (const ReaderHasGone&) {
    return kOk;
  } catch (const Interrupted& interrupted) {
    return stop(console, interrupted.outcome());
  } catch (const Error& error) {
    if (interrupted()) return stop(console);
    return fail(console, error.what(), code_of(error));
  } catch (const std::bad_alloc&) {
    return fail(console, "not enough memory", kInputOutput);
  } catch (const std::exception& error) {
    return fail(console, error.what(), kInputOutput);
  }
}

}  // namespace
}  // namespace cli

// The command runs on its own thread, so that this thread can react to Ctrl-C even if storage
// hangs, or while a large image is encoded. If the command does not end in time, the process exits
// as after a second Ctrl-C.
int cli_main(int argc, const char* const* argv) {
  const cli::SignalScope signals;
  int code = cli::kOk;
  if (Errand().run([&] { code = cli::code_of_run(argc, argv); },
                   [] { return !cli::interrupted(); })) {
    return code;
  }
  cli::Console().say(
      "interrupted: the command's current step does not end, so it exits without cleaning up");
  ::_exit(cli::interrupted_exit_code());
}

}  // namespace fuelrail
