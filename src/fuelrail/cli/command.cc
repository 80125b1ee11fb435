#include "fuelrail/cli/command.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <type_traits>

#include "fuelrail/base/error.h"
#include "fuelrail/base/parse_number.h"
#include "fuelrail/cli/text.h"
#include "fuelrail/engine/engine.h"

namespace fuelrail::cli {
namespace {

constexpr const char* kVersion = "fuelrail " FUELRAIL_VERSION "\n";

constexpr const char* kFooter = R"(
Examples:
  fuelrail pack photos train.{1} --resize 256
  fuelrail info train.{1}
  fuelrail ls train.{1} :10
  fuelrail verify train.{1} --decode
  fuelrail bench train.{1}

Run 'fuelrail COMMAND --help' for the options of a command. Exit codes: 0 ok, 1 data problem,
2 usage, 3 input/output, 130 interrupted by Ctrl-C, 143 by SIGTERM.)";

std::string see_help(const CLI::App& command) {
  return "See 'fuelrail " + command.get_name() + " --help'";
}

[[noreturn]] void throw_without_value(const CLI::App& command, const std::string& name) {
  throw InvalidArgumentError(command.get_name() + ": " + name + " needs a value",
                             {.remedy = see_help(command)});
}

// Returns: empty if the text is not a number.
std::optional<OptionValue> value_of(const OptionRule& rule, const std::string& text) {
  if (!rule.choices.empty()) return text;
  if (rule.kind.starts_with("float")) return parse_number<double>(text);
  if (const auto number = parse_number<int64_t>(text)) return *number;
  if (const auto number = parse_number<uint64_t>(text)) return *number;
  const bool whole = text.find_first_not_of("-0123456789") == std::string::npos;
  if (whole && parse_number<double>(text)) rule.refuse(text, true);
  return {};
}

CLI::Option* add_row(CLI::App& app, const std::string& names, const TableRow& row,
                     const std::string& help) {
  if (row.rule.kind == "bool") {
    return app
        .add_flag_callback(
            names, [set = row.set] { set(true); }, help)
        ->disable_flag_override();
  }
  const CLI::callback_t set = [&app, names, row](const CLI::results_t& given) {
    const std::optional<OptionValue> value = value_of(row.rule, given.front());
    if (!value) {
      throw InvalidArgumentError(
          app.get_name() + ": " + names.substr(names.rfind("--")) + " is not a number",
          {.expected = row.rule.kind.starts_with("int") ? "a whole number" : "a number",
           .found = shown(given.front()),
           .remedy = see_help(app)});
    }
    row.rule.check(*value);
    row.set(*value);
    return true;
  };
  const char first = row.rule.kind.front();  // kinds: "int", "float", "one of"
  return app.add_option(names, set, help)
      ->type_name(first == 'i'   ? "INT"
                  : first == 'f' ? "FLOAT"
                                 : "TEXT");
}

void add_option(CLI::App& app, const Option& option) {
  const std::string help = with_formats(option.help);
  const auto add = [&](const auto& target) {
    using To = std::remove_cvref_t<decltype(target)>;
    if constexpr (std::is_same_v<To, TableRow>) {
      return add_row(app, option.names, target, help);
    } else if constexpr (std::is_same_v<To, bool*>) {
      return app.add_flag(option.names, *target, help)->disable_flag_override();
    } else {
      CLI::Option* const added = app.add_option(option.names, *target, help);
      const size_t name = option.names.rfind("--");
      if (name == std::string::npos) return added;  // a positional argument
      return added->check([&app, name = option.names.substr(name)](const std::string& text) {
        if (text.empty()) throw_without_value(app, name);
        return std::string();
      });
    }
  };
  std::visit(add, option.target)->required(option.required);
}

void set_up(CLI::App& app, const std::vector<Command>& commands) {
  app.name("fuelrail");
  app.set_version_flag("--version", kVersion, "Print the version and exit");
  app.footer(with_formats(kFooter));
  app.require_subcommand(1);
  app.get_formatter()->column_width(28);
  for (const Command& command : commands) {
    CLI::App* const added = app.add_subcommand(command.name, command.help);
    for (const Option& option : command.options) add_option(*added, option);
    added->footer(with_formats(command.footer));
  }
}

const Command* find(const std::vector<Command>& commands, const std::string& name) {
  const auto found = std::find_if(commands.begin(), commands.end(),
                                  [&](const Command& command) { return command.name == name; });
  return found == commands.end() ? nullptr : &*found;
}

void check_command(const std::vector<Command>& commands, int argc, const char* const* argv) {
  if (argc < 2 || argv[1][0] == '-' || find(commands, argv[1]) != nullptr) return;
  std::vector<std::string> names;
  for (const Command& command : commands) names.push_back(command.name);
  throw InvalidArgumentError("unknown command '" + std::string(argv[1]) + "'",
                             {.remedy = suggest(argv[1], names)});
}

std::vector<std::string> option_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    for (const std::string& name : option->get_snames()) names.push_back("-" + name);
  }
  return names;
}

