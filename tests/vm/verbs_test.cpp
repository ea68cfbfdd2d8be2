// SPDX-License-Identifier: Apache-2.0
// Every verb is right under flat plans and under those that follow the machine's nodes, however ranks are placed.
#include "support/verbs.hpp"

#include "planning/plan/bound_plan.hpp"
#include "planning/plan/call_choice.hpp"
#include "planning/schedule/registry/algorithm.hpp"
#include "runtime/rank_state.hpp"
#include "vm/machine.hpp"

namespace coset::vm_test {
namespace {

using team_test::task;

/// "2x4" for 4 nodes of 2 cores, and "2+2+2+2"; nothing for the former where nodes are unequal.
std::string joined(std::vector<unsigned> const& numbers, char const* by) {
  std::string text;
  for (unsigned const each : numbers) text += (text.empty() ? "" : by) + std::to_string(each);
  return text;
}

std::vector<unsigned> cores_by_node(topology const& machine) {
  std::vector<unsigned> cores(machine.nodes.size());
  for (processor const& each : machine.place(machine.cores(), placement::compact)) ++cores[each.node];
  return cores;
}

/// "" leaves the choice to the library.
std::vector<std::string> plans(topology const& machine) {
  auto const cores = cores_by_node(machine);
  std::string const nodes = "(nodes=" + joined(cores, "+") + ")";
  std::vector<std::string> all{"", "direct/zero_copy", "direct/staged", "unequal" + nodes + "/staged",
                               "leaders" + nodes + "/staged"};
  if (std::count(cores.begin(), cores.end(), cores[0]) == std::ssize(cores)) {
    std::string const product = "product(dims=" + joined({cores[0], static_cast<unsigned>(cores.size())}, "x") + ")";
    all.insert(all.end(), {product + "/staged", product + "/push"});
  }
  return all;
}

/// A plan for every verb by the environment, as a user would ask for it; verbs that it cannot serve ignore it.
void wish_for(std::string const& plan) {
  for (verb const what : all_verbs()) {
    std::string name = "COSET_" + std::string(name_of(what));
    std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::toupper(c); });
    if (plan.empty()) {
      unsetenv(name.c_str());
    } else {
      setenv(name.c_str(), plan.c_str(), 1);
    }
  }
}

bool serves(std::string const& plan, verb what, rank_t ranks) try {
  auto const algorithm = schedule::algorithm::parse(plan_named(plan).algorithm);
  return !plan.empty() && !schedule::make(algorithm, ranks, choice::schedule_of(what)).steps.empty();
} catch (schedule_error const&) {
  return false;
}

/// From 8 bytes to a mebibyte in all, in pieces that differ by rank, to and from a root in the middle.
std::vector<task> tasks(rank_t ranks) {
  std::vector<task> all;
  for (verb const what : all_verbs()) {
    for (std::size_t const total : {1, 8, 128, 4097, 131072}) {
      std::uint64_t const seed = all.size();
      task t{
          .what = what, .root = ranks / 2, .in_place = team_test::can_be_in_place(what) && seed % 2 == 0, .seed = seed};
      for (rank_t r = 0; r < ranks; ++r) t.counts.push_back(total * (r + 1) / ranks - total * r / ranks);
      all.push_back(team_test::possible(std::move(t)));
    }
  }
  return all;
}

/// What the first wrong result was, if there is one.
std::string fault_of(member& me, std::vector<task> const& all, std::span<long> shared) {
  std::string found;
  for (task const& t : all) {
    auto mine = team_test::prepared<long>(t, me.rank());
    auto const result = shared.first(t.total());
    std::vector<long> viewed;
    team_test::call(me, t, team_test::spans_of<long>(t, me.rank(), mine, result), viewed);
    if (found.empty()) found = team_test::fault_of<long>(t, me.rank(), mine, result, viewed);
    if (t.what == verb::reduce_shared) barrier(me);  // all have looked at it
  }
  return found;
}

class Verbs : public ::testing::TestWithParam<placement> {
 protected:
  ~Verbs() override { wish_for(""); }

  topology const machine = topology::machine();
  team_options const options{.place = GetParam(), .wait = waiting::block};
};

TEST_P(Verbs, GiveEveryRankWhatTheyPromiseUnderFlatAndHierarchicalPlans) {
  for (std::string const& plan : plans(machine)) {
    SCOPED_TRACE(plan);
    wish_for(plan);
    team ranks(machine, options);
    auto const all = tasks(ranks.size());
    std::vector<long> shared(std::ranges::max(all, {}, &task::total).total());
    std::string const algorithm = plan.substr(0, plan.find('/'));
    ranks.run([&](member& me) {
      EXPECT_EQ(fault_of(me, all, shared), "");
      for (auto const& [key, bound] : me.state().plans.all) {
        bool const served = key.what != verb::barrier && serves(plan, key.what, me.size());
        EXPECT_TRUE(!served || bound->words->choice.starts_with(algorithm))
            << name_of(key.what) << " by " << bound->words->choice;
      }
    });
  }
}

INSTANTIATE_TEST_SUITE_P(Placed, Verbs, ::testing::Values(placement::compact, placement::scatter),
                         [](auto const& each) { return each.param == placement::compact ? "compact" : "scatter"; });

}  // namespace
}  // namespace coset::vm_test
