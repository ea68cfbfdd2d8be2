// SPDX-License-Identifier: Apache-2.0
// What hosts that each compile their own part have to agree on: messages, and how much staging they take.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "effort.hpp"
#include "program/parts/hosts.hpp"

namespace coset::program::testing {
namespace {

/// They are to cut vectors alike.
TEST(Parts, OfEqualHostsTakeEquallyMuchStaging) {
  for (std::string const more : {"", "leaders=0", "between=product,nested=1,dims=3x2", "saved_steps=1",
                                 "between=tower,factors=3x2,saved_steps=1"}) {
    std::set<std::uint32_t> layers, most;
    for (compiled const& c : all_compiled({two_level(equal, more), {equal}})) {
      layers.insert(c.layers);
      most.insert(c.most_layers);
    }
    EXPECT_EQ(layers.size(), 1u) << more;
    EXPECT_EQ(most, std::set<std::uint32_t>{0}) << more;
  }
  for (std::string const& algorithm :
       {two_level(unequal, ""), two_level(unequal, "leaders=0"), std::string("ring"),
        two_level(unequal, "between=product,dims=7,nested=1"), two_level(unequal, "saved_steps=2,inner=2")}) {
    std::set<std::uint32_t> most;
    for (compiled const& c : all_compiled({algorithm, {unequal}})) {
      most.insert(c.most_layers);
      EXPECT_LE(c.layers, c.most_layers) << algorithm;
    }
    EXPECT_EQ(most.size(), 1u) << algorithm;
  }
}

/// Of vectors that are made of ranks' pieces, and of scans, even equal hosts do different things.
TEST(Parts, OfPiecesAndScansTakeNoMoreStagingThanAllOfThemKnow) {
  for (auto const& hosts : {equal, unequal, {8, 8}, {1, 8, 1}, {1, 1, 1, 1, 1}}) {
    for (std::string const more : {"", "leaders=0", "leaders=2,radix=3", "between=direct", "inner=2,leaders=0"}) {
      for (auto const what : {verb::reduce_scatter, verb::allgather, verb::scan, verb::exclusive_scan}) {
        bool const scans = what == verb::scan || what == verb::exclusive_scan;
        if (scans && (more.find("radix") != more.npos || more.find("inner") != more.npos)) continue;
        for (std::string const storage : {"staged", "zero_copy", "staged_pull"}) {
          for (rank_t const carriers : {1u, 8u}) {
            auto const algorithm = scans ? scan_over(hosts, more) : two_level(hosts, more);
            std::set<std::uint32_t> most;
            for (compiled const& c : all_compiled({algorithm, {hosts, carriers}, what, 0, storage})) {
              most.insert(c.most_layers);
              EXPECT_LE(c.layers, c.most_layers) << algorithm << " " << name_of(what) << " " << storage;
            }
            EXPECT_EQ(most.size(), 1u) << algorithm << " " << name_of(what);
          }
        }
      }
    }
  }
}

/// One rank may receive for all of its host.
TEST(Parts, OfHostsWithOneCarrierTakeNoMoreThanAllOfThemKnow) {
  for (rank_t const ranks : {4u, 8u, 16u}) {
    for (auto const& hosts : {std::vector<rank_t>{ranks, ranks}, {ranks, 1, ranks}}) {
      for (std::string const algorithm : {"recursive_doubling", "generalized", "latency", "bruck_ho", "direct"}) {
        for (auto const what :
             {verb::scan, verb::exclusive_scan, verb::allreduce, verb::reduce_scatter, verb::allgather}) {
          bool const scans = what == verb::scan || what == verb::exclusive_scan;
          if (scans && algorithm != "recursive_doubling" && algorithm != "direct") continue;
          for (compiled const& c : all_compiled({algorithm, {hosts}, what}))
            EXPECT_LE(c.layers, c.most_layers) << algorithm << " " << name_of(what);
        }
      }
    }
  }
}

/// Runs of items of one form, as a message has them.
using items = std::vector<std::pair<detail::form, std::size_t>>;

items items_of(program const& p, instruction const& i, layout const& where, std::size_t blocks) {
  items all;
  for (std::uint32_t k = i.operands; k < i.operands + i.sources + i.destinations; ++k) {
    std::size_t const b = p.operands[k].piece % blocks, length = where.boundary[b + 1] - where.boundary[b];
    if (all.empty() || all.back().first != p.forms[k]) all.emplace_back(p.forms[k], 0);
    all.back().second += length;
  }
  return all;
}

/// What every proxy sends each other one is what that one expects, in the order in which it does, element by element or
/// partial result by partial result.
void expect_agreement(question const& q) {
  SCOPED_TRACE(q.algorithm + " " + std::string(name_of(q.verb)));
  distribution d = spread_over(q.where);
  std::map<std::pair<rank_t, rank_t>, std::vector<items>> sent, received;
  for (d.own = 0; d.own + 1 < d.domains.size(); ++d.own) {
    auto const code = compiled_by(q, d, true);
    auto const where = bound(code, q.verb, 1000, {4, 8});
    for (rank_t r = 0; r < code.of.size(); ++r) {
      for (instruction const& i : code.of[r].code) {
        auto const message = items_of(code.of[r], i, where, code.blocks.size());
        if (i.what == action::send) sent[{d.first() + r, i.peer}].push_back(message);
        if (i.what == action::receive) received[{i.peer, d.first() + r}].push_back(message);
      }
    }
  }
  EXPECT_EQ(sent, received);
}

TEST(Parts, AgreeOnMessages) {
  rank_t const most = test::by_effort<rank_t>(6, 13, 13);
  for (rank_t number = 2; number <= most; ++number) {
    if (number > 9 && number < most && test::wanted_effort() != test::effort::large) continue;
    std::vector<rank_t> const ones(number, 1), twos(number, 2);
    std::vector<rank_t> mixed;
    for (rank_t h = 0; h < number; ++h) mixed.push_back(1 + h % 3);
    for (std::string const between : {"generalized", "generalized,radix=3", "circulant", "naive", "bruck", "capped",
                                      "ring", "dilated", "swing", "direct"}) {
      for (std::string const saved : {"0", "1", "2"}) {
        if (saved == "2" && (between == "direct" || number < 5)) continue;
        for (auto const& hosts : {ones, twos, mixed}) {
          auto const algorithm = two_level(hosts, "leaders=2,saved_steps=" + saved + ",between=" + between);
          for (auto const what :
               {verb::allreduce, verb::reduce, verb::broadcast, verb::reduce_scatter, verb::allgather})
            expect_agreement({algorithm, {hosts, 1 + number % 2}, what, number - 1});
        }
      }
    }
    for (std::string const algorithm : {"generalized(saved_steps=1)", "ring(ordered=1)", "latency", "bruck_ho",
                                        "binomial", "recursive_doubling", "elimination_3_2", "n_block(blocks=4)",
                                        "two_trees(blocks=5)", "dual_root(blocks=3)", "pipelined(blocks=3)"}) {
      for (auto const what : {verb::allreduce, verb::reduce}) expect_agreement({algorithm, {mixed, 2}, what, 1});
    }
    for (auto const what : {verb::scan, verb::exclusive_scan}) {
      expect_agreement({"recursive_doubling", {mixed, 1}, what});
      for (auto const& hosts : {ones, twos, mixed}) {
        for (std::string const more : {"", "leaders=2", "leaders=0,between=direct"})
          expect_agreement({scan_over(hosts, more), {hosts, 1 + number % 2}, what});
      }
    }
  }
}

/// What hosts have in all is folded further by every rank, so that nobody rounds it on the way.
TEST(Parts, OfScansSendPartialResults) {
  std::vector<rank_t> const hosts{2, 3, 2, 4, 2};
  for (auto const what : {verb::scan, verb::exclusive_scan}) {
    for (std::string const more : {"", "leaders=2", "leaders=0,between=direct"}) {
      distribution d = spread_over({hosts});
      question const q{scan_over(hosts, more), {hosts}, what};
      for (d.own = 0; d.own + 1 < d.domains.size(); ++d.own) {
        for (program const& p : compiled_by(q, d, true).of) {
          for (instruction const& i : p.code) {
            if (i.what != action::send) continue;
            for (std::uint32_t k = 0; k < i.sources; ++k)
              EXPECT_EQ(p.forms[i.operands + k], detail::form::partial) << q.algorithm << " of host " << d.own;
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace coset::program::testing
