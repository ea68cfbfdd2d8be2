// SPDX-License-Identifier: Apache-2.0
// The parts that hosts make alone are those of one schedule, which does what its verb requires; and how large they are.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <numeric>

#include "command/shown/draw.hpp"
#include "effort.hpp"
#include "planning/schedule/core/validate.hpp"
#include "planning/schedule/parts/joined.hpp"
#include "program/parts/hosts.hpp"

namespace coset::program::testing {
namespace {

using schedule::part;

std::vector<part> parts_of(std::string const& algorithm, std::vector<rank_t> const& hosts, verb what, rank_t root = 0) {
  auto const domains = spread_over({hosts}).domains;
  std::vector<part> all;
  for (std::size_t h = 0; h < hosts.size(); ++h)
    all.push_back(schedule::make_part(schedule::algorithm::parse(algorithm), domains, h, what, root));
  return all;
}

std::vector<std::vector<rank_t>> shapes() {
  std::vector<std::vector<rank_t>> all{equal, unequal, {2, 2}, {4, 1}, {1, 6}, {7, 1, 1}};
  for (rank_t hosts = 2; hosts <= 9; ++hosts) {
    all.emplace_back(hosts, 1);
    all.emplace_back(hosts, 2);
    auto& mixed = all.emplace_back();
    for (rank_t h = 0; h < hosts; ++h) mixed.push_back(1 + h * 3 % 4);
  }
  return all;
}

TEST(JoinedParts, AreSchedulesOfTheirVerbs) {
  test::sample cases(5);
  for (auto const& hosts : shapes()) {
    rank_t const ranks = std::accumulate(hosts.begin(), hosts.end(), 0u);
    for (std::string const more : {"", "leaders=0", "leaders=2", "leaders=3,radix=3", "between=direct",
                                   "between=direct,leaders=0", "inner=2", "inner=2,leaders=0", "between=ring,leaders=2",
                                   "between=circulant", "between=naive", "between=capped", "between=recursive_halving",
                                   "between=dilated,radix=3", "between=swing", "between=binomial", "saved_steps=1"}) {
      for (auto const what : {verb::allreduce, verb::reduce, verb::broadcast, verb::reduce_scatter, verb::allgather}) {
        auto const algorithm = two_level(hosts, more);
        for (rank_t const root : {0u, ranks - 1}) {
          // Trees that are not mirrored take other steps on other hosts.
          if (by_pieces(what) && (root > 0 || more == "between=binomial")) continue;
          if (cases.skips()) continue;
          auto const whole = schedule::joined(parts_of(algorithm, hosts, what, root));
          EXPECT_NO_THROW(schedule::validate(whole)) << algorithm << " " << name_of(what) << " " << root;
        }
      }
    }
  }
}

/// What schedules for all ranks are made for, such as `coset plan`, is what hosts do.
TEST(JoinedParts, OfPiecesAndScansAreWhatTheAlgorithmIs) {
  for (auto const& hosts : shapes()) {
    rank_t const ranks = std::accumulate(hosts.begin(), hosts.end(), 0u);
    auto const expect_one = [&](std::string const& algorithm, verb what) {
      auto const whole = schedule::make(schedule::algorithm::parse(algorithm), ranks, what);
      auto named = schedule::joined(parts_of(algorithm, hosts, what));
      named.algorithm = whole.algorithm;
      named.parameters = whole.parameters;
      EXPECT_EQ(schedule::draw_text(whole), schedule::draw_text(named)) << algorithm << " " << name_of(what);
    };
    for (std::string const more : {"", "leaders=0", "leaders=2,between=direct"}) {
      expect_one(two_level(hosts, more), verb::reduce_scatter);
      expect_one(two_level(hosts, more), verb::allgather);
      expect_one(scan_over(hosts, more), verb::scan);
      expect_one(scan_over(hosts, more), verb::exclusive_scan);
    }
  }
}

TEST(JoinedParts, KeepTheOrderOfRanksWhereTheFoldBetweenHostsDoes) {
  for (auto const& hosts : shapes()) {
    auto const number = std::to_string(hosts.size());
    for (std::string const leaders : {"", ",leaders=0", ",leaders=2"}) {
      auto const nested = two_level(hosts, "between=product,nested=1,dims=" + number + leaders);
      EXPECT_TRUE(schedule::validate(schedule::joined(parts_of(nested, hosts, verb::reduce_scatter))).ordered);
      for (auto const what : {verb::scan, verb::exclusive_scan}) {
        auto const scan = scan_over(hosts, "between=recursive_doubling" + leaders);
        EXPECT_TRUE(schedule::validate(schedule::joined(parts_of(scan, hosts, what))).ordered) << scan;
      }
    }
  }
}

/// Over a host's link goes what its ranks lack, or what others do.
TEST(JoinedParts, OfPiecesSendNoMoreThanTheyHaveTo) {
  for (auto const& hosts : shapes()) {
    for (std::string const more : {"", "leaders=0", "leaders=2,radix=3"}) {
      for (part const& p : parts_of(two_level(hosts, more), hosts, verb::allgather)) {
        schedule::fraction received = 0;
        for (auto const& step : p.own.steps) {
          for (auto const& a : step) {
            bool const is_remote = p.own.from(a).front().rank == p.own.ranks;
            if (is_remote) received += p.own.blocks[a.block].size;
          }
        }
        schedule::fraction own = 0;
        for (auto const& b : p.own.blocks) {
          rank_t const all = std::accumulate(hosts.begin(), hosts.end(), 0u);
          bool const is_own =
              b.offset >= schedule::fraction(p.first, all) && b.offset < schedule::fraction(p.first + p.own.ranks, all);
          if (is_own) own += b.size;
        }
        EXPECT_EQ(received + own, schedule::fraction(1)) << two_level(hosts, more);
      }
    }
  }
}

/// Counts that do not depend on how fast a machine is: of the values that a host's program is made of.
std::size_t values_of(part const& p) {
  std::size_t sources = p.own.sources.size() + p.remote.size(), departures = 0;
  for (auto const& step : p.departures) departures += step.size();
  return sources + departures + p.own.ranks * p.own.blocks.size();
}

/// A host of a thousand makes hardly more than one of a hundred: nothing is as large as the team, or as the hosts squared.
TEST(JoinedParts, GrowWithTheHostAndTheLogarithmOfTheirNumber) {
  rank_t const ranks = 32;
  for (auto const what : {verb::reduce_scatter, verb::allgather, verb::scan, verb::exclusive_scan}) {
    bool const scans = what == verb::scan || what == verb::exclusive_scan;
    std::vector<std::size_t> values;
    for (rank_t const number : {64u, 1000u, 4000u}) {
      std::vector<rank_t> const hosts(number, ranks);
      auto const algorithm = scans ? scan_over(hosts, "leaders=8") : two_level(hosts, "leaders=8,radix=4");
      auto const domains = spread_over({hosts}).domains;
      std::size_t most = 0;
      for (std::size_t const h : {std::size_t{0}, hosts.size() / 3, hosts.size() - 1}) {
        part const p = schedule::make_part(schedule::algorithm::parse(algorithm), domains, h, what, 0);
        EXPECT_LE(p.own.blocks.size(), 4 * ranks) << name_of(what) << " " << number;
        most = std::max(most, values_of(p));
      }
      values.push_back(most);
    }
    EXPECT_LE(values[1], 3 * values[0]) << name_of(what);
    EXPECT_LE(values[2], 3 * values[0]) << name_of(what);
  }
}

}  // namespace
}  // namespace coset::program::testing
