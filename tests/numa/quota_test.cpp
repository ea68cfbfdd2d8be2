// SPDX-License-Identifier: Apache-2.0
// Control group quotas of both versions, read from trees that a test writes.
#include "numa/quota.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <string>

namespace coset::numa_test {
namespace {

namespace fs = std::filesystem;

class Quota : public ::testing::Test {
 protected:
  ~Quota() override { fs::remove_all(root_); }

  void write(std::string const& file, std::string const& text) const {
    fs::create_directories((root_ / file).parent_path());
    std::ofstream(root_ / file) << text;
  }

  fs::path const root_ = fs::path(::testing::TempDir()) / ("coset_quota_" + std::to_string(getpid()));
};

TEST_F(Quota, IsNoneWithoutControlGroups) {
  EXPECT_FALSE(numa::processor_quota(root_));
  write("proc/self/mounts", "proc /proc proc rw 0 0\n");
  write("proc/self/cgroup", "0::/\n");
  EXPECT_FALSE(numa::processor_quota(root_));
}

TEST_F(Quota, OfVersionTwoIsTheTightestAlongThePath) {
  write("proc/self/mounts", "cgroup2 /sys/fs/cgroup cgroup2 rw,nosuid 0 0\n");
  write("proc/self/cgroup", "0::/slice/job/step\n");
  write("sys/fs/cgroup/slice/job/step/cpu.max", "max 100000\n");
  EXPECT_FALSE(numa::processor_quota(root_));
  write("sys/fs/cgroup/slice/job/cpu.max", "250000 100000\n");
  EXPECT_DOUBLE_EQ(numa::processor_quota(root_).value(), 2.5);
  write("sys/fs/cgroup/slice/job/step/cpu.max", "400000 100000\n");
  EXPECT_DOUBLE_EQ(numa::processor_quota(root_).value(), 2.5);
  write("sys/fs/cgroup/slice/cpu.max", "75000 50000\n");
  EXPECT_DOUBLE_EQ(numa::processor_quota(root_).value(), 1.5);
}

TEST_F(Quota, OfVersionOneStandsInTwoFiles) {
  write("proc/self/mounts",
        "cgroup /sys/fs/cgroup/cpuset cgroup rw,cpuset 0 0\n"
        "cgroup /sys/fs/cgroup/cpu,cpuacct cgroup rw,cpu,cpuacct 0 0\n");
  write("proc/self/cgroup", "7:cpuset:/wrong\n5:cpu,cpuacct:/job\n0::/other\n");
  write("sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us", "-1\n");
  write("sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_period_us", "100000\n");
  EXPECT_FALSE(numa::processor_quota(root_));
  write("sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us", "300000\n");
  EXPECT_DOUBLE_EQ(numa::processor_quota(root_).value(), 3.0);
}

// Without a namespace of its own, a container reads the host's path and mounts only its end.
TEST_F(Quota, OfAContainerIsFoundAtTheMount) {
  write("proc/self/mounts", "cgroup2 /sys/fs/cgroup cgroup2 ro 0 0\n");
  write("proc/self/cgroup", "0::/docker/0123abcd\n");
  write("sys/fs/cgroup/cpu.max", "50000 100000\n");
  EXPECT_DOUBLE_EQ(numa::processor_quota(root_).value(), 0.5);
}

TEST_F(Quota, OfGarbageIsNone) {
  write("proc/self/mounts", "cgroup2 /sys/fs/cgroup cgroup2 ro 0 0\nshort\n\n");
  write("proc/self/cgroup", "nonsense\n0::/job\n");
  for (auto const* const text : {"", "nonsense", "100000", "0 100000", "100000 0", "-1 100000"}) {
    write("sys/fs/cgroup/job/cpu.max", text);
    EXPECT_FALSE(numa::processor_quota(root_)) << text;
  }
}

TEST_F(Quota, OfMemoryIsTheLeastThatIsLeftAlongThePath) {
  std::uint64_t const of_system = numa::free_memory(root_);
  EXPECT_GT(of_system, 1u << 20);
  write("proc/self/mounts", "cgroup2 /sys/fs/cgroup cgroup2 rw,nosuid 0 0\n");
  write("proc/self/cgroup", "0::/slice/job\n");
  write("sys/fs/cgroup/slice/job/memory.max", "max\n");
  EXPECT_GT(numa::free_memory(root_), 1u << 20);
  write("sys/fs/cgroup/slice/job/memory.max", "5000\n");
  write("sys/fs/cgroup/slice/job/memory.current", "1000\n");
  EXPECT_EQ(numa::free_memory(root_), 4000u);
  write("sys/fs/cgroup/slice/memory.max", "7000\n");
  write("sys/fs/cgroup/slice/memory.current", "6000\n");
  EXPECT_EQ(numa::free_memory(root_), 1000u);
  write("sys/fs/cgroup/slice/memory.current", "8000\n");
  EXPECT_EQ(numa::free_memory(root_), 0u);
}

TEST_F(Quota, OfMemoryOfVersionOneStandsInTwoFiles) {
  write("proc/self/mounts", "cgroup /sys/fs/cgroup/memory cgroup rw,memory 0 0\n");
  write("proc/self/cgroup", "4:cpu:/wrong\n3:memory:/job\n");
  write("sys/fs/cgroup/memory/job/memory.limit_in_bytes", "5000\n");
  write("sys/fs/cgroup/memory/job/memory.usage_in_bytes", "3000\n");
  EXPECT_EQ(numa::free_memory(root_), 2000u);
}

}  // namespace
}  // namespace coset::numa_test
