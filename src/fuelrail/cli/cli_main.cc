#include "fuelrail/cli/cli_main.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
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

constexpr const char* kVersion = "fuelrail " FUELRAIL_VERSION;

// The table of commands, in the order of the help.
constexpr std::array kAddCommand{add_pack,    add_im2rec, add_merge, add_convert,
                                 add_info,    add_ls,     add_cat,   add_verify,
                                 add_recover, add_index,  add_bench, add_doctor};

constexpr const char* kFooter = R"(
Examples:
  fuelrail pack photos train.rec --resize 256
  fuelrail info train.rec
  fuelrail ls train.rec :10
  fuelrail verify train.rec --decode
  fuelrail bench train.rec

'fuelrail COMMAND --help' says more. Exit codes: 0 ok, 1 data problem, 2 usage, 3 input/output,
130 interrupted (143 by SIGTERM).)";

bool is_unsigned(const CLI::Option& option) { return option.get_type_name().starts_with("UINT"); }

// The parser would make a large number of one below 0.
void refuse_negative_numbers(CLI::App& app) {
  for (CLI::App* command : app.get_subcommands(nullptr)) {
    for (CLI::Option* option : command->get_options()) {
      if (!is_unsigned(*option)) continue;
      option->check(
          [](const std::string& text) { return text.starts_with('-') ? "negative" : ""; });
    }
  }
}

void set_up(CLI::App& app, Action& action) {
  app.name("fuelrail");
  app.set_version_flag("--version", kVersion, "Print the version and exit");
  app.footer(kFooter);
  app.require_subcommand(1);
  app.get_formatter()->column_width(28);
  for (const auto& add : kAddCommand) add(app, action);
  refuse_negative_numbers(app);
}

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands(nullptr)) names.push_back(command->get_name());
  return names;
}

std::vector<std::string> option_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    for (const std::string& name : option->get_snames()) names.push_back("-" + name);
  }
  return names;
}

// What an option's value must be, in words; empty for any text.
std::string kind_of_value(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  if (type.starts_with("INT")) return "a whole number";
  if (type.starts_with("UINT")) return "a whole number, 0 or more";
  return type.starts_with("FLOAT") ? "a number" : "";
}

// The option of a number that the parser could not read, or was not given; null for another error.
const CLI::Option* option_without_number(const CLI::App& command, const CLI::ParseError& error) {
  const bool no_number = dynamic_cast<const CLI::ConversionError*>(&error) != nullptr ||
                         dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr;
  const bool refused = dynamic_cast<const CLI::ValidationError*>(&error) != nullptr;
  const std::string said = error.what();
  for (const CLI::Option* option : command.get_options()) {
    const bool at_fault =
        no_number ? !kind_of_value(*option).empty() : refused && is_unsigned(*option);
    if (at_fault && said.find(option->get_name()) != std::string::npos) return option;
  }
  return nullptr;
}

// The parser stops at the first thing that is missing; a name that it does not know is more often
// what went wrong, so that is looked for first.
[[noreturn]] void explain(const CLI::App& app, const CLI::ParseError& error) {
  const std::vector<CLI::App*> named = app.get_subcommands();
  const CLI::App& command = named.empty() ? app : *named.front();
  const std::string prefix = named.empty() ? "" : command.get_name() + ": ";
  const std::vector<std::string> unknown = app.remaining(true);
  for (const std::string& argument : unknown) {
    if (!argument.starts_with('-') || argument == "--") continue;
    const std::string name = argument.substr(0, argument.find('='));
    throw InvalidArgumentError(prefix + "there is no option '" + name + "'",
                               {.remedy = suggest(name, option_names(command))});
  }
  if (!unknown.empty()) {
    throw InvalidArgumentError(prefix + "'" + unknown.front() + "' is one argument too many");
  }
  if (named.empty()) {
    throw InvalidArgumentError("a command is missing", {.remedy = "See 'fuelrail --help'"});
  }
  const std::string remedy = "See 'fuelrail " + command.get_name() + " --help'";
  if (const CLI::Option* option = option_without_number(command, error)) {
    const CLI::results_t& given = option->results();
    throw InvalidArgumentError(
        prefix + option->get_name() + (given.empty() ? " is without its value" : " is no number"),
        {.expected = kind_of_value(*option),
         .found = given.empty() ? "" : "'" + given.front() + "'",
         .remedy = remedy});
  }
  throw InvalidArgumentError(prefix + error.what(), {.remedy = remedy});
}

void check_command(const CLI::App& app, int argc, const char* const* argv) {
  if (argc < 2 || argv[1][0] == '-') return;
  const std::vector<std::string> names = command_names(app);
  if (std::find(names.begin(), names.end(), argv[1]) != names.end()) return;
  throw InvalidArgumentError("there is no command '" + std::string(argv[1]) + "'",
                             {.remedy = suggest(argv[1], names)});
}

// What is wrong with an argument of the command that names a store which is not read; empty where
// none does.
std::string unread_store(const CLI::App& app) {
  for (const CLI::App* command : app.get_subcommands()) {
    for (const CLI::Option* option : command->get_options()) {
      for (const std::string& argument : option->results()) {
        try {
          file_system_for(argument);
        } catch (const UnsupportedError& error) {
          return error.what();
        }
      }
    }
  }
  return "";
}

int run(int argc, const char* const* argv, Console& console) {
  CLI::App app("Packs image datasets for training, and looks at them.");
  Action action;
  set_up(app, action);
  check_command(app, argc, argv);
  int code = kOk;
  try {
    app.parse(argc, argv);
    if (const std::string wrong = unread_store(app); !wrong.empty()) {
      console.say(wrong);
      return kUsage;
    }
    code = action(console);
  } catch (const CLI::CallForHelp&) {
    console.write(as_bytes(app.help()));
  } catch (const CLI::CallForVersion&) {
    console.print_line(kVersion);
  } catch (const CLI::ParseError& error) {
    explain(app, error);
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

// What is still to be printed is dropped: its reader may be why the user has had enough.
int stop(Console& console, const std::string& outcome = "") {
  console.say(outcome.empty() ? "interrupted" : "interrupted: " + outcome);
  return interrupted_exit_code();
}

// What was printed before the error stays printed.
int fail(Console& console, const std::string& message, ExitCode code) {
  try {
    console.flush();
  } catch (const std::exception&) {  // the first error is the one to tell
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
    return fail(console, "there is not enough memory", kInputOutput);
  } catch (const std::exception& error) {
    return fail(console, error.what(), kInputOutput);
  }
}

}  // namespace
}  // namespace cli

// The command runs on a thread of its own, so that this one hears Ctrl-C whatever storage does. One
// that has not ended in time is left as by a second Ctrl-C.
int cli_main(int argc, const char* const* argv) {
  const cli::SignalScope signals;
  int code = cli::kOk;
  if (Errand().run([&] { code = cli::code_of_run(argc, argv); },
                   [] { return !cli::interrupted(); })) {
    return code;
  }
  cli::Console().say("interrupted: it waits for storage, and is left as it stands");
  ::_exit(cli::interrupted_exit_code());
}

}  // namespace fuelrail
