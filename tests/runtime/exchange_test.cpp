// SPDX-License-Identifier: Apache-2.0
// Pairs that write staging where they have read, beside what else ranks do: other operations in between, failures, splits, requests.
#include <gtest/gtest.h>
#include <coset/coset.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <numeric>
#include <stdexcept>
#include <thread>
#include <vector>

#include "effort.hpp"
#include "support/ways.hpp"

namespace coset::team_test {
namespace {

/// Long enough for blocks to be exchanged, on up to four ranks, and even pieces for two to four.
constexpr std::size_t count = 3 * 1024;

/// What call number `call` has of rank `of` for rank `to`.
int value(int call, rank_t of, rank_t to) { return call * 100 + static_cast<int>(of * 10 + to); }

class exchanged {
 public:
  explicit exchanged(team& ranks)
      : inputs_(ranks.size()), plan_(make_plan<int>(ranks, verb::all_to_all, count, {}, plan_named("direct/staged"))) {}

  void call(member& me, int number) {
    std::vector<int> out(count);
    start_with(me, number, [&](std::vector<int> const& in) { plan_.execute(me, in, out); });
    expect(me, number, out);
  }

  [[nodiscard]] request start(member& me, int number, std::vector<int>& out) {
    request made;
    start_with(me, number, [&](std::vector<int> const& in) { made = plan_.start(me, in, out); });
    return made;
  }

  void expect(member& me, int number, std::vector<int> const& out) const {
    std::size_t const each = count / me.size();
    for (rank_t of = 0; of < me.size(); ++of)
      ASSERT_EQ(std::count(out.begin() + static_cast<std::ptrdiff_t>(of * each),
                           out.begin() + static_cast<std::ptrdiff_t>((of + 1) * each), value(number, of, me.rank())),
                static_cast<std::ptrdiff_t>(each))
          << "call " << number << ", of rank " << of;
  }

 private:
  /// A request's input stays until it is complete.
  template <class Begin>
  void start_with(member& me, int number, Begin begin) {
    std::vector<int>& in = inputs_[me.rank()];
    in.clear();
    for (rank_t to = 0; to < me.size(); ++to) in.insert(in.end(), count / me.size(), value(number, me.rank(), to));
    begin(in);
  }

  std::vector<std::vector<int>> inputs_;  ///< [rank]
  plan<int> plan_;
};

/// A root need not wait for its readers: so who writes another's staging next may be ahead of them.
TEST(Exchange, IsRightWhateverComesBetween) {
  for (rank_t const size : {2u, 4u}) {
    team ranks(options_for(size));
    exchanged pairs(ranks);
    auto const sent = make_plan<int>(ranks, verb::broadcast, count, {}, plan_named("direct/staged"));
    ranks.run([&](member& me) {
      std::vector<int> data(count);
      for (int call = 0; call < test::by_effort(200, 1000, 10'000); ++call) {
        for (int between = 0; between < call % 5; ++between) {
          bool const is_root = me.rank() == 0;
          std::iota(data.begin(), data.end(), is_root ? call : -1);
          sent.execute(me, is_root ? std::span<int const>(data) : std::span<int const>(), std::span<int>(data));
          ASSERT_EQ(data.back(), call + static_cast<int>(count) - 1);
        }
        pairs.call(me, call);
      }
    });
  }
}

/// Ranks leave a run that failed in different operations, and go on together. Red if they disagree about whose turn it is.
TEST(Exchange, GoesOnAfterAFailure) {
  team ranks(options_for(3));
  exchanged pairs(ranks);
  for (int run = 0; run < 24; ++run) {
    EXPECT_THROW(ranks.run([&](member& me) {
      for (int call = 0; call < run % 7; ++call) pairs.call(me, call);
      if (me.rank() == static_cast<rank_t>(run % 3)) throw std::runtime_error("had enough");
      pairs.call(me, run);
      pairs.call(me, run);
    }),
                 std::runtime_error);
    ranks.run([&](member& me) {
      for (int call = 0; call < 5; ++call) pairs.call(me, run + call);
    });
  }
}

/// Rank 2 has yet to read what rank 1 has staged when rank 0, which has met neither since, begins an operation that writes there. Red if
/// rank 0 asks only those who read its own staging. Requests take eight channels in turn: seven short ones lead back to the first.
TEST(Exchange, AsksEverybodyBeforeItWritesAnothersStaging) {
  team ranks(options_for(3));
  exchanged pairs(ranks);
  auto const from_root = [&](rank_t root) {
    plan_options options = plan_named("direct/staged");
    options.root = root;
    return make_plan<int>(ranks, verb::scatter, count, {}, options);
  };
  std::array<plan<int>, 2> const from = {from_root(0), from_root(1)};
  std::atomic<bool> is_entered = false;
  std::atomic<int> begun = 0;
  ranks.run([&](member& me) {
    std::array<std::vector<int>, 6> in, out;
    for (std::size_t k = 0; k < in.size(); ++k) in[k].assign(count, static_cast<int>(k));
    out.fill(std::vector<int>(count));
    auto const send = [&](rank_t root, std::size_t what) {
      std::span<int const> const given = me.rank() == root ? std::span<int const>(in[what]) : std::span<int const>();
      return from[root].start(me, given, std::span(out[what]).first(count / 3));
    };
    auto const start_others = [&](std::array<int, 7>& words) {
      std::array<request, 7> others;
      for (std::size_t k = 0; k < others.size(); ++k) others[k] = start_broadcast(me, std::span(&words[k], 1), 0);
      return others;
    };
    std::array<int, 7> words{};
    auto const pass_others = [&] {
      for (request& other : start_others(words)) other.wait();
    };
    pairs.start(me, 1, out[1]).wait();
    pass_others();
    send(0, 2).wait();
    pass_others();
    if (me.rank() == 1)
      while (!is_entered) std::this_thread::yield();
    request unread = send(1, 3);
    std::array<request, 7> others = start_others(words);
    if (me.rank() == 2) {
      is_entered = true;
      while (begun != 2) std::this_thread::yield();
    }
    unread.wait();
    for (request& other : others) other.wait();
    send(0, 4).wait();
    pass_others();
    request last = pairs.start(me, 5, out[5]);
    ++begun;
    last.wait();
    for (int const what : {2, 3, 4})
      EXPECT_EQ(std::ranges::count(out[what], what), static_cast<std::ptrdiff_t>(count / 3));
    pairs.expect(me, 1, out[1]);
    pairs.expect(me, 5, out[5]);
  });
}

/// Each split team and each channel of requests counts by itself.
TEST(Exchange, IsCountedByTeamAndChannel) {
  team ranks(options_for(4));
  ranks.run([&](member& me) {
    member half = me.split(static_cast<int>(me.rank() % 2));
    for (int call = 0; call < test::by_effort(50, 300, 3000); ++call) {
      std::vector<int> const mine(count, value(call, me.rank(), 0));
      std::vector<int> all(4 * count), both(2 * count);
      request first = start_allgather(me, mine, all), second;
      if (call % 3 != 0) second = start_allgather(half, mine, both);
      if (call % 3 == 0) allgather(half, mine, both);
      second.wait();
      first.wait();
      for (rank_t r = 0; r < 4; ++r) ASSERT_EQ(all[r * count], value(call, r, 0));
      for (rank_t r = 0; r < 2; ++r) ASSERT_EQ(both[(r + 1) * count - 1], value(call, 2 * r + me.rank() % 2, 0));
    }
  });
}

}  // namespace
}  // namespace coset::team_test