// Throws the error for a command line that the parser rejects. The parser stops at the first
// missing argument, but an unknown option is the more likely mistake and is therefore reported
// first.
[[noreturn]] void explain(const CLI::App& app, const CLI::ParseError& error) {
  const std::vector<CLI::App*> named = app.get_subcommands();
  const CLI::App& command = named.empty() ? app : *named.front();
  const std::string prefix = named.empty() ? "" : command.get_name() + ": ";
  const std::vector<std::string> unknown = app.remaining(true);
  for (const std::string& argument : unknown) {
    if (!argument.starts_with('-') || argument == "--") continue;
    const std::string name = argument.substr(0, argument.find('='));
    throw InvalidArgumentError(prefix + "unknown option '" + name + "'",
                               {.remedy = suggest(name, option_names(command))});
  }
  if (!unknown.empty()) {
    throw InvalidArgumentError(prefix + "unexpected argument '" + unknown.front() + "'");
  }
  if (named.empty()) {
    throw InvalidArgumentError("a command is missing", {.remedy = "See 'fuelrail --help'"});
  }
  const std::string said = error.what();  // "--resize: 1 required INT missing"
  const std::string name = said.substr(0, said.find(':'));
  if (said.ends_with(" missing")) throw_without_value(command, name);
  if (const size_t flag = said.find(" was given a disallowed flag"); flag != std::string::npos) {
    throw InvalidArgumentError(prefix + "--" + said.substr(0, flag) + " takes no value",
                               {.remedy = see_help(command)});
  }
  if (said.find(": At Most 1 ") != std::string::npos) {
    throw InvalidArgumentError(prefix + name + " is given more than once",
                               {.remedy = see_help(command)});
  }
  throw InvalidArgumentError(prefix + error.what(), {.remedy = see_help(command)});
}

std::vector<std::string> values_given(const CLI::App& command) {
  std::vector<std::string> values;
  for (const CLI::Option* option : command.get_options()) {
    values.insert(values.end(), option->results().begin(), option->results().end());
  }
  return values;
}

}  // namespace

Option option_of_row(TableRow row, const OptionValue& default_value) {
  const OptionRule& rule = row.rule;
  std::string name = "--" + rule.name;
  std::replace(name.begin(), name.end(), '_', '-');
  std::string help = rule.meaning.substr(0, rule.meaning.size() - 1);  // without the full stop
  help.front() = static_cast<char>(std::toupper(help.front()));
  std::string values =
      rule.choices.empty() ? rule.bounds : fmt::format("{}", fmt::join(rule.choices, ", "));
  if (default_value.index() > 1) values += "; default " + shown(default_value);
  if (!values.empty()) help += " (" + values + ")";
  return {.names = std::move(name), .target = std::move(row), .help = std::move(help)};
}

Option json_option(bool& json) { return {"--json", &json, "Print one JSON document"}; }

Option quiet_option(bool& quiet) { return {"-q,--quiet", &quiet, "Do not show progress"}; }

Option threads_option(std::optional<int>& threads, const std::string& what_they_do,
                      std::string names) {
  const OptionRule& rule = EngineOptions::table().rows().front().rule;  // for "threads"
  const auto set = [&threads](const OptionValue& value) { option::assign(threads, value); };
  return {
      .names = std::move(names),
      .target = TableRow{rule, set},
      .help = fmt::format("Number of threads that {} ({}; default {})", what_they_do, rule.bounds,
                          threads ? std::to_string(*threads) : "one per processor")};
}

std::vector<Option> joined(std::initializer_list<std::vector<Option>> options) {
  std::vector<Option> all;
  for (const std::vector<Option>& some : options) all.insert(all.end(), some.begin(), some.end());
  return all;
}

CommandLine parse(const std::vector<Command>& commands, int argc, const char* const* argv) {
  CLI::App app("Pack image datasets for training, and inspect them.");
  set_up(app, commands);
  check_command(commands, argc, argv);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    return {.text = app.help()};
  } catch (const CLI::CallForVersion&) {
    return {.text = kVersion};
  } catch (const CLI::ParseError& error) {
    explain(app, error);
  }
  const CLI::App& named = *app.get_subcommands().front();
  return {.command = find(commands, named.get_name()), .values = values_given(named)};
}

}  // namespace fuelrail::cli
