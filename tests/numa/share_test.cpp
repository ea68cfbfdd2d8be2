// SPDX-License-Identifier: Apache-2.0
// Several processes of one host: what each takes of it.
#include "numa/share.hpp"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>

#include "coset/team.hpp"
#include "effort.hpp"
#include "machines.hpp"
#include "numa/binding.hpp"
#include "team/team_state.hpp"
#include "variable.hpp"

namespace coset::numa_test {
namespace {

using numa::launched_siblings;
using numa::share_of;
using numa::siblings;
using test::variable;

/// [core]: how many processes have some of it.
std::map<unsigned, unsigned> takers(topology const& machine, unsigned all) {
  std::map<unsigned, unsigned> of_core;
  for (unsigned own = 0; own < all; ++own) {
    auto const share = share_of(machine, {own, all});
    std::set<unsigned> cores;
    for (processor const& p : machine.processors) {
      if (share.contains(p.os_index)) cores.insert(p.core);
    }
    for (unsigned const core : cores) ++of_core[core];
    for (processor const& p : machine.processors) EXPECT_EQ(share.contains(p.os_index), cores.contains(p.core));
    EXPECT_EQ(*cores.rbegin() - *cores.begin() + 1, cores.size()) << "cores lie side by side";
  }
  return of_core;
}

TEST(Share, IsWholeCoresThatNobodyElseHas) {
  for (shape const& each : shapes) {
    auto const machine = topology::synthetic(each.description);
    // Numbers that divide the cores, and others.
    unsigned const step = each.cores <= 32 ? 1 : test::by_effort<unsigned>(13, 7, 1);
    for (unsigned all = 1; all <= each.cores; all += step) {
      auto const of_core = takers(machine, all);
      EXPECT_EQ(of_core.size(), each.cores) << each.description << " for " << all;
      for (auto const& [core, number] : of_core) EXPECT_EQ(number, 1u) << each.description << " for " << all;
    }
  }
}

TEST(Share, OfMoreProcessesThanCoresIsACoreInTurn) {
  auto const machine = topology::synthetic("core:2 pu:2");
  for (auto const& [core, number] : takers(machine, 6)) EXPECT_EQ(number, 3u);
  EXPECT_NE(share_of(machine, {0, 3}), share_of(machine, {1, 3}));
  EXPECT_EQ(share_of(machine, {0, 3}), share_of(machine, {2, 3}));
}

TEST(Share, DiffersByOneCoreAtMost) {
  auto const machine = topology::synthetic("core:7 pu:1");
  for (unsigned own = 0; own < 3; ++own) {
    auto const cores = share_of(machine, {own, 3}).size();
    EXPECT_TRUE(cores == 2 || cores == 3) << cores;
  }
}

struct launch {
  char const *own, *own_value, *all, *all_value;
  std::optional<siblings> expected;
};

class Launched : public ::testing::TestWithParam<launch> {};

TEST_P(Launched, IsToldByTheEnvironment) {
  launch const& by = GetParam();
  variable const own(by.own, by.own_value), all(by.all, by.all_value);
  auto const found = launched_siblings();
  ASSERT_EQ(found.has_value(), by.expected.has_value());
  if (!found) return;
  EXPECT_EQ(found->own, by.expected->own);
  EXPECT_EQ(found->all, by.expected->all);
  variable const way_out("COSET_SHARE", "no");
  EXPECT_FALSE(launched_siblings());
}

char const *const openmpi_own = "OMPI_COMM_WORLD_LOCAL_RANK", *const openmpi_all = "OMPI_COMM_WORLD_LOCAL_SIZE";
char const *const slurm_own = "SLURM_LOCALID", *const slurm_all = "SLURM_STEP_TASKS_PER_NODE";

INSTANTIATE_TEST_SUITE_P(Launchers, Launched,
                         ::testing::Values(launch{openmpi_own, "1", openmpi_all, "2", siblings{1, 2}},
                                           launch{"MPI_LOCALRANKID", "0", "MPI_LOCALNRANKS", "3", siblings{0, 3}},
                                           launch{"PMI_LOCAL_RANK", "7", "PMI_LOCAL_SIZE", "8", siblings{7, 8}},
                                           launch{"PALS_LOCAL_RANKID", "2", "PALS_LOCAL_SIZE", "4", siblings{2, 4}},
                                           launch{slurm_own, "1", slurm_all, "4", siblings{1, 4}},
                                           launch{slurm_own, "3", slurm_all, "4(x12)", siblings{3, 4}},
                                           launch{slurm_own, "1", slurm_all, "4,2", {}},
                                           launch{slurm_own, "0", "SLURM_NTASKS_PER_NODE", "4", {}},
                                           launch{openmpi_own, "0", openmpi_all, "1", {}},
                                           launch{openmpi_own, "2", openmpi_all, "2", {}},
                                           launch{openmpi_own, "-1", openmpi_all, "2", {}},
                                           launch{openmpi_own, "1", openmpi_all, "two", {}},
                                           launch{openmpi_own, "", openmpi_all, "", {}}));

TEST(LaunchedByFlux, IsOnOneOfSeveralEqualHosts) {
  variable const own("FLUX_TASK_LOCAL_ID", "3"), all("FLUX_JOB_SIZE", "12");
  EXPECT_FALSE(launched_siblings());
  {
    variable const hosts("FLUX_JOB_NNODES", "3");
    auto const found = launched_siblings();
    ASSERT_TRUE(found);
    EXPECT_EQ(found->own, 3u);
    EXPECT_EQ(found->all, 4u);
    variable const slurms_own(slurm_own, "0"), slurms_all(slurm_all, "1(x3)");
    EXPECT_TRUE(launched_siblings()) << "where one process of Slurm's on each host has started Flux";
  }
  for (auto const* const unequal : {"5", "0", "12", "none"}) {
    variable const hosts("FLUX_JOB_NNODES", unequal);
    EXPECT_FALSE(launched_siblings()) << unequal;
  }
}

std::set<unsigned> processors_of(team const& on) {
  std::set<unsigned> own;
  for (processor const& p : on.state().shape.places) own.insert(p.os_index);
  return own;
}

/// Unless this machine's tests are kept to a part of it, which is left as it is.
TEST(Teams, OfProcessesOfOneHostShareItsCores) {
  auto const machine = topology::machine();
  bool const whole = machine.processors.size() == topology::whole_machine().processors.size();
  if (!whole || machine.cores() < 2) GTEST_SKIP();
  variable const all(openmpi_all, "2");
  std::map<unsigned, std::unique_ptr<team>> teams;
  for (unsigned own : {0u, 1u}) {
    variable const self(openmpi_own, std::to_string(own));
    teams[own] = std::make_unique<team>();
    EXPECT_EQ(processors_of(team({.ranks = 1})),
              processors_of(team({.processors = {*processors_of(*teams[own]).begin()}})));
    auto const more = static_cast<rank_t>(share_of(machine, {own, 2}).size() + 1);
    EXPECT_EQ(processors_of(team({.ranks = more})), [&] {
      variable const way_out("COSET_SHARE", "no");
      return processors_of(team({.ranks = more}));
    }());
  }
  EXPECT_EQ(teams[0]->size() + teams[1]->size(), machine.cores());
  for (unsigned const p : processors_of(*teams[0])) EXPECT_FALSE(processors_of(*teams[1]).contains(p)) << p;
}

TEST(Teams, OfAMaskThatIsNarrowerAreLeftIt) {
  auto const machine = topology::machine();
  if (machine.cores() < 2) GTEST_SKIP();
  numa::saved_mask const until_here;
  numa::bind_this_thread(machine.processors.back().os_index);
  variable const own(openmpi_own, "0"), all(openmpi_all, "2");
  EXPECT_EQ(processors_of(team()), std::set<unsigned>{machine.processors.back().os_index});
}

}  // namespace
}  // namespace coset::numa_test
