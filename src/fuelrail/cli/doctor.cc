// fuelrail doctor: reports fuelrail's build, the machine's capabilities, and the causes of slow
// loading.
#include <CLI/Version.hpp>
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
#include <nlohmann/detail/abi_macros.hpp>
#include <pugixml.hpp>
#include <string>
#include <string_view>
#include <thread>

#include "fuelrail/base/cpu.h"
#include "fuelrail/base/error.h"
#include "fuelrail/base/hevc_library.h"
#include "fuelrail/base/json.h"
#include "fuelrail/cli/command.h"
#include "fuelrail/cli/doctor_machine.h"
#include "fuelrail/cli/opening.h"
#include "fuelrail/cli/text.h"
#include "fuelrail/container/open.h"
#include "fuelrail/container/sidecar/sidecar_store.h"
#include "fuelrail/decode/tiff/tiff_decoder.h"
#include "fuelrail/storage/file_system.h"
#include "fuelrail/storage/read_queue.h"

namespace fuelrail::cli {
namespace {

constexpr uint64_t kFewOpenFiles = 256;

struct DoctorArguments {
  std::string path = ".";
  bool json = false;
};

template <typename T>
std::string words_of(std::string_view name, const T& value) {
  if constexpr (requires { value.has_value(); }) {
    return value ? words_of(name, *value) : "none";
  } else if constexpr (std::is_same_v<T, std::vector<std::string>>) {
    return value.empty() ? "none" : fmt::format("{}", fmt::join(value, " "));
  } else if constexpr (std::is_same_v<T, bool>) {
    return value ? "yes" : "no";
  } else if constexpr (std::is_same_v<T, uint64_t>) {
    return name.ends_with("_bytes") ? human_bytes(value) : fmt::to_string(value);
  } else {
    return fmt::format("{}", value);
  }
}

// A fact about the machine, as JSON and as text.
struct Fact {
  template <typename T>
  Fact(std::string_view of, const T& value) : name(of), json(value), words(words_of(of, value)) {}
  std::string name;
  Json json;
  std::string words;
};
using Facts = std::vector<Fact>;
using Section = std::pair<std::string, Facts>;

Json json_of(const Facts& facts) {
  std::vector<Json::Member> members;
  for (const Fact& fact : facts) members.emplace_back(fact.name, fact.json);
  return facts.empty() ? Json() : Json(members);
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

// The version of each library: of the loaded library if it reports one, else of its headers at
// build time.
Facts libraries() {
  const std::string tiff = libtiff_version();
  return {
      {"libjpeg-turbo", FUELRAIL_TEXT_OF(LIBJPEG_TURBO_VERSION)},
      {"libspng", spng_version_string()},
      {"libwebp", webp_version()},
      {"libtiff", tiff.empty() ? "not in this build" : tiff},
      {"libdeflate", LIBDEFLATE_VERSION_STRING},
      {"fmt", dotted(FMT_VERSION / 10000, FMT_VERSION / 100 % 100, FMT_VERSION % 100)},
      {"highway", dotted(HWY_MAJOR, HWY_MINOR, HWY_PATCH)},
      {"nlohmann-json", dotted(NLOHMANN_JSON_VERSION_MAJOR, NLOHMANN_JSON_VERSION_MINOR,
                               NLOHMANN_JSON_VERSION_PATCH)},
      {"pugixml", dotted(PUGIXML_VERSION / 1000, PUGIXML_VERSION / 10 % 100, PUGIXML_VERSION % 10)},
      {"cli11", CLI11_VERSION}};
}

Facts threads() {
  const char* const local = std::getenv("LOCAL_WORLD_SIZE");
  const auto local_world_size = local == nullptr ? std::nullopt : std::optional<std::string>(local);
  return {{"processors", std::thread::hardware_concurrency()},
          {"affinity", cpus_in_affinity_mask()},
          {"cgroup_cpus", cgroup_quota_cpus()},
          {"local_world_size", local_world_size},
          {"default_threads", default_threads()}};
}

Facts file_system(const std::string& path) {
  const MountedFileSystem found = file_system_at(path);
  return {{"path", path},
          {"type", found.type},
          {"remote", found.remote},
          {"total_bytes", found.total_bytes},
          {"free_bytes", found.free_bytes}};
}

// Returns: no facts if this machine has no shared memory.
Facts shared_memory() {
  try {
    Facts facts = file_system("/dev/shm");
    std::erase_if(facts, [](const Fact& fact) { return fact.name == "remote"; });
    return facts;
  } catch (const Error&) {
    return {};
  }
}

std::vector<Section> report_on(const std::string& path) {
  const Kernel system = kernel();
  const Processor cpu = processor();
  const std::string no_io_uring = io_uring_refusal();
  const Limits limit = limits();
  return {
      {"fuelrail",
       {{"version", FUELRAIL_VERSION},
        {"compiler", FUELRAIL_COMPILER},
        {"h265_plugin", describe_hevc_library()}}},
      {"libraries", libraries()},
      {"system",
       {{"kernel", system.name}, {"architecture", system.architecture}, {"libc", system.libc}}},
      {"processor",
       {{"name", cpu.name},
        {"flags", cpu.flags},
        {"dispatch_target", cpu.targets.empty() ? "" : cpu.targets.front()},
        {"dispatch_targets", cpu.targets}}},
      {"threads", threads()},
      {"memory",
       {{"total_bytes", memory_bytes("MemTotal")},
        {"available_bytes", memory_bytes("MemAvailable")},
        {"cgroup_bytes", cgroup_memory_bytes()}}},
      {"shared_memory", shared_memory()},
      {"limits", {{"open_files", limit.open_files}, {"locked_memory_bytes", limit.locked_bytes}}},
      {"io_uring", {{"available", no_io_uring.empty()}, {"reason", no_io_uring}}},
      {"file_system", file_system(path)}};
}

// Opens no file that lacks a sidecar of its own, because that would make one.
PossibleGains gains_of(const std::string& path) {
  try {
    if (!is_file(sidecar_uri(path))) return {};
    FileSystem& files = file_system_for(path);
    const auto sidecar = Sidecar::open(files.open(sidecar_uri(path)));
    if (sidecar->identity() != identify(*files.open(path))) return {};
    return possible_gains(*open_container(path));
  } catch (const Error&) {
    return {};
  }
}

// The causes of slow loading on this machine, each with its remedy.
std::vector<std::string> advice_on(const std::string& path) {
  std::vector<std::string> advice;
  const int affinity = cpus_in_affinity_mask();
  const unsigned processors = std::thread::hardware_concurrency();
  if (const auto quota = cgroup_quota_cpus(); quota && *quota < affinity) {
    advice.push_back(fmt::format("The cgroup allows {:.2f} of {} processors; raise its CPU limit",
                                 *quota, affinity));
  }
  if (affinity < static_cast<int>(processors)) {
    advice.push_back(fmt::format(
        "This process may run on {} of {} processors; see taskset, or the job's CPU binding",
        affinity, processors));
  }
  if (const std::string no_io_uring = io_uring_refusal(); !no_io_uring.empty()) {
    advice.push_back("io_uring: " + no_io_uring + "; reads use threads instead");
  }
  if (const auto open_files = limits().open_files; open_files && *open_files < kFewOpenFiles) {
    advice.push_back(fmt::format(
        "At most {} files may be open; raise the limit with 'ulimit -n 4096'", *open_files));
  }
  if (const MountedFileSystem found = file_system_at(path); found.remote) {
    advice.push_back(fmt::format(
        "{} is on {}, where reads wait for a server; increase the loader's `prefetch`, or copy the "
        "data to a local disk",
        path, found.type));
  }
  const PossibleGains gains = gains_of(path);
  if (gains.entry_points) {
    advice.push_back(
        fmt::format("Some JPEGs of {0} have no entry points; 'fuelrail index {0}' adds them, so "
                    "that loaders decode "
                    "crops faster",
                    path));
  }
  if (gains.baseline) {
    advice.push_back(
        fmt::format("Some JPEGs of {} are progressive; pack with --baseline, so that loaders "
                    "decode them faster",
                    path));
  }
  return advice;
}

// "free_bytes": "free"; "default_threads": "default threads".
std::string spoken(std::string name) {
  if (name.ends_with("_bytes")) name.resize(name.size() - std::string_view("_bytes").size());
  for (char& letter : name) letter = letter == '_' ? ' ' : letter;
  return name;
}

void print_json(const std::vector<Section>& report, const std::vector<std::string>& advice,
                Console& console) {
  std::vector<Json::Member> sections;
  for (const auto& [name, facts] : report) sections.emplace_back(name, json_of(facts));
  sections.emplace_back("advice", advice);
  console.print_line(Json(sections).text());
}

void print_text(const std::vector<Section>& report, const std::vector<std::string>& advice,
                Console& console) {
  for (const auto& [section, facts] : report) {
    if (!facts.empty()) console.print_line(spoken(section));
    for (const Fact& fact : facts) {
      if (fact.words.empty()) continue;
      console.print_line(fmt::format("  {:<18} {}", spoken(fact.name), fact.words));
    }
  }
  console.print_line(advice.empty() ? "Nothing slows fuelrail down here." : "advice");
  for (const std::string& line : advice) console.print_line("  " + line);
}

int run(const DoctorArguments& arguments, Console& console) {
  const std::vector<Section> report = report_on(arguments.path);
  const std::vector<std::string> advice = advice_on(arguments.path);
  arguments.json ? print_json(report, advice, console) : print_text(report, advice, console);
  return kOk;
}

constexpr const char* kDoctorFooter = R"(
Examples:
  fuelrail doctor
  fuelrail doctor /data/train.{1} --json | jq .processor.dispatch_target)";

std::vector<Option> options_of(DoctorArguments& arguments) {
  return {{"PATH", &arguments.path,
           "Path of the data; its file system is reported (default: the current folder)"},
          json_option(arguments.json)};
}

}  // namespace

Command doctor_command() {
  return command_of<DoctorArguments>(
      "doctor", "Report this machine's capabilities and the causes of slow loading", kDoctorFooter,
      options_of, run);
}

}  // namespace fuelrail::cli
