// A command of `fuelrail`, as data: what its part of the command line is, and what it does. The
// table of commands is in cli_main.cc.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "fuelrail/cli/console.h"

namespace fuelrail::cli {

// Where a value of the command line goes: a member of the command's arguments. What it holds before
// is the default. bool: a flag, without a value.
using Target =
    std::variant<bool*, int*, int64_t*, uint64_t*, double*, std::string*, std::optional<int>*,
                 std::optional<int64_t>*, std::optional<uint64_t>*, std::vector<std::string>*>;

// An option, or a positional argument, whose name has no dashes. Bounds are those of a table of
// options (base/option.h), which `run` checks.
struct Option {
  std::string names;  // "-j,--threads", "FILE"
  Target target;
  std::string help;
  bool required = false;
  std::vector<std::string> choices{};
};

// Options that several commands have.
Option json_option(bool& json);
Option quiet_option(bool& quiet);
Option threads_option(std::optional<int>& threads, std::string what_they_do);
std::vector<Option> joined(std::initializer_list<std::vector<Option>> options);

// Lifetime: `run` keeps what the options' targets point to.
struct Command {
  std::string name;
  std::string help;
  std::vector<Option> options;
  std::string footer;  // of its --help: examples, and what is to be known

  // Does the work. Returns: an ExitCode. Errors: any Error, and Interrupted.
  std::function<int(Console&)> run;
};

// The command whose options `declare` binds to members of `Arguments`, and that calls `run` with
// them. (Each command names its own Arguments, for its `declare` and `run` have the names of the
// others'.)
template <typename Arguments>
Command command_of(std::string name, std::string help, std::string footer,
                   std::vector<Option> (*declare)(Arguments&),
                   int (*run)(const Arguments&, Console&)) {
  const auto arguments = std::make_shared<Arguments>();
  return {.name = std::move(name),
          .help = std::move(help),
          .options = declare(*arguments),
          .footer = std::move(footer),
          .run = [arguments, run](Console& console) { return run(*arguments, console); }};
}

struct CommandLine {
  const Command* command = nullptr;   // the one that was named; null where `text` is the answer
  std::vector<std::string> values{};  // as they were given to it
  std::string text{};                 // of --help or --version
};

// Sets the targets of the options that are given. Lifetime: the result is valid as long as
// `commands`. Errors: InvalidArgumentError.
CommandLine parse(const std::vector<Command>& commands, int argc, const char* const* argv);

Command pack_command();
Command im2rec_command();
Command merge_command();
Command convert_command();
Command info_command();
Command ls_command();
Command cat_command();
Command verify_command();
Command recover_command();
Command index_command();
Command bench_command();
Command doctor_command();

}  // namespace fuelrail::cli
