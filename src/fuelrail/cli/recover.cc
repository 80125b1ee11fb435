// fuelrail recover: copies the readable records of a damaged file into a new file.
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

Every readable record of IN is copied to OUT; IN is not changed. Damaged bytes are skipped up to the
next record. If the format has a table at the beginning of the file, the table must be intact; the
end of the file may be missing. If checksums are known from the sidecar or the file, records with a
wrong checksum are skipped. Class names and keys are copied from IN's sidecar and index, if these
belong to IN; entry points of JPEGs are not ('fuelrail index' makes them).

Standard output lists all losses with their places in IN. The exit code is 1 if anything is lost,
else 0. If no record can be read, nothing is written.

{existing})";

std::string text_of(const std::string& source, const Damage& loss) {
  const std::string record = loss.record ? fmt::format("record {}, ", *loss.record) : "";
  const std::string bytes =
      loss.skipped_bytes > 0 ? ": " + counted(loss.skipped_bytes, "byte") + " lost" : "";
  return fmt::format("{}: {}offset {}: {}{}", source, record, loss.offset, loss.reason, bytes);
}

// Reports how many records of the source are missing in the output.
std::string lost_text(const pack::Recovery& recovery) {
  if (recovery.lost_records) {
    const uint64_t before = recovery.file.records + *recovery.lost_records;
    return fmt::format("{} of {} lost", grouped(*recovery.lost_records), counted(before, "record"));
  }
  const std::string places = recovery.losses == 0 ? "no loss was found in the file itself"
                                                  : "lost at " + counted(recovery.losses, "place");
  return places + "; without its sidecar the original number of records is unknown";
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
                       ": checksums unknown: changes inside records were not detected");
  }
  return recovery.losses == 0 ? kOk : kDataProblem;
}

std::vector<Option> options_of(RecoverArguments& arguments) {
  return joined({{{"IN", &arguments.source, "Damaged file to read ({recovered})", true},
                  {"OUT", &arguments.output, "File to write; its name ends in {written}", true}},
                 output_options(arguments.made)});
}

}  // namespace

Command recover_command() {
  return command_of<RecoverArguments>("recover",
                                      "Copy the readable records of a damaged file to a new file",
                                      kRecoverFooter, options_of, run);
}

}  // namespace fuelrail::cli
