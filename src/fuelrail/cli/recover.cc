// fuelrail recover: what can be read of a damaged file becomes a file of its own.
#include "fuelrail/pack/recover.h"

#include <fmt/format.h>

#include <string>

#include "fuelrail/cli/command.h"
#include "fuelrail/cli/packing.h"
#include "fuelrail/cli/text.h"

namespace fuelrail::cli {
namespace {

struct RecoverArguments {
  std::string source;
  std::string output;
  OutputArguments made;
};

constexpr const char* kRecoverFooter = R"(
Examples:
  fuelrail recover broken.{1} good.{1}
  fuelrail recover cut.{2} good.{2}

Every record of IN that can be read is copied to OUT; IN stays as it is. Damage is passed over to the
next record; the table of a format that has one at the beginning must be whole, the end may be cut.
Records whose checksums are known, from the sidecar or the file itself, and wrong are left out.
Class names and keys of the sidecar and the index are kept where these belong to IN.

What is lost is listed on standard output, with its place in IN. The exit code is 1 when something
is lost, and 0 when nothing is. Where no record can be read, nothing is written.

{existing})";

std::string text_of(const std::string& source, const Damage& loss) {
  const std::string record = loss.record ? fmt::format("record {}, ", *loss.record) : "";
  const std::string bytes =
      loss.skipped_bytes > 0 ? ": " + counted(loss.skipped_bytes, "byte") + " lost" : "";
  return fmt::format("{}: {}offset {}: {}{}", source, record, loss.offset, loss.reason, bytes);
}

// What of the source is not in the output.
std::string lost_text(const pack::Recovery& recovery) {
  if (recovery.lost_records) {
    const uint64_t before = recovery.file.records + *recovery.lost_records;
    return fmt::format("{} of {} lost", grouped(*recovery.lost_records), counted(before, "record"));
  }
  const std::string places = recovery.losses == 0
                                 ? "nothing is lost, as far as the file itself can tell"
                                 : "lost at " + counted(recovery.losses, "place");
  return places + "; without its sidecar nothing says how many records it had";
}

int run(const RecoverArguments& arguments, Console& console) {
  pack::Recovery recovery;
  run_copying("read", "bytes", arguments.made, console, [&](const auto& options) {
    recovery = pack::recover(arguments.source, arguments.output, options, [&](const Damage& loss) {
      console.print_line(text_of(arguments.source, loss));
    });
    return recovery.file;
  });
  console.print_line(arguments.source + ": " + lost_text(recovery));
  if (!recovery.checksums) {
    console.print_line(arguments.source +
                       ": checksums unknown: what was changed inside a record was not found");
  }
  return recovery.losses == 0 ? kOk : kDataProblem;
}

std::vector<Option> options_of(RecoverArguments& arguments) {
  return joined({{{"IN", &arguments.source, "A {recovered} file", true},
                  {"OUT", &arguments.output, "File to make; its name ends in {written}", true}},
                 output_options(arguments.made)});
}

}  // namespace

Command recover_command() {
  return command_of<RecoverArguments>("recover",
                                      "Copy what can be read of a damaged file to a new one",
                                      kRecoverFooter, options_of, run);
}

}  // namespace fuelrail::cli
