#include "fuelrail/cli/packing.h"

#include <fmt/format.h>

#include "fuelrail/base/error.h"
#include "fuelrail/cli/opening.h"
#include "fuelrail/cli/signals.h"
#include "fuelrail/cli/text.h"
#include "fuelrail/container/class_names.h"
#include "fuelrail/container/open.h"

namespace fuelrail::cli {
namespace {

constexpr int kMostFailuresSaid = 20;

void report_file(const pack::PackResult::File& file, Console& console) {
  console.print_line(file.path + ": " + counted(file.records, "record") + ", " +
                     human_bytes(file.bytes) + (file.was_there ? ", already complete" : ""));
}

void report_packed(const pack::PackResult& result, Console& console) {
  for (const pack::PackResult::File& file : result.files) report_file(file, console);
  if (result.recoded > 0) {
    console.print_line(counted(result.recoded, "progressive JPEG") + " stored as baseline");
  }
  if (result.unassigned > 0) {
    console.print_line(counted(result.unassigned, "image") +
                       " in no part: the fractions do not cover " +
                       (result.unassigned == 1 ? "this image" : "these images"));
  }
  if (!result.failures.empty()) {
    console.say("warning: " + counted(result.failures.size(), "image") + " could not be read and " +
                (result.failures.size() == 1 ? "was" : "were") + " skipped; " + result.report +
                " lists the reasons");
  }
}

// Reports the entry points, if they were asked for. Gives tips for faster loading, unless the user
// wants none.
void report_gains(const pack::PackResult& result, bool with_entry_points, bool quiet,
                  Console& console) {
  for (const pack::PackResult::File& file : result.files) {
    const bool is_first = &file == result.files.data();
    if (!with_entry_points && (!is_first || quiet)) break;  // the images of all files are alike
    PossibleGains gains;
    uint64_t found = 0;
    try {
      const auto container = open_container(file.path);
      gains = possible_gains(*container);
      found = entry_points(*container).value_or(0);
    } catch (const Error&) {  // the next command that reads the file says what is wrong with it
      continue;
    }
    if (with_entry_points) {
      console.print_line(fmt::format("{}: entry points in {} of {}", file.path, grouped(found),
                                     counted(file.records, "record")));
    }
    if (gains.entry_points && !quiet) {
      console.say(
          fmt::format("tip: 'fuelrail index {}'{} lets loaders decode crops of these JPEGs "
                      "faster; see docs/decoding.md",
                      file.path, with_entry_points ? "" : " (or packing with --entry-points)"));
    }
    if (gains.baseline && is_first && !quiet) {
      console.say(
          "tip: some of these JPEGs are progressive; 'fuelrail pack --baseline' re-codes "
          "them without loss, so that loaders decode them faster; see docs/decoding.md");
    }
  }
}

pack::JobOptions job_options(const OutputArguments& arguments, ProgressDisplay& progress,
                             Console& console) {
  return {.overwrite = arguments.overwrite,
          .progress =
              [&progress](const pack::PackProgress& now) {
                progress.update(now.done, now.total);
                return !interrupted();
              },
          .keep_going = [] { return !interrupted(); },
          .warn = console.warner()};
}

}  // namespace

std::vector<Option> output_options(OutputArguments& arguments) {
  return {{"--overwrite", &arguments.overwrite, "Replace an existing output"},
          quiet_option(arguments.quiet)};
}

Option classes_option(std::string& classes) {
  return {"--classes", &classes,
          "Class names in the order of their numbers: from a packed file, a folder, or a text file "
          "with one name per line (default: the source's own, in order)"};
}

std::vector<std::string> classes_named(const std::string& classes, Console& console) {
  if (classes.empty()) return {};
  return read_class_names(classes,
                          {.warn = console.warner(), .keep_going = [] { return !interrupted(); }});
}

int run_copying(const std::string& verb, const std::string& things,
                const OutputArguments& arguments, Console& console,
                const std::function<pack::PackResult::File(const pack::JobOptions&)>& copy) {
  pack::PackResult::File made;
  {
    ProgressDisplay progress(console, verb, things, arguments.quiet);
    made = copy(job_options(arguments, progress, console));
  }
  report_file(made, console);
  return kOk;
}

std::vector<Option> packing_options(PackingArguments& arguments) {
  return joined(
      {options_of_table(pack::PackOptions::table(), arguments.options,
                        {"nsplit", "part", "resume"}),
       {{"--max-errors", &arguments.max_errors,
         "Number of images that may be skipped: a count (12) or a percentage (1.5%); default " +
             arguments.max_errors}},
       output_options(arguments.output)});
}

int run_packing(const std::function<pack::PackResult(const pack::PackOptions&)>& pack,
                const PackingArguments& arguments, Console& console) {
  pack::PackOptions options = arguments.options;
  options.max_errors = parse_allowance(arguments.max_errors);
  options.failed = [&console, said = 0](const pack::PackFailure& failure) mutable {
    if (++said <= kMostFailuresSaid) {
      console.say("warning: " + failure.path + " cannot be packed: " + failure.reason);
    } else if (said == kMostFailuresSaid + 1) {
      console.say(
          "warning: more images cannot be packed; the file of errors will list all of them");
    }
  };
  options.failing = [&console] {
    console.say(
        "warning: the number of images that cannot be packed exceeds --max-errors, so nothing more "
        "is written; the remaining images are checked only to complete the list of errors (Ctrl-C "
        "stops this)");
  };
  pack::PackResult result;
  try {
    ProgressDisplay progress(console, "read", "images", arguments.output.quiet);
    options.job = job_options(arguments.output, progress, console);
    result = pack(options);
  } catch (const Error&) {
    if (!interrupted()) throw;
    throw Interrupted(options.resume
                          ? "the written data is kept, and the same command resumes the "
                            "job; an unfinished comparison starts over"
                          : "unfinished files are removed, complete files are kept; only a "
                            "run with --resume can be resumed");
  }
  report_packed(result, console);
  report_gains(result, options.entry_points, arguments.output.quiet, console);
  return result.failures.empty() ? kOk : kDataProblem;
}

}  // namespace fuelrail::cli
