// fuelrail bench: how fast a dataset loads here, what limits it, and what to do about that.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "fuelrail/base/cpu.h"
#include "fuelrail/base/error.h"
#include "fuelrail/cli/command.h"
#include "fuelrail/cli/doctor_machine.h"
#include "fuelrail/cli/json_text.h"
#include "fuelrail/cli/opening.h"
#include "fuelrail/cli/signals.h"
#include "fuelrail/cli/text.h"
#include "fuelrail/cli/throughput.h"
#include "fuelrail/cli/verdict.h"

namespace fuelrail::cli {
namespace {

using Json = nlohmann::ordered_json;

struct Arguments {
  std::string uri;
  uint64_t batch_size = 256;
  int64_t crop = 224;
  int threads = 0;
  double seconds = 5;
  uint64_t epochs = 0;  // 0: as long as `seconds`
  bool json = false;
  bool quiet = false;
};

LoaderOptions loader_options(const Arguments& arguments) {
  return {
      .batch_size = arguments.batch_size,
      .shuffle = Shuffle::kFull,
      .seed = 1,
      .transforms = {RandomResizedCrop{.size = {arguments.crop, arguments.crop}}, HorizontalFlip{},
                     Normalize{.mean = {0.485F, 0.456F, 0.406F}, .std = {0.229F, 0.224F, 0.225F}}},
      .fields = {"image"},
      .on_error = OnError::kSkip,
      .max_bad = 1.0,  // they are counted, and do not end the measurement
      .threads = arguments.threads};
}

double rate(uint64_t number, double seconds) { return static_cast<double>(number) / seconds; }

// Where `file_system_at` has no answer (memory, another scheme), reads wait for nobody.
bool is_remote(const std::string& uri) {
  try {
    return file_system_at(uri).remote;
  } catch (const Error&) {
    return false;
  }
}

Watch status_line(Console& console, const char* what, bool quiet) {
  return [&console, what, quiet](uint64_t images, double seconds) {
    throw_if_interrupted();
    if (quiet) return;
    console.show_status(images == 0
                            ? fmt::format("measuring {}: preparing", what)
                            : fmt::format("measuring {}: {:.1f} s, {} images/s", what, seconds,
                                          grouped(static_cast<uint64_t>(rate(images, seconds)))));
  };
}

Json stage_json(const StageStats& stage) {
  return {{"busy_seconds", stage.busy_seconds},
          {"waiting_seconds", stage.waiting_seconds},
          {"busy_share", busy_share(stage)},
          {"items", stage.items},
          {"bytes", stage.bytes},
          {"mean_queue_depth", stage.mean_queue_depth}};
}

Json report_on(const Arguments& arguments, const Container& container, const Measured& measured) {
  const LoaderSpeed& loader = measured.loader;
  const LimitSpeed& limit = measured.limit;
  const double speed = rate(loader.images, loader.seconds);
  const double most = rate(limit.images, limit.seconds);
  const Verdict verdict = judge(measured);
  return {{"path", arguments.uri},
          {"records", container.size()},
          {"settings",
           {{"batch_size", arguments.batch_size},
            {"crop", arguments.crop},
            {"threads", measured.threads},
            {"transforms", "RandomResizedCrop, HorizontalFlip, Normalize, float32 NCHW"}}},
          {"loader",
           {{"images_per_second", speed},
            {"read_bytes_per_second", rate(loader.stats.fetch.bytes, loader.seconds)},
            {"images", loader.images},
            {"batches", loader.batches},
            {"seconds", loader.seconds},
            {"first_batch_seconds", loader.first_batch_seconds},
            {"cpu_seconds", loader.cpu_seconds},
            {"bad_records", loader.bad_records},
            {"read_backend", loader.stats.read_backend}}},
          {"stages",
           {{"fetch", stage_json(loader.stats.fetch)},
            {"process", stage_json(loader.stats.process)},
            {"deliver", stage_json(loader.stats.deliver)}}},
          {"limit",
           {{"images_per_second", most},
            {"images", limit.images},
            {"seconds", limit.seconds},
            {"records", limit.records},
            {"unusable_records", limit.unusable},
            {"mean_record_bytes", limit.mean_bytes},
            {"median_shorter_side", limit.shorter_side}}},
          {"share_of_limit", speed / most},
          {"bottleneck", verdict.bottleneck},
          {"suggestion", verdict.suggestion}};
}

std::string whole(double value) { return grouped(static_cast<uint64_t>(value + 0.5)); }

void print_text(const Json& report, const Stats& stats, Console& console) {
  const Json& settings = report["settings"];
  const Json& loader = report["loader"];
  const Json& limit = report["limit"];
  const auto line = [&console](std::string_view name, const std::string& value) {
    console.print(fmt::format("  {:<12} {}\n", name, value));
  };
  console.print(fmt::format("{}: {}\n", report["path"].get<std::string>(),
                            counted(report["records"].get<uint64_t>(), "record")));
  line("job", fmt::format("RandomResizedCrop {}, flip, normalise; batches of {}, {}",
                          settings["crop"].get<int64_t>(), settings["batch_size"].get<uint64_t>(),
                          counted(settings["threads"].get<uint64_t>(), "thread")));
  line("loader", fmt::format("{} images/s, {:.1f} MB/s read (first batch after {:.2f} s)",
                             whole(loader["images_per_second"]),
                             loader["read_bytes_per_second"].get<double>() / 1e6,
                             loader["first_batch_seconds"].get<double>()));
  line("limit",
       fmt::format("{} images/s: the same threads, {} in memory; the loader has {:.0f} % of it",
                   whole(limit["images_per_second"]),
                   counted(limit["records"].get<uint64_t>(), "record"),
                   100 * report["share_of_limit"].get<double>()));
  console.print("\n" + to_table(stats) + "\n\n");
  line("bottleneck", report["bottleneck"].get<std::string>());
  line("suggestion", report["suggestion"].get<std::string>());
}

int run(const Arguments& arguments, Console& console) {
  const auto container = open_warning(arguments.uri, console);
  Measured measured{.uri = arguments.uri,
                    .crop = arguments.crop,
                    .threads = arguments.threads > 0 ? arguments.threads : default_threads(),
                    .usable_threads = default_threads(),
                    .remote = is_remote(arguments.uri)};
  LoaderOptions options = loader_options(arguments);
  options.threads = measured.threads;
  Duration duration{.seconds = arguments.seconds};
  if (arguments.epochs > 0) duration.epochs = arguments.epochs;

  // The limit first: it finds out soon where no record can be used.
  measured.limit = measure_limit(container, options, arguments.seconds,
                                 status_line(console, "the limit", arguments.quiet));
  measured.loader = measure_loader(container, options, duration,
                                   status_line(console, "the loader", arguments.quiet));
  console.clear_status();
  if (measured.loader.bad_records > 0) {
    console.say(fmt::format("warning: {} passed over; see 'fuelrail verify --decode'",
                            counted(measured.loader.bad_records, "bad record")));
  }
  const Json report = report_on(arguments, *container, measured);
  if (arguments.json) {
    console.print(to_text(report) + "\n");
  } else {
    print_text(report, measured.loader.stats, console);
  }
  return kOk;
}

}  // namespace

void add_bench(CLI::App& app, Action& action) {
  const auto arguments = std::make_shared<Arguments>();
  CLI::App* command = app.add_subcommand("bench", "Measure how fast a dataset loads, and why");
  command
      ->add_option("FILE", arguments->uri,
                   "A .rec or .ffr file, or a folder of images or of .ffr files")
      ->required();
  command->add_option("--batch-size", arguments->batch_size, "Images a batch (default: 256)")
      ->check(CLI::Range(1, 1 << 20));
  command->add_option("--crop", arguments->crop, "Pixels a side of the crops (default: 224)")
      ->check(CLI::Range(1, 1 << 15));
  command
      ->add_option("-j,--threads", arguments->threads,
                   "Threads that decode, at most 1024 (default: one a processor)")
      ->check(CLI::Range(1, 1024));
  command
      ->add_option("--seconds", arguments->seconds,
                   "How long the limit, and then the loader, is measured (default: 5)")
      ->check(CLI::Range(0.01, 86400.0));
  command
      ->add_option("--epochs", arguments->epochs,
                   "Measure the loader for so many epochs, in place of the seconds")
      ->check(CLI::Range(1, 1 << 20));
  command->add_flag("--json", arguments->json, "One JSON document");
  command->add_flag("-q,--quiet", arguments->quiet, "Show no progress");
  command->footer(R"(
Crops at random, flips and normalises, as a training run does, and lets go of each batch at once.
The limit is what the same threads reach on records held in memory, where there is nothing to read
or to wait for. Files that were read lately come from memory (the page cache), not from the disk.
Bad records are passed over, and counted.

Examples:
  fuelrail bench train.rec
  fuelrail bench train.rec --threads 8 --crop 176 --seconds 20
  fuelrail bench train.rec --json | jq .loader.images_per_second)");
  command->callback([&action, arguments] {
    action = [arguments](Console& console) { return run(*arguments, console); };
  });
}

}  // namespace fuelrail::cli
