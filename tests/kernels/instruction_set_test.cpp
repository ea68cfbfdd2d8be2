// SPDX-License-Identifier: Apache-2.0
// The choice of the instruction set: by the machine, by force and by the environment.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdlib>
#include <vector>

#include "coset/error.hpp"
#include "hwy/targets.h"
#include "runtime/kernels/kernels.hpp"
#include "runtime/kernels/processor.hpp"

namespace coset::kernels::test {
namespace {

/// Highway's library knows all of its targets; coset compiles these.
TEST(InstructionSet, TheProcessorIsAsHighwaySaysItIs) {
#if HWY_ARCH_X86
  constexpr std::int64_t compiled = HWY_AVX2 | HWY_AVX3;
#else
  constexpr std::int64_t compiled = HWY_TARGETS;
#endif
  EXPECT_EQ(supported_targets() & compiled, hwy::SupportedTargets() & compiled);
  // What the compiler takes for granted: of the two targets without vectors coset takes HWY_SCALAR.
  EXPECT_NE(supported_targets() & (HWY_STATIC_TARGET | HWY_SCALAR), 0);
}

TEST(InstructionSet, AForcedOneServesWhatIsFoundFromThenOn) {
  auto const& best = find(operation::plus, element::float32);
  if (instruction_sets().size() == 1) GTEST_SKIP() << "this machine runs one instruction set only";
  std::string const last = instruction_sets().back();
  force_instruction_set(last);
  EXPECT_EQ(instruction_set(), last);
  EXPECT_NE(find(operation::plus, element::float32).any, best.any);
  force_instruction_set(instruction_sets().front());
  EXPECT_EQ(&find(operation::plus, element::float32), &best);
}

/// Also operations that are not compiled for the best one: they take the next.
TEST(InstructionSet, NoOperationFallsBackToTheLastOne) {
  if (instruction_sets().size() == 1) GTEST_SKIP() << "this machine runs one instruction set only";
  auto const folds = [] {
    std::vector<detail::fold_set const*> all;
    for (std::size_t op = 0; op < operations; ++op)
      all.push_back(&find(static_cast<operation>(op),
                          op == std::size_t(operation::reproducible_plus) ? element::float32 : element::int32));
    return all;
  };
  auto const best = folds();
  force_instruction_set(instruction_sets().back());
  auto const last = folds();
  force_instruction_set(instruction_sets().front());
  for (std::size_t op = 0; op < operations; ++op) EXPECT_NE(best[op]->any, last[op]->any) << "operation " << op;
}

TEST(InstructionSet, AnUnknownNameIsRefusedWithAllThatArePossible) {
  try {
    force_instruction_set("Z80");
    FAIL() << "nothing thrown";
  } catch (argument_error const& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("\"Z80\""));
    for (auto const& name : instruction_sets()) EXPECT_THAT(error.what(), testing::HasSubstr(name));
  }
}

/// The environment is read once, so each case takes a process of its own.
class InstructionSetFromEnvironment : public testing::Test {
 protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

[[noreturn]] void exit_saying_whether(bool as_expected) { std::exit(as_expected ? 0 : 1); }

TEST_F(InstructionSetFromEnvironment, RestrictsTheChoice) {
  if (instruction_sets().size() == 1) GTEST_SKIP() << "this machine runs one instruction set only";
  std::string const last = instruction_sets().back();
  EXPECT_EXIT(
      {
        setenv("COSET_ISA", last.c_str(), 1);
        exit_saying_whether(instruction_set() == last);
      },
      testing::ExitedWithCode(0), "");
}

TEST_F(InstructionSetFromEnvironment, IsRefusedWhereItNamesNone) {
  EXPECT_EXIT(
      {
        setenv("COSET_ISA", "Z80", 1);
        try {
          find(operation::plus, element::float32);
        } catch (argument_error const&) {
          exit_saying_whether(true);
        }
        exit_saying_whether(false);
      },
      testing::ExitedWithCode(0), "");
}

TEST_F(InstructionSetFromEnvironment, EmptyRestrictsNothing) {
  EXPECT_EXIT(
      {
        setenv("COSET_ISA", "", 1);
        exit_saying_whether(instruction_set() == instruction_sets().front());
      },
      testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace coset::kernels::test
