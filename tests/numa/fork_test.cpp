// SPDX-License-Identifier: Apache-2.0
#include "numa/process/fork.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <thread>

#include "numa/child.hpp"
#include "numa/memory.hpp"

namespace coset::numa_test {
namespace {

using numa::fork_safe_mutex;

TEST(Fork, EachChildHasAnotherNumber) {
  std::uint32_t const own = numa::process_number();
  EXPECT_TRUE(in_child([&] {
    std::uint32_t const childs = numa::process_number();
    return childs == own + 1 && numa::process_number_by_the_system() == childs &&
           in_child([&] { return numa::process_number() == own + 2; });
  }));
  EXPECT_EQ(numa::process_number(), own);
}

TEST(Fork, TheSystemTellsOfAChildThatRanNoHandler) {
  std::uint32_t const own = numa::process_number();
  pid_t const child = static_cast<pid_t>(syscall(SYS_clone, SIGCHLD, nullptr, nullptr, nullptr, nullptr));
  if (child == 0)
    _exit(numa::process_number() == own && numa::process_number_by_the_system() == own + 1 &&
                  numa::process_number() == own + 1
              ? 0
              : 1);
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

/// Red if fork() does not wait: then a child finds the mutex held, or half of what it guards.
TEST(Fork, AChildFindsMutexesFreeAndWhatTheyGuardComplete) {
  fork_safe_mutex outer, inner;
  std::uint64_t volatile one = 0, other = 0;
  std::atomic<bool> ends = false;
  std::thread writer([&] {
    while (!ends) {
      std::lock_guard const lock(outer);
      one = one + 1;
      std::lock_guard const nested(inner);
      sched_yield();
      other = other + 1;
    }
  });
  for (int k = 0; k < 100; ++k) {
    EXPECT_TRUE(in_child([&] {
      alarm(20);
      bool const is_free = outer.try_lock() && inner.try_lock();
      return is_free && one == other;
    }));
  }
  ends = true;
  writer.join();
}

TEST(Fork, AThreadThatHoldsAMutexMayFork) {
  fork_safe_mutex held;
  std::lock_guard const lock(held);
  EXPECT_TRUE(in_child([&] {
    alarm(20);
    held.unlock();
    bool const again = held.try_lock();
    return again && in_child([] { return true; });
  }));
}

TEST(Fork, WhatAChildWritesWherePagesWereSharedIsItsOwn) {
  int const file = memfd_create("shared", MFD_CLOEXEC);
  ASSERT_EQ(ftruncate(file, 1 << 20), 0);
  numa::memory pages = numa::memory::shared(file, 1 << 20);
  numa::memory other = numa::memory::shared(file, 1 << 20);
  close(file);
  pages.data()[5] = std::byte{7};
  EXPECT_EQ(other.data()[5], std::byte{7});
  EXPECT_TRUE(in_child([&] {
    bool const zeros = pages.data()[5] == std::byte{0} && other.data()[5] == std::byte{0};
    pages.data()[5] = std::byte{9};
    return zeros && other.data()[5] == std::byte{0};
  }));
  EXPECT_EQ(pages.data()[5], std::byte{7});
  numa::memory const moved = std::move(pages);
  EXPECT_TRUE(in_child([&] { return moved.data()[5] == std::byte{0}; }));
}

}  // namespace
}  // namespace coset::numa_test
