// `fuelrail doctor` as people run it: on this machine, with limits, and through --json.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <hwy/highway.h>
#include <hwy/targets.h>
#include <linux/magic.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/vfs.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "command.h"
#include "fuelrail/testing/temporary_directory.h"

namespace fuelrail {
namespace {

using nlohmann::json;
using testing::CommandResult;
using ::testing::Contains;
using ::testing::HasSubstr;
using testing::run_command;

json report_of(const std::string& path, const std::function<void()>& before_exec = nullptr) {
  const CommandResult result = run_command({"doctor", path, "--json"}, before_exec);
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(result.err, "");
  return json::parse(result.out);
}

TEST(Doctor, names_every_section_in_both_forms) {
  const json report = report_of(".");
  const std::string text = run_command({"doctor"}).out;
  for (const char* section : {"fuelrail", "libraries", "system", "processor", "threads", "memory",
                              "shared_memory", "limits", "io_uring", "file_system", "advice"}) {
    EXPECT_TRUE(report.contains(section)) << section;
  }
  for (const char* name : {"libjpeg-turbo", "kernel", "dispatch target", "default threads",
                           "shared memory", "open files", "io uring", "file system"}) {
    EXPECT_THAT(text, HasSubstr(name));
  }
}

TEST(Doctor, names_the_plugin_for_h265_or_why_there_is_none) {
  ::setenv("FUELRAIL_HEVC", "/absent.so", 1);
  EXPECT_THAT(report_of(".")["fuelrail"]["h265_plugin"].get<std::string>(),
              HasSubstr("/absent.so"));
  ::unsetenv("FUELRAIL_HEVC");
}

TEST(Doctor, gives_each_library_a_version) {
  const json libraries = report_of(".")["libraries"];
  for (const auto& [library, version] : libraries.items()) {
    EXPECT_THAT(version.get<std::string>(),
                ::testing::MatchesRegex("[0-9]+\\.[0-9.]+|not in this build"))
        << library;
  }
}

// Every need but tests' and benchmarks', which come after the product's own.
TEST(Doctor, names_every_library_that_the_product_is_built_with) {
  const json libraries = report_of(".")["libraries"];
  std::ifstream file(std::string(FUELRAIL_SOURCE_DIR) + "/cmake/Dependencies.cmake");
  size_t needs = 0;
  for (std::string line; std::getline(file, line) && !line.starts_with("set(FUELRAIL_INSTALLED");) {
    needs += line.substr(std::min(line.find_first_not_of(' '), line.size()))
                 .starts_with("fuelrail_need(");
  }
  EXPECT_EQ(libraries.size(), needs);
}

TEST(Doctor, names_the_dispatch_target_that_kernels_take) {
  const json processor = report_of(".")["processor"];
  EXPECT_EQ(processor["dispatch_target"], processor["dispatch_targets"][0]);
  EXPECT_EQ(processor["dispatch_target"],
            hwy::TargetName(hwy::SupportedAndGeneratedTargets().front()));
}

TEST(Doctor, tells_of_an_affinity_narrower_than_the_machine) {
  const json report = report_of(".", [] {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(static_cast<size_t>(::sched_getcpu()), &one);
    ::sched_setaffinity(0, sizeof(one), &one);
  });
  EXPECT_EQ(report["threads"]["affinity"], 1);
  EXPECT_EQ(report["threads"]["default_threads"], 1);
  if (report["threads"]["processors"] > 1) {
    EXPECT_THAT(report["advice"], Contains(HasSubstr("may run on 1 of")));
  }
}

TEST(Doctor, shares_threads_among_the_local_processes) {
  const json report = report_of(".", [] { ::setenv("LOCAL_WORLD_SIZE", "1000000", 1); });
  EXPECT_EQ(report["threads"]["local_world_size"], "1000000");
  EXPECT_EQ(report["threads"]["default_threads"], 1);
}

TEST(Doctor, tells_of_a_low_limit_of_open_files) {
  const json report = report_of(".", [] {
    const rlimit few{.rlim_cur = 64, .rlim_max = 64};
    ::setrlimit(RLIMIT_NOFILE, &few);
  });
  EXPECT_EQ(report["limits"]["open_files"], 64);
  EXPECT_THAT(report["advice"], Contains(HasSubstr("ulimit -n")));
}

TEST(Doctor, looks_at_the_file_system_of_the_path_it_is_given) {
  struct statfs proc {};
  if (::statfs("/proc", &proc) != 0 || proc.f_type != PROC_SUPER_MAGIC) {
    GTEST_SKIP() << "/proc is no file system of its own here, as in qemu-user's sysroot";
  }
  EXPECT_EQ(report_of("/proc")["file_system"]["type"], "proc");
}

TEST(Doctor, tells_of_the_file_system_and_that_it_is_local) {
  const TemporaryDirectory directory;
  write_file(directory / "x", "x");
  const json file_system = report_of(directory / "x")["file_system"];
  EXPECT_EQ(file_system["path"], directory / "x");
  EXPECT_EQ(file_system["remote"], false);
  EXPECT_GT(file_system["total_bytes"], 0);
}

TEST(Doctor, says_why_io_uring_is_not_there) {
  const json ring = report_of(".")["io_uring"];
  EXPECT_EQ(ring["available"].get<bool>(), ring["reason"].get<std::string>().empty());
}

TEST(Doctor, refuses_a_path_that_is_not_there) {
  const CommandResult result = run_command({"doctor", "/no/such/place"});
  EXPECT_EQ(result.code, 3);
  EXPECT_EQ(result.out, "");
  EXPECT_THAT(result.err, HasSubstr("/no/such/place"));
}

}  // namespace
}  // namespace fuelrail
