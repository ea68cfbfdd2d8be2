// SPDX-License-Identifier: Apache-2.0
// Calls that repeat run from a program with everything looked up: what they meet that the first calls have not met.
#include <cfenv>
#include <numeric>

#include "support/teams.hpp"
#include "team/team_state.hpp"
#include "variable.hpp"

/// Ranks that name one place of memory race for it until one of them notices.
extern "C" char const* __tsan_default_suppressions() { return "race:Repeated_ArraysThatBeginToOverlap\n"; }

namespace coset::team_test {
namespace {

/// Enough for both parities to be known.
constexpr int repeats = 6;

class Repeated : public ::testing::TestWithParam<rank_t> {
 protected:
  team ranks{options_for(GetParam())};

  int sum_of_ranks() const { return static_cast<int>(ranks.size() * (ranks.size() + 1) / 2); }
  static int value_of(member const& me) { return static_cast<int>(me.rank()) + 1; }
};

/// A plan's program is resolved once the plan is called again; of more plans than are kept most are not, as none would be used.
TEST(Resolved, AreProgramsOfPlansThatRepeat) {
  test::variable const new_team("COSET_IDLE", "0");
  team ranks(options_for(2));
  ranks.run([](member& me) {
    std::vector<int> in(2000), out(2000);
    auto const call = [&](std::size_t count) {
      allreduce(me, std::span(std::as_const(in)).first(count), std::span(out).first(count));
      auto const& plan = *me.state().plans.again({.what = verb::allreduce,
                                                  .in = in.data(),
                                                  .out = out.data(),
                                                  .count = count,
                                                  .reduction = &detail::table_of<int, plus>()});
      return me.state().memory.resolved.find(plan, me.state().ends[0].capacity) != nullptr;
    };
    EXPECT_FALSE(call(3));
    EXPECT_TRUE(call(3));
    for (std::size_t count = 1; count <= 900; ++count) call(count);
    std::size_t resolved = 0;
    for (std::size_t count = 1; count <= 900; ++count) resolved += call(count) ? 1 : 0;
    EXPECT_GT(resolved, 0u);
    EXPECT_LT(resolved, 450u);
  });
}

/// Each rank's sums, in arrays that `arrays` names for the call's number.
template <class Arrays>
void expect_sums(team& ranks, int calls, Arrays arrays) {
  ranks.run([&](member& me) {
    int const size = static_cast<int>(me.size());
    for (int k = 0; k < calls; ++k) {
      auto const [in, out] = arrays(me, k);
      std::ranges::fill(in, k + static_cast<int>(me.rank()));
      std::ranges::fill(out, -1);
      allreduce(me, in, out);
      int const wanted = k * size + size * (size - 1) / 2;
      ASSERT_TRUE(std::ranges::all_of(out, [wanted](int x) { return x == wanted; })) << me.rank() << ", call " << k;
    }
  });
}

using arrays = std::pair<std::span<int>, std::span<int>>;

/// Red if addresses are those of another call, or of the other parity.
TEST_P(Repeated, ArraysMayBeOthersAtEachCall) {
  for (std::size_t const count : {1u, 10u, 16u, 200u}) {
    for (std::size_t const buffers : {1u, 2u, 3u}) {
      std::vector<std::vector<int>> in(ranks.size() * buffers, std::vector<int>(count)), out = in;
      expect_sums(ranks, 20, [&](member const& me, int k) {
        std::size_t const at = me.rank() * buffers + static_cast<std::size_t>(k) % buffers;
        return arrays(in[at], out[at]);
      });
    }
  }
}

/// Staging that has grown is another: red if a rank that has no request under way goes on in the former, where the others do not.
TEST_P(Repeated, StagingMayGrowInBetween) {
  test::variable const chosen("COSET_ALLREDUCE", "direct/staged");
  team staged(options_for(GetParam()));
  staged.run([&](member& me) {
    auto const expect_sum = [&](std::size_t count) {
      std::vector<int> sums(count, static_cast<int>(me.rank()) + 1);
      allreduce(me, sums);
      ASSERT_EQ(std::ranges::count(sums, sum_of_ranks()), static_cast<std::ptrdiff_t>(count)) << me.rank();
    };
    for (int k = 0; k < repeats; ++k) expect_sum(200);
    expect_sum(1'000'000);
    std::array<int, 1> other{1};
    request started = start_allreduce(me, other);
    if (me.rank() == 0) started.wait();
    for (int k = 0; k < repeats; ++k) expect_sum(200);
    if (me.rank() != 0) started.wait();
  });
}

/// Rooted verbs leave entries unread, so that lines are used again only once their readers have gone on.
TEST_P(Repeated, VerbsOfAllKindsInTurn) {
  rank_t const all = ranks.size();
  ranks.run([&](member& me) {
    for (int k = 0; k < 30; ++k) {
      rank_t const root = static_cast<rank_t>(k / repeats) % all;
      int const mine = k + value_of(me), sum = k * static_cast<int>(all) + sum_of_ranks();
      int out = -1, given = me.rank() == root ? k : -1;
      std::vector<int> pieces(all, -1);
      broadcast(me, std::span(&given, 1), root);
      ASSERT_EQ(given, k);
      reduce(me, std::span(&mine, 1), std::span(&out, 1), root);
      ASSERT_EQ(out, me.rank() == root ? sum : -1);
      gather(me, std::span(&mine, 1), pieces, root);
      ASSERT_EQ(pieces.back(), me.rank() == root ? k + static_cast<int>(all) : -1);
      allgather(me, std::span(&mine, 1), pieces);
      ASSERT_EQ(pieces.back(), k + static_cast<int>(all));
      scan(me, std::span(&mine, 1), std::span(&out, 1));
      ASSERT_EQ(out, k * value_of(me) + value_of(me) * (value_of(me) + 1) / 2);
      barrier(me);
    }
  });
}

/// Red if a comparison outlives the arrays that it was made of.
TEST_P(Repeated, ArraysThatBeginToOverlapAreRefusedEverywhere) {
  if (ranks.size() < 2) return;
  std::vector<int> shared(3);
  std::vector<std::array<int, 2>> in(ranks.size()), out(ranks.size());
  auto const outcome = outcomes(ranks, [&](member& me) {
    for (int k = 0; k < repeats; ++k) allreduce(me, in[me.rank()], out[me.rank()]);
    std::span<int> const mine = me.rank() == 0   ? std::span(shared).first(2)
                                : me.rank() == 1 ? std::span(shared).last(2)
                                                 : std::span(out[me.rank()]);
    for (int k = 0; k < 2; ++k) allreduce(me, in[me.rank()], mine);
    barrier(me);
  });
  expect_everybody_threw<argument_error>(outcome, {"overlap"});
  expect_works(ranks);
}

TEST_P(Repeated, ACallThatDiffersIsAMismatch) {
  if (ranks.size() < 2) return;
  std::vector<std::array<int, 2>> in(ranks.size()), out(ranks.size());
  auto const outcome = outcomes(ranks, [&](member& me) {
    for (int k = 0; k < repeats; ++k) allreduce(me, in[me.rank()], out[me.rank()]);
    if (me.rank() == 0) {
      allreduce(me, in[0], out[0], maximum{});
    } else {
      allreduce(me, in[me.rank()], out[me.rank()]);
    }
    barrier(me);
  });
  expect_everybody_threw<mismatch_error>(outcome, {});
  expect_works(ranks);
}

/// An operation of the caller's that throws, and one that calls a collective, after it has done neither.
TEST_P(Repeated, OperationsMayMisbehaveLater) {
  if (ranks.size() < 2) return;
  for (bool const calls : {false, true}) {
    SCOPED_TRACE(calls);
    auto const outcome = outcomes(ranks, [&](member& me) {
      int call = 0;
      auto const operation = [&](int a, int b) {
        if (call == repeats && calls) barrier(me);
        if (call == repeats) throw std::domain_error("seven");
        return a + b;
      };
      for (; call <= repeats; ++call) {
        std::array<int, 2> const in{1, 1};
        std::array<int, 2> out{};
        allreduce(me, in, out, operation);
      }
    });
    EXPECT_TRUE(std::ranges::none_of(outcome, [](auto const& each) { return each.type.empty(); }));
    expect_works(ranks);
  }
}

/// Bits are the team's on every rank, whichever mode a thread has come to.
TEST_P(Repeated, AThreadMayChangeItsRounding) {
  std::vector<float> sums(ranks.size());
  ranks.run([&](member& me) {
    float const in = me.rank() == 0 ? 1.0f : 0x1p-25f;
    for (int k = 0; k < repeats; ++k) sums[me.rank()] = allreduce(me, in);
    float const before = sums[me.rank()];
    if (me.rank() == me.size() - 1) std::fesetround(FE_UPWARD);
    sums[me.rank()] = allreduce(me, in);
    std::fesetround(FE_TONEAREST);
    EXPECT_EQ(sums[me.rank()], before);
  });
}

/// Calls beside a request, and again without one.
TEST_P(Repeated, RequestsMayBeUnderWay) {
  std::vector<int> in(ranks.size()), out(ranks.size()), other(ranks.size());
  ranks.run([&](member& me) {
    for (int k = 0; k < 20; ++k) {
      in[me.rank()] = k + value_of(me);
      int const wanted = k * static_cast<int>(me.size()) + sum_of_ranks();
      request started;
      if (k % 3 == 0) started = start_allreduce(me, std::span(&in[me.rank()], 1), std::span(&other[me.rank()], 1));
      allreduce(me, std::span(&in[me.rank()], 1), std::span(&out[me.rank()], 1));
      ASSERT_EQ(out[me.rank()], wanted);
      if (k % 3 != 0) continue;
      started.wait();
      ASSERT_EQ(other[me.rank()], wanted);
    }
  });
}

/// Red under UBSan if an empty piece is copied from where no array is.
TEST_P(Repeated, ARankMayGiveNothing) {
  std::vector<std::size_t> counts(ranks.size(), 3);
  counts.back() = 0;
  std::size_t const whole = 3 * (ranks.size() - 1);
  ranks.run([&](member& me) {
    std::vector<int> const own(counts[me.rank()], value_of(me));
    std::span<int const> const in = own.empty() ? std::span<int const>() : own;
    std::vector<int> out(whole);
    for (int k = 0; k < repeats; ++k) {
      std::ranges::fill(out, -1);
      allgather(me, in, out, counts);
      for (std::size_t i = 0; i < whole; ++i) ASSERT_EQ(out[i], static_cast<int>(i / 3) + 1) << "call " << k;
    }
  });
}

/// More plans than are kept, and than have places in front.
TEST_P(Repeated, PlansMayBeMany) {
  std::vector<std::vector<int>> in(ranks.size(), std::vector<int>(300)), out = in;
  for (int const shapes : {17, 300})
    expect_sums(ranks, 3 * shapes, [&](member const& me, int k) {
      auto const count = static_cast<std::size_t>(1 + k % shapes);
      return arrays(std::span(in[me.rank()]).first(count), std::span(out[me.rank()]).first(count));
    });
}

INSTANTIATE_TEST_SUITE_P(Of, Repeated, ::testing::Values(1, 2, 3, 5));

}  // namespace
}  // namespace coset::team_test
