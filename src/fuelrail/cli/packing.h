// What the commands that pack have in common: `pack` and `im2rec`.
#pragma once

#include <optional>
#include <string>

#include "fuelrail/cli/console.h"
#include "fuelrail/pack/packer.h"

namespace CLI {
class App;
}

namespace fuelrail::cli {

struct PackingArguments {
  uint64_t nsplit = 1;
  std::optional<uint64_t> part{};
  std::string max_errors{};  // a count or a percentage
  bool overwrite = false;
  bool resume = false;
  bool quiet = false;
};

// Adds --nsplit, --part, --max-errors (its default is what `arguments` has), --overwrite, --resume
// and --quiet. Lifetime: the arguments outlive the parsing.
void add_packing_options(CLI::App& command, PackingArguments& arguments);

// Packs, and says how far it is, what is left out and what was made. Returns: an ExitCode.
int run_packing(const std::string& source, const std::string& output, PackOptions options,
                const PackingArguments& arguments, Console& console);

}  // namespace fuelrail::cli
