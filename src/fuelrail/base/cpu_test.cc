#include "fuelrail/base/cpu.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace fuelrail {
namespace {

namespace fs = std::filesystem;

// A folder that simulates the root of a machine: proc/self and the cgroup file systems.
class CgroupQuota : public ::testing::Test {
 protected:
  void SetUp() override {
    const ::testing::TestInfo* test = ::testing::UnitTest::GetInstance()->current_test_info();
    root_ = fs::path(::testing::TempDir()) / "fuelrail_cgroup" / test->name();
    fs::remove_all(root_);
    fs::create_directories(root_);
  }
  void TearDown() override { fs::remove_all(root_); }

  void write(const std::string& name, const std::string& text) {
    fs::create_directories((root_ / name).parent_path());
    std::ofstream(root_ / name) << text;
  }
  void mount_v2(const std::string& top = "/") {
    write("proc/self/mountinfo", "22 1 0:21 / /proc rw - proc proc rw\n30 23 0:26 " + top +
                                     " /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw\n");
  }
  void mount_v1(const std::string& top = "/") {
    write("proc/self/mountinfo",
          "31 30 0:27 / /sys/fs/cgroup/memory rw shared:5 - cgroup cgroup rw,memory\n32 30 0:28 " +
              top + " /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n");
  }
  std::optional<double> quota() { return cgroup_quota_cpus(root_.string()); }
  std::optional<uint64_t> memory() { return cgroup_memory_bytes(root_.string()); }

  fs::path root_;
};

TEST_F(CgroupQuota, none_without_cgroups) { EXPECT_EQ(quota(), std::nullopt); }

TEST_F(CgroupQuota, v2_own_group) {
  mount_v2();
  write("proc/self/cgroup", "0::/user/job\n");
  write("sys/fs/cgroup/user/job/cpu.max", "150000 100000\n");
  EXPECT_EQ(quota(), 1.5);
}

TEST_F(CgroupQuota, v2_max_means_none) {
  mount_v2();
  write("proc/self/cgroup", "0::/job\n");
  write("sys/fs/cgroup/job/cpu.max", "max 100000\n");
  EXPECT_EQ(quota(), std::nullopt);
}

TEST_F(CgroupQuota, v2_narrowest_of_the_groups_above_counts) {
  mount_v2();
  write("proc/self/cgroup", "0::/a/b/c\n");
  write("sys/fs/cgroup/a/b/c/cpu.max", "max 100000\n");
  write("sys/fs/cgroup/a/b/cpu.max", "300000 100000\n");
  write("sys/fs/cgroup/a/cpu.max", "200000 100000\n");
  EXPECT_EQ(quota(), 2.0);
}

TEST_F(CgroupQuota, v2_in_a_namespace_is_at_the_mount_itself) {
  mount_v2();
  write("proc/self/cgroup", "0::/\n");
  write("sys/fs/cgroup/cpu.max", "50000 100000\n");
  EXPECT_EQ(quota(), 0.5);
}

TEST_F(CgroupQuota, v1_own_group_of_the_cpu_controller) {
  mount_v1();
  write("proc/self/cgroup", "5:memory:/wrong\n4:cpu,cpuacct:/job\n0::/ignored\n");
  write("sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us", "250000\n");
  write("sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(quota(), 2.5);
}

TEST_F(CgroupQuota, v1_minus_one_means_none) {
  mount_v1();
  write("proc/self/cgroup", "4:cpu,cpuacct:/\n");
  write("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n");
  write("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(quota(), std::nullopt);
}

TEST_F(CgroupQuota, v1_in_a_container_shows_its_own_group_at_the_mount) {
  mount_v1("/docker/123");
  write("proc/self/cgroup", "4:cpu,cpuacct:/docker/123\n");
  write("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "400000\n");
  write("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(quota(), 4.0);
}

TEST_F(CgroupQuota, a_group_outside_the_mount_falls_back_to_the_mount) {
  mount_v2("/docker/123");
  write("proc/self/cgroup", "0::/elsewhere\n");
  write("sys/fs/cgroup/cpu.max", "100000 100000\n");
  write("sys/fs/cgroup/elsewhere/cpu.max", "900000 100000\n");
  EXPECT_EQ(quota(), 1.0);
}

TEST_F(CgroupQuota, memory_in_v2_is_the_narrowest_of_the_groups_above) {
  mount_v2();
  write("proc/self/cgroup", "0::/a/b\n");
  write("sys/fs/cgroup/a/b/memory.max", "max\n");
  EXPECT_EQ(memory(), std::nullopt);
  write("sys/fs/cgroup/a/memory.max", "2147483648\n");
  EXPECT_EQ(memory(), uint64_t{1} << 31);
}

TEST_F(CgroupQuota, memory_in_v1_has_a_group_of_its_own_and_a_number_for_none) {
  mount_v1();
  write("proc/self/cgroup", "5:memory:/job\n4:cpu,cpuacct:/other\n");
  write("sys/fs/cgroup/memory/job/memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_EQ(memory(), std::nullopt);
  write("sys/fs/cgroup/memory/job/memory.limit_in_bytes", "1000000\n");
  EXPECT_EQ(memory(), 1000000U);
}

TEST_F(CgroupQuota, damaged_files_count_as_none) {
  mount_v2();
  write("proc/self/cgroup", "nonsense\n0:\n\n0::/job\n");
  write("sys/fs/cgroup/job/cpu.max", "100000 0\n");
  write("sys/fs/cgroup/cpu.max", "ten per cent\n");
  EXPECT_EQ(quota(), std::nullopt);
  write("proc/self/mountinfo", "30 23 - cgroup2\n- - - - - - -\n\n");
  EXPECT_EQ(quota(), std::nullopt);
}

TEST(ThreadsFor, is_the_smaller_of_affinity_and_quota) {
  EXPECT_EQ(threads_for(8, std::nullopt, nullptr), 8);
  EXPECT_EQ(threads_for(8, 2.0, nullptr), 2);
  EXPECT_EQ(threads_for(8, 2.1, nullptr), 3);
  EXPECT_EQ(threads_for(8, 1e300, nullptr), 8);
}

TEST(ThreadsFor, shares_among_the_local_processes) {
  EXPECT_EQ(threads_for(8, std::nullopt, "2"), 4);
  EXPECT_EQ(threads_for(8, 6.0, "4"), 1);
}

TEST(ThreadsFor, is_at_least_one) {
  EXPECT_EQ(threads_for(1, 0.1, "8"), 1);
  EXPECT_EQ(threads_for(0, std::nullopt, nullptr), 1);
}

TEST(ThreadsFor, takes_a_damaged_local_world_size_for_one) {
  for (const char* text : {"", "0", "-2", "two", "2x", "99999999999999999999"}) {
    EXPECT_EQ(threads_for(8, std::nullopt, text), 8) << text;
  }
}

TEST(DefaultThreads, is_at_least_one) { EXPECT_GE(default_threads(), 1); }

TEST(DescribeCpu, names_the_processor_and_its_instructions) {
  EXPECT_THAT(describe_cpu(), ::testing::ContainsRegex(".+, [a-z0-9.]+$"));
}

}  // namespace
}  // namespace fuelrail
