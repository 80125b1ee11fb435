// A command of `fuelrail` as data: its options, its help texts and its function. The table of
// commands is in cli_main.cc.
#pragma once

#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "fuelrail/base/option.h"
#include "fuelrail/cli/console.h"

namespace fuelrail::cli {

// A row of an option table (base/option.h). `set` is called with a value that the rule allows.
struct TableRow {
  OptionRule rule;
  std::function<void(const OptionValue&)> set;
};

// Where the value of an option is stored: in a member of the command's arguments, or through a
// row's `set`. bool: the option is a flag, which takes no value.
using Target = std::variant<bool*, std::string*, std::vector<std::string>*, TableRow>;

// An option, or a positional argument if the name has no dashes.
struct Option {
  std::string names;  // "-j,--threads", "FILE"
  Target target;
  std::string help;
  bool required = false;
};

// The option for a row: `--num-parts` for the row "num_parts". Its help has the row's meaning,
// bounds and default.
Option option_of_row(TableRow row, const OptionValue& default_value);

// The options for the named rows of `table`. Their values are stored in `options`.
template <typename Options>
std::vector<Option> options_of_table(const OptionTable<Options>& table, Options& options,
                                     const std::vector<std::string>& rows) {
  std::vector<Option> all;
  for (const std::string& name : rows) {
    for (const auto& row : table.rows()) {
      if (row.rule.name != name) continue;
      const auto assign = [set = row.set, &options](const auto& value) { set(options, value); };
      all.push_back(option_of_row({row.rule, assign}, row.get(options)));
    }
  }
  return all;
}

// Options that several commands share.
Option json_option(bool& json);
Option quiet_option(bool& quiet);
Option threads_option(std::optional<int>& threads, const std::string& what_they_do,
                      std::string names = "-j,--threads");
std::vector<Option> joined(std::initializer_list<std::vector<Option>> options);

// Lifetime: `run` keeps the targets of the options alive.
struct Command {
  std::string name;
  std::string help;
  std::vector<Option> options;
  std::string footer;  // end of its --help: notes and examples

  // Runs the command. Returns: an ExitCode. Errors: any Error, and Interrupted.
  std::function<int(Console&)> run;
};

// Creates a command. `declare` binds its options to the members of an `Arguments`, which `run`
// receives. (In a unity build, the functions of all commands are overloads of the same two names;
// each command therefore needs its own Arguments type.)
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
  const Command* command = nullptr;   // the named command; null: print `text` instead
  std::vector<std::string> values{};  // the values of its arguments and options
  std::string text{};                 // the output of --help or --version
};

// Parses the command line, and stores the value of each option in its target. Lifetime: `commands`
// outlive the result.
// Errors: InvalidArgumentError.
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
