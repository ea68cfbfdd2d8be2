// SPDX-License-Identifier: Apache-2.0
#include "planning/calibration/memory_facts.hpp"

#include <gtest/gtest.h>

namespace coset::calibration {
namespace {

TEST(MemoryFacts, BelieveNoCoreMoreOfALastCacheThanCoresHave) {
  constexpr std::uint64_t mebibyte = 1 << 20;
  auto const of = [](std::string const& machine) { return told_of(topology::synthetic(machine)); };
  auto const virtual_machine = of("package:1 l3:1(size=314572800) l2:2(size=2097152) core:1 pu:1");
  EXPECT_EQ(virtual_machine.last_cache_bytes, (2 * 4 + 2 * 2) * mebibyte);
  EXPECT_EQ(virtual_machine.own_cache_bytes, 2 * mebibyte);
  auto const whole = of("package:1 l3:2(size=33554432) l2:8(size=1048576) core:1 pu:1");
  EXPECT_EQ(whole.last_cache_bytes, (64 + 16) * mebibyte);
  EXPECT_EQ(whole.most_reached, (32 + 1) * mebibyte);
  EXPECT_EQ(of("package:1 l2:2(size=2097152) core:4 pu:1").own_cache_bytes, mebibyte / 2);
  EXPECT_EQ(of("core:4 pu:1").last_cache_bytes, 0u);
}

TEST(MemoryFacts, LinesAreHandedOverUnlessCoresAreOfIntelOrZen5) {
  auto machine = topology::synthetic("core:4 pu:1");
  EXPECT_TRUE(told_of(machine).hands_over);
  machine.vendor = "GenuineIntel";
  EXPECT_FALSE(told_of(machine).hands_over);
  machine.vendor = "AuthenticAMD";
  for (unsigned const family : {0u, 23u, 25u, 26u}) {
    machine.family = family;
    EXPECT_EQ(told_of(machine).hands_over, family != 26) << family;
  }
}

}  // namespace
}  // namespace coset::calibration
