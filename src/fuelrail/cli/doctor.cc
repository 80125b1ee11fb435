// fuelrail doctor: what fuelrail is made of, what the machine gives it, and what holds it back.
#include <CLI/CLI.hpp>
// jpeglib.h needs FILE.
#include <cstdio>
// After cstdio.
#include <fmt/format.h>
#include <hwy/highway.h>
#include <jpeglib.h>
#include <libdeflate.h>
#include <spng.h>
#include <webp/decode.h>

#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <thread>

#include "fuelrail/base/cpu.h"
#include "fuelrail/base/error.h"
#include "fuelrail/cli/command.h"
#include "fuelrail/cli/doctor_machine.h"
#include "fuelrail/cli/json_text.h"
#include "fuelrail/cli/text.h"
#include "fuelrail/decode/tiff/tiff_decoder.h"
#include "fuelrail/storage/read_queue.h"

namespace fuelrail::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr uint64_t kFewOpenFiles = 256;

struct Arguments {
  std::string path = ".";
  bool json = false;
};

template <typename Value>
Json or_null(const std::optional<Value>& value) {
  return value ? Json(*value) : Json(nullptr);
}

#define FUELRAIL_TEXT(value) #value
#define FUELRAIL_TEXT_OF(value) FUELRAIL_TEXT(value)

std::string dotted(int major, int minor, int patch) {
  return fmt::format("{}.{}.{}", major, minor, patch);
}

std::string webp_version() {
  const int version = WebPGetDecoderVersion();
  return dotted(version >> 16, version >> 8 & 0xff, version & 0xff);
}

// Those whose library can be asked say what is loaded, the others what was compiled against.
Json libraries_json() {
  const std::string tiff = libtiff_version();
  return {{"libjpeg-turbo", FUELRAIL_TEXT_OF(LIBJPEG_TURBO_VERSION)},
          {"libspng", spng_version_string()},
          {"libwebp", webp_version()},
          {"libtiff", tiff.empty() ? "not in this build" : tiff},
          {"libdeflate", LIBDEFLATE_VERSION_STRING},
          {"fmt", dotted(FMT_VERSION / 10000, FMT_VERSION / 100 % 100, FMT_VERSION % 100)},
          {"highway", dotted(HWY_MAJOR, HWY_MINOR, HWY_PATCH)},
          {"nlohmann-json", dotted(NLOHMANN_JSON_VERSION_MAJOR, NLOHMANN_JSON_VERSION_MINOR,
                                   NLOHMANN_JSON_VERSION_PATCH)},
          {"cli11", CLI11_VERSION}};
}

Json threads_json() {
  const char* local_world_size = std::getenv("LOCAL_WORLD_SIZE");
  return {{"processors", std::thread::hardware_concurrency()},
          {"affinity", cpus_in_affinity_mask()},
          {"cgroup_cpus", or_null(cgroup_quota_cpus())},
          {"local_world_size", local_world_size == nullptr ? Json(nullptr) : local_world_size},
          {"default_threads", default_threads()}};
}

Json file_system_json(const std::string& path) {
  const FileSystem found = file_system_at(path);
  return {{"path", path},
          {"type", found.type},
          {"remote", found.remote},
          {"total_bytes", found.total_bytes},
          {"free_bytes", found.free_bytes}};
}

// The shared memory of this machine, or null where it has none.
Json shared_memory_json() {
  try {
    Json json = file_system_json("/dev/shm");
    json.erase("remote");
    return json;
  } catch (const Error&) {
    return nullptr;
  }
}

Json report_on(const std::string& path) {
  const Kernel system = kernel();
  const Processor cpu = processor();
  const std::string no_io_uring = io_uring_refusal();
  const Limits limit = limits();
  return {{"fuelrail", {{"version", FUELRAIL_VERSION}, {"compiler", FUELRAIL_COMPILER}}},
          {"libraries", libraries_json()},
          {"system",
           {{"kernel", system.name}, {"architecture", system.architecture}, {"libc", system.libc}}},
          {"processor",
           {{"name", cpu.name},
            {"flags", cpu.flags},
            {"dispatch_target", cpu.targets.empty() ? "" : cpu.targets.front()},
            {"dispatch_targets", cpu.targets}}},
          {"threads", threads_json()},
          {"memory",
           {{"total_bytes", or_null(memory_bytes("MemTotal"))},
            {"available_bytes", or_null(memory_bytes("MemAvailable"))},
            {"cgroup_bytes", or_null(cgroup_memory_bytes())}}},
          {"shared_memory", shared_memory_json()},
          {"limits",
           {{"open_files", or_null(limit.open_files)},
            {"locked_memory_bytes", or_null(limit.locked_bytes)}}},
          {"io_uring", {{"available", no_io_uring.empty()}, {"reason", no_io_uring}}},
          {"file_system", file_system_json(path)}};
}

