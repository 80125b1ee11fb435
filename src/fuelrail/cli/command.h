// A command of `fuelrail`, as data: what its part of the command line is, and what it does. The
// table of commands is in cli_main.cc.
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

// A row of a table of options (base/option.h). What the rule allows is set.
struct TableRow {
  OptionRule rule;
  std::function<void(const OptionValue&)> set;
};

// Where a value of the command line goes: a member of the command's arguments, or what a row sets.
// bool: a flag, without a value.
using Target = std::variant<bool*, std::string*, std::vector<std::string>*, TableRow>;

// An option, or a positional argument, whose name has no dashes.
struct Option {
  std::string names;  // "-j,--threads", "FILE"
  Target target;
  std::string help;
  bool required = false;
};

// "--num-parts" of the row "num_parts"; its help is the row's meaning, bounds and default.
Option option_of_row(TableRow row, const OptionValue& default_value);

// The options of some rows of `table`, which are set in `options`.
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

// Options that several commands have.
Option json_option(bool& json);
Option quiet_option(bool& quiet);
Option threads_option(std::optional<int>& threads, const std::string& what_they_do,
                      std::string names = "-j,--threads");
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
