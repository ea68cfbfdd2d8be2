// SPDX-License-Identifier: Apache-2.0
// Memory that processes share, looked at by one process that maps it twice.
#include "runtime/memory/shared_file.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <string>

namespace coset::runtime {
namespace {

constexpr std::size_t bytes = (1 << 20) + 5;

struct SharedFile : ::testing::TestWithParam<passing> {
  shared_file file = shared_file::make(bytes, GetParam());
};

TEST_P(SharedFile, IsTheSameZerosForAllThatMapIt) {
  ASSERT_FALSE(file.empty());
  auto const one = shared_file::mapped(file.called(), bytes), other = shared_file::mapped(file.called(), bytes);
  ASSERT_EQ(one.size(), bytes);
  ASSERT_EQ(other.size(), bytes);
  EXPECT_NE(one.data(), other.data());
  EXPECT_EQ(std::count(one.data(), one.data() + bytes, std::byte{0}), bytes);
  one.data()[bytes - 1] = std::byte{7};
  EXPECT_EQ(other.data()[bytes - 1], std::byte{7});
}

TEST_P(SharedFile, IsNotFoundAnyMoreButStaysMapped) {
  auto const name = file.called();
  auto const mapped = shared_file::mapped(name, bytes);
  file.remove();
  EXPECT_TRUE(file.empty());
  EXPECT_EQ(shared_file::mapped(name, bytes).size(), 0);
  mapped.data()[0] = std::byte{1};
}

/// Whoever has that number in another container has something else open.
TEST_P(SharedFile, IsNotTakenForAnother) {
  shared_file const other = shared_file::make(bytes, GetParam());
  auto name = file.called();
  name.number[0] ^= 1;
  EXPECT_EQ(shared_file::mapped(name, bytes).size(), 0);
  name = file.called();
  name.descriptor = other.called().descriptor;
  EXPECT_EQ(shared_file::mapped(name, bytes).size() == 0, GetParam() == passing::by_descriptor);
}

/// The kernel's signal, SIGXFSZ, would end the program.
TEST_P(SharedFile, IsNoneBeyondTheLimitOfFiles) {
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  rlimit const limited{bytes - 1, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &limited);
  bool const none = shared_file::make(bytes, GetParam()).empty(),
             some = !shared_file::make(bytes / 2, GetParam()).empty();
  setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_TRUE(none);
  EXPECT_TRUE(some);
}

TEST_P(SharedFile, IsNoneWhereNoDescriptorIsLeft) {
  rlimit before{};
  getrlimit(RLIMIT_NOFILE, &before);
  rlimit const limited{0, before.rlim_max};
  auto const how = GetParam();  // sanitizers look at an object by descriptors
  auto const called = file.called();
  setrlimit(RLIMIT_NOFILE, &limited);
  bool const none = shared_file::make(bytes, how).empty(), unmapped = shared_file::mapped(called, bytes).size() == 0;
  setrlimit(RLIMIT_NOFILE, &before);
  EXPECT_TRUE(none);
  EXPECT_TRUE(unmapped);
}

TEST_P(SharedFile, IsNoneThatIsLargerThanTheMachine) {
  EXPECT_TRUE(shared_file::make(std::size_t{1} << 46, GetParam()).empty());
}

/// Where the system counts what it promises, memfds are files like others.
bool promises_are_counted() {
  std::ifstream policy("/proc/sys/vm/overcommit_memory");
  return policy.get() == '2';
}

/// A file takes all of its memory when it is made, a memfd as it is used.
TEST_P(SharedFile, IsReservedIfItIsAFile) {
  auto const& name = file.called();
  struct stat found {};
  if (GetParam() == passing::by_descriptor) {
    fstat(name.descriptor, &found);
  } else {
    char path[64];
    auto const& n = name.number;
    std::snprintf(path, sizeof path, "/dev/shm/coset-%08x%08x%08x%08x", n[0], n[1], n[2], n[3]);
    stat(path, &found);
  }
  EXPECT_EQ(found.st_size, bytes);
  bool const reserved = GetParam() == passing::by_path || promises_are_counted();
  EXPECT_EQ(static_cast<std::size_t>(found.st_blocks) * 512 >= bytes, reserved);
}

/// Each makes kernels before 6.10 give up what they reserve.
TEST_P(SharedFile, IsMadeThoughSignalsCome) {
  auto* const handler = std::signal(SIGALRM, [](int) {});
  itimerval const often{{0, 50}, {0, 50}}, never{};
  setitimer(ITIMER_REAL, &often, nullptr);
  shared_file const long_one = shared_file::make(32 * bytes, GetParam());
  setitimer(ITIMER_REAL, &never, nullptr);
  std::signal(SIGALRM, handler);
  EXPECT_FALSE(long_one.empty());
}

INSTANTIATE_TEST_SUITE_P(Passed, SharedFile, ::testing::Values(passing::by_descriptor, passing::by_path),
                         [](auto const& of) { return of.param == passing::by_path ? "by_path" : "by_descriptor"; });

}  // namespace
}  // namespace coset::runtime
