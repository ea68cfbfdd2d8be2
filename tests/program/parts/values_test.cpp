// SPDX-License-Identifier: Apache-2.0
// What hosts that each compile their own part come to together.
#include <numeric>
#include <set>

#include "effort.hpp"
#include "program/parts/running.hpp"
#include "support/oracle.hpp"

namespace coset::program::testing {
namespace {

/// What others have a rank has no right to. In a barrier all tell all.
team_test::task asked_by(question const& q, std::vector<std::size_t> const& pieces) {
  team_test::task t{.what = q.verb == verb::barrier ? verb::allreduce : q.verb, .root = q.root};
  for (std::size_t r = 0; r + 1 < pieces.size(); ++r) t.counts.push_back(pieces[r + 1] - pieces[r]);
  return t;
}

void expect_right(question const& q, std::size_t count) {
  SCOPED_TRACE(q.algorithm + " " + std::string(name_of(q.verb)) + " " + q.storage);
  auto hosts = hosts_of(q, count);
  auto const asked = asked_by(q, pieces_of(hosts[0].code().ranks, count));
  std::mt19937_64 values(count);
  std::vector sums(1, std::vector<element>(count, 0));  // [rank]: of all ranks before it
  for (host& h : hosts) {
    for (std::size_t own = 0; own < h.input.size(); ++own) {
      auto sum = sums.back();
      auto const given = team_test::given_by(asked, static_cast<rank_t>(sums.size() - 1));
      for (std::size_t e = given.first; e < given.first + given.count; ++e) sum[e] += h.input[own][e] = values();
      sums.push_back(std::move(sum));
      // In place, or put there beforehand.
      if (by_pieces(q.verb)) h.output[own] = h.input[own];
    }
  }
  host::brackets = false;
  run(hosts, count + 1);
  for (host const& h : hosts) {
    for (std::size_t own = 0; own < h.output.size(); ++own) {
      auto const r = static_cast<rank_t>(h.first() + own);
      if (q.verb == verb::broadcast && r == q.root) continue;  // whose array is both
      for (team_test::part const& p : team_test::parts_of(asked, r))
        for (std::size_t e = 0; e < p.of.count; ++e)
          ASSERT_EQ(h.output[own][p.of.first + e], sums[p.end][p.from + e] - sums[p.begin][p.from + e])
              << "rank " << r << ", " << p.of.first + e;
    }
  }
}

TEST(Parts, GiveWhatTheWholeGives) {
  test::sample cases(5, 23);
  for (auto const& hosts : {equal, unequal, {2, 2}, {1, 1, 1, 1}, {4, 1}}) {
    for (std::string const more : {"", "leaders=0", "leaders=2", "saved_steps=1", "radix=3,leaders=0", "between=direct",
                                   "between=ring", "between=direct,saved_steps=1,leaders=0", "between=binomial",
                                   "between=recursive_doubling", "between=elimination_3_2", "between=bruck_ho",
                                   "inner=2", "inner=2,leaders=0", "between=adapted_dissemination"}) {
      for (auto const what :
           {verb::allreduce, verb::barrier, verb::reduce, verb::broadcast, verb::reduce_scatter, verb::allgather}) {
        if (by_pieces(what) && more.ends_with("binomial")) continue;
        for (rank_t const root : {0u, 1u, std::accumulate(hosts.begin(), hosts.end(), 0u) - 1}) {
          if (by_pieces(what) && root > 0) continue;
          for (std::string const storage : {"staged", "zero_copy", "push", "staged_pull"}) {
            if (!cases.skips()) expect_right({two_level(hosts, more), {hosts, root + 1}, what, root, storage}, 157);
          }
        }
      }
    }
  }
}

/// Then hosts read the same value more than once, and several of one block.
TEST(Parts, ThatSaveStepsSendNothingTwice) {
  for (auto const& hosts : {equal, unequal}) {
    for (std::string const algorithm : {"generalized,saved_steps=", "circulant,saved_steps=", "naive,saved_steps="}) {
      for (std::string const saved : {"1", "2", "3"}) {
        for (std::string const radix : {"", ",radix=2", ",radix=3"}) {
          if (radix.empty() != (algorithm[0] == 'n') || (radix == ",radix=3" && saved == "3")) continue;
          expect_right({two_level(hosts, "leaders=2,between=" + algorithm + saved + radix), {hosts, 2}}, 300);
        }
      }
    }
  }
}

/// Algorithms that know nothing of hosts.
TEST(Parts, AreOfAnyAlgorithm) {
  for (std::string const algorithm :
       {"direct", "ring", "generalized(radix=3)", "recursive_doubling", "binomial", "latency", "elimination_3_2",
        "generalized(saved_steps=2)", "bruck_ho", "hybrid(saved_steps=1)", "flexreduce(nodes=1+4+2+3+1+5+2)",
        "n_block(blocks=5)", "two_trees(blocks=6)", "dual_root(blocks=4)", "pipelined(blocks=7)",
        "pipelined(blocks=2,degree=3)"}) {
    for (auto const what : {verb::allreduce, verb::reduce, verb::broadcast}) {
      if (algorithm == "flexreduce" && what != verb::allreduce) continue;
      expect_right({algorithm, {unequal, 1}, what, 7}, 411);
      expect_right({algorithm, {unequal, 9}, what, 0, "zero_copy"}, 411);
    }
  }
}

TEST(Parts, OfProductsNestAndLieSideBySide) {
  std::vector<rank_t> const twelve(12, 2);
  for (std::string const dims : {"12", "3x4", "2x2x3", "6x2"}) {
    for (std::string const saved : {"0", "1"}) {
      auto const more = "between=product,nested=1,dims=" + dims + ",saved_steps=" + saved;
      expect_right({two_level(twelve, more), {twelve}}, 500);
      expect_right({two_level(twelve, more + ",leaders=0"), {twelve, 2}}, 500);
      for (auto const what : {verb::reduce_scatter, verb::allgather})
        expect_right({two_level(twelve, more), {twelve, 2}, what}, 500);
    }
  }
  // In each round one run of neighbours for each peer, there and back.
  auto const part = schedule::make_part(schedule::algorithm::parse(two_level(twelve, "between=product,dims=2x2x3")),
                                        spread_over({twelve}).domains, 5, verb::allreduce, 0);
  EXPECT_LE(part.own.blocks.size(), 2u * (1 + 1 + 2) + 1);
  EXPECT_EQ(part.blocks, 12u);
}

TEST(Parts, OfHalvesThatSwapGiveWhatTheWholeGives) {
  std::vector<rank_t> const twelve(12, 2);
  for (std::string const radix : {"2", "3", "6"})
    for (std::string const leaders : {"1", "0"})
      for (auto const what : {verb::allreduce, verb::reduce, verb::broadcast})
        expect_right(
            {two_level(twelve, "between=tower,factors=6x2,saved_steps=1,radix=" + radix + ",leaders=" + leaders),
             {twelve, 2},
             what,
             3},
            300);
}

TEST(Parts, OfScansGiveThePrefixes) {
  for (auto const& hosts : {equal, unequal, {2, 2}, {1, 1, 1, 1}, {4, 1}, {1, 7}}) {
    for (std::string const more : {"", "leaders=0", "leaders=2", "between=direct", "between=direct,leaders=3"}) {
      for (auto const what : {verb::scan, verb::exclusive_scan}) {
        for (std::string const storage : {"staged", "zero_copy", "push", "staged_pull"})
          expect_right({scan_over(hosts, more), {hosts, 2}, what, 0, storage}, 157);
      }
    }
  }
}

/// The bits of every rank of every host, and of the schedule for all ranks, are the same.
TEST(Parts, BracketAsTheWholeDoes) {
  for (std::string const more : {"between=product,nested=1,dims=3x2", "between=tower,factors=3x2,saved_steps=1",
                                 "radix=2", "between=direct,leaders=0"}) {
    auto const algorithm = two_level(equal, more);
    std::size_t const count = 96;
    auto const outputs = [&](std::vector<host> hosts) {
      std::mt19937_64 values(7);
      for (host& h : hosts) {
        for (auto& in : h.input) std::ranges::generate(in, std::ref(values));
      }
      host::brackets = true;
      run(hosts, 3);
      host::brackets = false;
      std::set<std::vector<element>> all;
      for (host const& h : hosts) all.insert(h.output.begin(), h.output.end());
      return all;
    };
    auto const apart = outputs(hosts_of({algorithm, {equal}}, count));
    std::vector<host> one;
    auto code = compile(schedule::make(schedule::algorithm::parse(algorithm), 18), parse_policy("staged"));
    auto where = bind(code, count, {sizeof(element)});
    one.emplace_back(std::move(code), std::move(where), 0, count);
    EXPECT_EQ(apart.size(), 1u) << more;
    EXPECT_EQ(apart, outputs(std::move(one))) << more;
  }
}

/// All hosts of a large team, each with its part alone.
TEST(Parts, OfManyHostsFitTogether) {
  test::sample cases(1, 3);
  std::vector<rank_t> const many(64, 32);
  expect_right({two_level(many, "between=product,nested=1,dims=2x2x2x2x2x2"), {many}}, 640);
  expect_right({two_level(many, "between=product,nested=1,dims=8x8,saved_steps=2"), {many}}, 64);
  std::vector<rank_t> uneven;
  for (rank_t h = 0; h < 36; ++h) uneven.push_back(1 + h * 5 % 16);
  for (auto const& hosts : {std::vector<rank_t>(36, 12), uneven}) {
    for (std::string const more : {"leaders=8,radix=4", "leaders=0,radix=2", "between=product,nested=1,dims=6x6"}) {
      for (auto const what : {verb::reduce_scatter, verb::allgather})
        if (!cases.skips()) expect_right({two_level(hosts, more), {hosts, 8}, what}, 1000);
    }
    for (auto const what : {verb::scan, verb::exclusive_scan})
      expect_right({scan_over(hosts, "leaders=8"), {hosts, 8}, what}, 100);
  }
}

}  // namespace
}  // namespace coset::program::testing
