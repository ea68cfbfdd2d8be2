// SPDX-License-Identifier: Apache-2.0
// Hosts that make their parts alone come to the same: all can make a plan or none, and all cut vectors alike.
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "coset/operations.hpp"
#include "effort.hpp"
#include "planning/plan/plan_store.hpp"

namespace coset::planning {
namespace {

std::byte array;

team_facts facts_of(std::vector<rank_t> const& hosts, std::size_t own, std::size_t room) {
  team_facts facts;
  for (rank_t const ranks : hosts) {
    facts.spread.domains.push_back(facts.ranks);
    facts.spread.processes.push_back({facts.ranks, 1});
    facts.ranks += ranks;
  }
  facts.spread.domains.push_back(facts.ranks);
  facts.spread.own = own;
  facts.node_leaders.assign(hosts[own], 0);
  facts.most_staging = room;
  return facts;
}

/// What one host makes of it, as far as others have to make the same.
std::string made_by(std::vector<rank_t> const& hosts, std::size_t own, std::size_t room, detail::call const& c,
                    plan_options const& options) try {
  plan_store plans(facts_of(hosts, own, room));
  auto const plan = plans.of_options(c, options);
  return std::to_string(plan->segments.number) + " segments of " + std::to_string(plan->segments.count) + ", plan " +
         std::to_string(plan->what.plan);
} catch (schedule_error const&) {
  return "refused";
} catch (error const&) {
  return "too long";
}

std::string named(std::string const& algorithm, verb what, std::vector<rank_t> const& hosts) {
  if (!algorithm.starts_with("over hosts")) return algorithm;
  bool const scans = what == verb::scan || what == verb::exclusive_scan;
  return std::string(scans ? "two_level_scan" : "two_level") + "(leaders=" + (algorithm == "over hosts" ? "2" : "0") +
         ",nodes=" + schedule::value_of(hosts, '+') + ")";
}

/// What one host refused or cut in another way alone, the others would wait for.
TEST(Hosts, ComeToTheSame) {
  std::set<std::string> all;
  test::sample cases(11);
  for (std::vector<rank_t> const& hosts : {std::vector<rank_t>{3, 1}, {1, 2, 4}, {5, 1}}) {
    for (std::string const algorithm :
         {"auto", "direct(saved_steps=1)", "ring", "generalized(saved_steps=1)", "binomial", "recursive_doubling",
          "butterfly", "bruck_ho", "elimination_3_2", "naive(saved_steps=2)", "latency(radix=3)",
          "circulant(saved_steps=2)", "adapted_dissemination(n=2)", "n_block(blocks=3)", "dual_root(blocks=2)",
          "direct", "over hosts", "over hosts by all"}) {
      for (std::string storage : program::policy_names()) {
        for (bool const in_place : {true, false}) {
          for (verb const what : {verb::allreduce, verb::reduce, verb::broadcast, verb::reduce_scatter, verb::allgather,
                                  verb::scan, verb::exclusive_scan}) {
            for (std::size_t const room : {SIZE_MAX, std::size_t{16} << 10}) {
              if (cases.skips()) continue;
              detail::call c{.what = what, .count = 2520, .reduction = &detail::table_of<float, plus>()};
              if (what == verb::broadcast || what == verb::allgather) c.reduction = &detail::copy_of<float>();
              if (in_place) c.in = c.out = &array;
              plan_options options;
              options.algorithm = named(algorithm, what, hosts);
              options.storage = storage;
              std::set<std::string> found;
              for (std::size_t h = 0; h < hosts.size(); ++h) found.insert(made_by(hosts, h, room, c, options));
              EXPECT_EQ(found.size(), 1u) << algorithm << ", " << storage << ", " << name_of(what) << ", " << in_place
                                          << ", " << hosts.size() << " hosts: " << ::testing::PrintToString(found);
              all.insert(found.begin(), found.end());
            }
          }
        }
      }
    }
  }
  EXPECT_TRUE(all.contains("refused"));
  EXPECT_TRUE(all.contains("too long"));
  EXPECT_GT(all.size(), 4u);
}

/// Pieces of any lengths, also none: what is chosen, and whether staging has room for it.
TEST(Hosts, ComeToTheSameOfUnequalPieces) {
  std::set<std::string> all;
  for (std::vector<rank_t> const& hosts : {std::vector<rank_t>{3, 1}, {1, 2, 4}, {5, 1}, {2, 2, 2, 2}}) {
    for (verb const what : {verb::reduce_scatter, verb::allgather}) {
      for (std::size_t const room : {SIZE_MAX, std::size_t{16} << 10}) {
        for (std::size_t const longest : {std::size_t{1}, std::size_t{100}, std::size_t{4000}}) {
          std::vector<std::size_t> counts;
          detail::call c{.what = what, .reduction = &detail::table_of<float, plus>()};
          if (what == verb::allgather) c.reduction = &detail::copy_of<float>();
          for (rank_t r = 0; r < facts_of(hosts, 0, room).ranks; ++r) counts.push_back(r * 7 % 3 * longest);
          for (std::size_t const one : counts) c.count += one;
          c.counts = counts;
          std::set<std::string> found;
          for (std::size_t h = 0; h < hosts.size(); ++h) found.insert(made_by(hosts, h, room, c, {}));
          EXPECT_EQ(found.size(), 1u) << name_of(what) << ", " << longest << ::testing::PrintToString(found);
          all.insert(found.begin(), found.end());
        }
      }
    }
  }
  EXPECT_GT(all.size(), 1u);
}

}  // namespace
}  // namespace coset::planning
