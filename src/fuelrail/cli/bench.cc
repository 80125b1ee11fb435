// fuelrail bench: measures how fast a dataset loads, names the bottleneck and suggests a remedy.
#include <fmt/format.h>

#include <optional>
#include <string>

#include "fuelrail/base/cpu.h"
#include "fuelrail/base/error.h"
#include "fuelrail/base/json.h"
#include "fuelrail/cli/command.h"
#include "fuelrail/cli/doctor_machine.h"
#include "fuelrail/cli/opening.h"
#include "fuelrail/cli/signals.h"
#include "fuelrail/cli/text.h"
#include "fuelrail/cli/throughput.h"
#include "fuelrail/cli/verdict.h"
#include "fuelrail/loader/image_counts.h"

namespace fuelrail::cli {
namespace {

struct BenchArguments {
  DatasetArguments dataset;
  uint64_t batch_size = 256;
  int64_t crop = 224;
  std::optional<int> threads;
  double seconds = 5;
  std::optional<uint64_t> epochs;  // default: measure for `seconds`
  bool json = false;
  bool quiet = false;
};

// The field that is measured: images are cropped, bytes are read unchanged.
const std::string& measured_field(const Container& container) {
  return container.schema().fields[content_field(container.schema())].name;
}

const char* thing(const Container& container) {
  return has_images(container) ? "images" : "records";
}

LoaderJob job_of(const BenchArguments& arguments, const Container& container, int threads) {
  LoaderJob job{
      .loading = {.order =
                      OrderOptions{
                          .seed = 1, .shuffle = Shuffle::kFull, .batch_size = arguments.batch_size},
                  // Bad records are counted and do not end the measurement.
                  .errors = {.on_error = OnError::kSkip, .max_bad = Allowance{.fraction = 1}},
                  .engine = {.threads = threads}},
      .images = {.fields = {measured_field(container)}}};
  if (has_images(container)) {
    job.images.transforms = {
        RandomResizedCrop{.size = {arguments.crop, arguments.crop}}, HorizontalFlip{},
        Normalize{.mean = {0.485F, 0.456F, 0.406F}, .std = {0.229F, 0.224F, 0.225F}}};
  }
  return job;
}

double rate(uint64_t number, double seconds) { return static_cast<double>(number) / seconds; }

// Whether reads of `uri` wait for a server. False if `file_system_at` fails, as for a URI that is
// not a local path.
bool is_remote(const std::string& uri) {
  try {
    return file_system_at(uri).remote;
  } catch (const Error&) {
    return false;
  }
}

Watch status_line(Console& console, const char* what, const char* things, bool quiet) {
  return [&console, what, things, quiet](uint64_t done, double seconds) {
    throw_if_interrupted();
    if (quiet) return;
    console.show_status(done == 0 ? fmt::format("measuring {}: preparing", what)
                                  : fmt::format("measuring {}: {:.1f} s, {} {}/s", what, seconds,
                                                grouped(static_cast<uint64_t>(rate(done, seconds))),
                                                things));
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

Json settings_json(const BenchArguments& arguments, const Container& container,
                   const Measured& measured) {
  const bool images = has_images(container);
  return {{"field", measured_field(container)},
          {"batch_size", arguments.batch_size},
          {"crop", images ? Json(arguments.crop) : Json()},
          {"threads", measured.threads},
          {"transforms",
           images ? Json("RandomResizedCrop, HorizontalFlip, Normalize, float32 NCHW") : Json()}};
}

Json report_on(const BenchArguments& arguments, const Container& container,
               const Measured& measured) {
  const LoaderSpeed& loader = measured.loader;
  const LimitSpeed& limit = measured.limit;
  const double speed = rate(loader.records, loader.seconds);
  const double most = rate(limit.records, limit.seconds);
  const Verdict verdict = judge(measured);
  return {{"path", arguments.dataset.uri},
          {"records", container.size()},
          {"settings", settings_json(arguments, container, measured)},
          {"loader",
           {{"records_per_second", speed},
            {"read_bytes_per_second", rate(loader.stats.fetch.bytes, loader.seconds)},
            {"records", loader.records},
            {"batches", loader.batches},
            {"seconds", loader.seconds},
            {"first_batch_seconds", loader.first_batch_seconds},
            {"cpu_seconds", loader.cpu_seconds},
            {"bad_records", loader.bad_records},
            {"read_backend", loader.stats.read_backend}}},
          {"stages",
           {{"fetch", stage_json(loader.stats.fetch)},
            {"process", stage_json(loader.stats.process)},
            {"consumer", stage_json(loader.stats.consumer)}}},
          {"limit",
           {{"records_per_second", most},
            {"records", limit.records},
            {"seconds", limit.seconds},
            {"held_records", limit.held},
            {"unusable_records", limit.unusable},
            {"mean_record_bytes", limit.mean_bytes},
            {"median_shorter_side", limit.shorter_side > 0 ? Json(limit.shorter_side) : Json()},
            {"records_per_second_with_entry_points",
             limit.with_entry_points ? Json(*limit.with_entry_points) : Json()}}},
          {"share_of_limit", speed / most},
          {"bottleneck", verdict.bottleneck},
          {"suggestion", verdict.suggestion}};
}

std::string whole(double value) { return grouped(static_cast<uint64_t>(value + 0.5)); }

std::string job_text(const BenchArguments& arguments, const Container& container, int threads) {
  const std::string work =
      has_images(container)
          ? fmt::format("RandomResizedCrop {}, flip, normalise", arguments.crop)
          : fmt::format("field '{}' of opaque records, unchanged", measured_field(container));
  return fmt::format("{}; batches of {}, {}", work, arguments.batch_size,
                     counted(static_cast<uint64_t>(threads), "thread"));
}

void print_text(const BenchArguments& arguments, const Container& container,
                const Measured& measured, Console& console) {
  const LoaderSpeed& loader = measured.loader;
  const LimitSpeed& limit = measured.limit;
  const double speed = rate(loader.records, loader.seconds);
  const double most = rate(limit.records, limit.seconds);
  const Verdict verdict = judge(measured);
  const char* const things = thing(container);
  const auto line = [&console](std::string_view name, const std::string& value) {
    console.print_line(fmt::format("  {:<12} {}", name, value));
  };
  console.print_line(
      fmt::format("{}: {}", arguments.dataset.uri, counted(container.size(), "record")));
  line("job", job_text(arguments, container, measured.threads));
  line("loader", fmt::format("{} {}/s, {:.1f} MB/s read (first batch after {:.2f} s)", whole(speed),
                             things, rate(loader.stats.fetch.bytes, loader.seconds) / 1e6,
                             loader.first_batch_seconds));
  line("limit",
       fmt::format("{} {}/s: the same threads with {} in memory; the loader reaches {:.0f} % of it",
                   whole(most), things, counted(limit.held, "record"), 100 * speed / most));
  if (const uint64_t found = entry_points(container).value_or(0);
      found > 0 || limit.with_entry_points) {
    std::string having = found == 0 ? "none"
                                    : fmt::format("in {} of {}", grouped(found),
                                                  counted(container.size(), "record"));
    if (limit.with_entry_points) {
      having += fmt::format(
          "; with those that 'fuelrail index' makes, the limit is {} {}/s, {:.2f} times as high",
          whole(*limit.with_entry_points), things, gain_of_entry_points(limit));
    }
    line("entry points", having);
  }
  console.write(as_bytes("\n" + table_with_images(loader.stats) + "\n\n"));
  line("bottleneck", verdict.bottleneck);
  line("suggestion", verdict.suggestion);
}

int run(const BenchArguments& arguments, Console& console) {
  const auto container = open_warning(arguments.dataset, console);
  if (container->size() == 0) {
    throw CorruptError("the dataset has no records", {.path = arguments.dataset.uri});
  }
  Measured measured{.uri = arguments.dataset.uri,
                    .crop = has_images(*container) ? arguments.crop : 0,
                    .threads = arguments.threads.value_or(default_threads()),
                    .usable_threads = default_threads(),
                    .remote = is_remote(arguments.dataset.uri)};
  const LoaderJob job = job_of(arguments, *container, measured.threads);
  const char* const things = thing(*container);
  const Duration duration{.seconds = arguments.seconds, .epochs = arguments.epochs};

  // The limit comes first: it fails quickly if no record can be used.
  const PossibleGains gains = possible_gains(*container);
  measured.progressive = gains.baseline;
  const bool may_index = !arguments.dataset.ignores_sidecar && gains.entry_points;
  measured.limit = measure_limit(container, job, arguments.seconds, may_index,
                                 status_line(console, "the limit", things, arguments.quiet));
  measured.loader = measure_loader(container, job, duration,
                                   status_line(console, "the loader", things, arguments.quiet));
  console.clear_status();
  if (measured.loader.bad_records > 0) {
    console.say(fmt::format("warning: {} skipped; see 'fuelrail verify --decode'",
                            counted(measured.loader.bad_records, "bad record")));
  }
  if (arguments.json) {
    console.print_line(report_on(arguments, *container, measured).text());
  } else {
    print_text(arguments, *container, measured, console);
  }
  return kOk;
}

constexpr const char* kBenchFooter = R"(
Images are cropped at random, flipped and normalised, as in training. Each batch is released at
once. For opaque records, their bytes are loaded into batches, as by a loader with fields=["data"].
The limit is the speed of the same number of threads on records that are already in memory. If
images lack entry points (see 'fuelrail index'), it is measured again with them.
Files that were read recently are read from memory (the page cache), not from the disk.
Bad records are skipped and counted.

Examples:
  fuelrail bench train.{1}
  fuelrail bench train.{1} --threads 8 --crop 176 --seconds 20
  fuelrail bench train.{1} --json | jq .loader.records_per_second)";

std::vector<Option> options_of(BenchArguments& arguments) {
  static const auto table =
      OptionTable<BenchArguments>()
          .number("batch_size", &BenchArguments::batch_size, 1, 1 << 20,
                  "number of records in a batch.")
          .number("crop", &BenchArguments::crop, 1, 1 << 15,
                  "width and height of the crops, in pixels.")
          .number("seconds", &BenchArguments::seconds, 0.01, 86400,
                  "seconds of each measurement: of the limit (twice, if images lack entry "
                  "points), and of the loader.")
          .number("epochs", &BenchArguments::epochs, 1, 1 << 20,
                  "number of epochs to run the loader, instead of --seconds.");
  return joined({dataset_options(arguments.dataset),
                 options_of_table(table, arguments, {"batch_size", "crop", "seconds", "epochs"}),
                 {threads_option(arguments.threads, "decode"), json_option(arguments.json),
                  quiet_option(arguments.quiet)}});
}

}  // namespace

Command bench_command() {
  return command_of<BenchArguments>("bench",
                                    "Measure how fast a dataset loads, and name the bottleneck",
                                    kBenchFooter, options_of, run);
}

}  // namespace fuelrail::cli
