// SPDX-License-Identifier: Apache-2.0
// Machines that have been read before are not read again, and others are.
#include "numa/process/remembered.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

namespace coset::numa_test {
namespace {

/// Masks that no thread here has, so that tests do not meet: of this processor and the next ones.
unsigned next_processor = 3000;

struct reading {
  int times = 0;
  topology operator()(std::string const& name, numa::mask const& usable) {
    return numa::remembered(usable, [&] {
      ++times;
      topology machine;
      machine.name = name;
      return machine;
    });
  }
};

TEST(Remembered, OneMaskIsReadOnce) {
  auto const mask = numa::mask::single(next_processor++);
  reading read;
  EXPECT_EQ(read("first", mask).name, "first");
  EXPECT_EQ(read("second", mask).name, "first");
  EXPECT_EQ(read.times, 1);
}

TEST(Remembered, AnotherMaskIsAnotherMachine) {
  auto const one = numa::mask::single(next_processor++);
  auto both = one;
  both.merge(numa::mask::single(next_processor++));
  reading read;
  EXPECT_EQ(read("one", one).name, "one");
  EXPECT_EQ(read("both", both).name, "both");
  EXPECT_EQ(read("neither", one).name, "one");
  EXPECT_EQ(read.times, 2);
}

TEST(Remembered, WhatCouldNotBeReadIsTriedAgain) {
  auto const mask = numa::mask::single(next_processor++);
  EXPECT_THROW(numa::remembered(mask, []() -> topology { throw std::runtime_error("no"); }), std::runtime_error);
  reading read;
  EXPECT_EQ(read("now", mask).name, "now");
}

/// Red if a program that pins thread after thread keeps a machine for each.
TEST(Remembered, ManyMasksAreForgotten) {
  auto const first = numa::mask::single(next_processor++);
  reading read;
  read("first", first);
  for (int i = 0; i < 100; ++i) read("other", numa::mask::single(next_processor++));
  EXPECT_EQ(read("again", first).name, "again");
}

}  // namespace
}  // namespace coset::numa_test
