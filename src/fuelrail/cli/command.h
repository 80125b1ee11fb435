// A command of `fuelrail`: how its part of the command line is parsed, and what it does. The table
// of commands is in cli_main.cc.
#pragma once

#include <functional>

#include "fuelrail/cli/console.h"

namespace CLI {
class App;
}

namespace fuelrail::cli {

// Does the work; set by the command that was named. Returns: an ExitCode. Errors: any Error, and
// Interrupted.
using Action = std::function<int(Console&)>;

// Each adds its sub-command to `app`, which sets `action` when it is parsed.
void add_pack(CLI::App& app, Action& action);
void add_convert(CLI::App& app, Action& action);
void add_merge(CLI::App& app, Action& action);
void add_im2rec(CLI::App& app, Action& action);
void add_info(CLI::App& app, Action& action);
void add_ls(CLI::App& app, Action& action);
void add_cat(CLI::App& app, Action& action);
void add_verify(CLI::App& app, Action& action);
void add_recover(CLI::App& app, Action& action);
void add_index(CLI::App& app, Action& action);
void add_bench(CLI::App& app, Action& action);
void add_doctor(CLI::App& app, Action& action);

}  // namespace fuelrail::cli