// What holds fuelrail back here, each with what mends it.
Json advice_on(const Json& report) {
  Json advice = Json::array();
  const Json& threads = report["threads"];
  if (!threads["cgroup_cpus"].is_null() &&
      threads["cgroup_cpus"].get<double>() < threads["affinity"].get<double>()) {
    advice.push_back(fmt::format("The cgroup allows {:.2f} of {} processors; raise its CPU limit",
                                 threads["cgroup_cpus"].get<double>(),
                                 threads["affinity"].get<int>()));
  }
  if (threads["affinity"].get<int>() < threads["processors"].get<int>()) {
    advice.push_back(
        fmt::format("This process may run on {} of {} processors; see taskset or the job's binding",
                    threads["affinity"].get<int>(), threads["processors"].get<int>()));
  }
  if (!report["io_uring"]["available"].get<bool>()) {
    advice.push_back("io_uring: " + report["io_uring"]["reason"].get<std::string>() +
                     "; reads go through threads");
  }
  const Json& open_files = report["limits"]["open_files"];
  if (!open_files.is_null() && open_files.get<uint64_t>() < kFewOpenFiles) {
    advice.push_back(fmt::format("Only {} files may be open; raise it with 'ulimit -n 4096'",
                                 open_files.get<uint64_t>()));
  }
  if (report["file_system"]["remote"].get<bool>()) {
    advice.push_back(fmt::format(
        "{} is on {}, where reads wait for a server; give the loader more prefetch, or copy the "
        "data to a local disk",
        report["file_system"]["path"].get<std::string>(),
        report["file_system"]["type"].get<std::string>()));
  }
  return advice;
}

std::string value_text(std::string_view name, const Json& value) {
  if (value.is_null()) return "none";
  if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
  if (value.is_number_unsigned() && name.ends_with("_bytes")) {
    return human_bytes(value.get<uint64_t>());
  }
  if (value.is_array()) {
    std::string text;
    for (const Json& one : value) text += (text.empty() ? "" : " ") + value_text("", one);
    return text.empty() ? "none" : text;
  }
  return value.is_string() ? value.get<std::string>() : value.dump();
}

// "free_bytes": "free"; "default_threads": "default threads".
std::string spoken(std::string name) {
  if (name.ends_with("_bytes")) name.resize(name.size() - std::string_view("_bytes").size());
  for (char& letter : name) letter = letter == '_' ? ' ' : letter;
  return name;
}

void print_text(const Json& report, Console& console) {
  for (const auto& [section, facts] : report.items()) {
    if (!facts.is_object()) continue;
    console.print_line(spoken(section));
    for (const auto& [name, value] : facts.items()) {
      const std::string text = value_text(name, value);
      if (!text.empty()) console.print_line(fmt::format("  {:<18} {}", spoken(name), text));
    }
  }
  const Json& advice = report["advice"];
  console.print_line(advice.empty() ? "Nothing holds fuelrail back here." : "advice");
  for (const Json& line : advice) console.print_line("  " + line.get<std::string>());
}

int run(const Arguments& arguments, Console& console) {
  Json report = report_on(arguments.path);
  report["advice"] = advice_on(report);
  if (arguments.json) {
    console.print_line(to_text(report));
  } else {
    print_text(report, console);
  }
  return kOk;
}

}  // namespace

void add_doctor(CLI::App& app, Action& action) {
  const auto arguments = std::make_shared<Arguments>();
  CLI::App* command =
      app.add_subcommand("doctor", "Say what this machine gives fuelrail, and what holds it back");
  command->add_option("PATH", arguments->path,
                      "Where the data lies: its file system is looked at (default: here)");
  command->add_flag("--json", arguments->json, "One JSON document");
  command->footer(R"(
Examples:
  fuelrail doctor
  fuelrail doctor /data/train.rec --json | jq .processor.dispatch_target)");
  command->callback([&action, arguments] {
    action = [arguments](Console& console) { return run(*arguments, console); };
  });
}

}  // namespace fuelrail::cli
