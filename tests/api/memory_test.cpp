// SPDX-License-Identifier: Apache-2.0
// Memory that a collective cannot have: an error of all ranks that names the call, whichever allocation fails.
#include <gmock/gmock.h>

#include <map>

#include "support/counted_new.hpp"
#include "support/hosts.hpp"
#include "team/team_state.hpp"
#include "variable.hpp"

namespace coset::team_test {
namespace {

using ::testing::HasSubstr;

constexpr std::size_t count = 3000;

/// A rank's arrays, made before anything fails.
struct arrays {
  explicit arrays(rank_t p) : in(count * p, 1), out(count * p), counts(p, count) {}
  std::vector<int> in, out;
  std::vector<std::size_t> counts;
};

using verb_call = std::function<void(member&, arrays&)>;

/// What can be called, and the verb that its error names.
std::map<std::string, verb_call> calls(bool one_memory) {
  std::map<std::string, verb_call> all{
      {"allreduce",
       [](member& me, arrays& a) { allreduce(me, std::span(a.in).first(count), std::span(a.out).first(count)); }},
      {"reduce",
       [](member& me, arrays& a) { reduce(me, std::span(a.in).first(count), std::span(a.out).first(count), 1); }},
      {"reduce_scatter", [](member& me, arrays& a) { reduce_scatter(me, a.in, std::span(a.out).first(count)); }},
      {"allgather", [](member& me, arrays& a) { allgather(me, std::span(a.in).first(count), a.out); }},
      {"broadcast", [](member& me, arrays& a) { broadcast(me, a.in, 0); }},
      {"scan", [](member& me, arrays& a) { scan(me, std::span(a.in).first(count), std::span(a.out).first(count)); }},
      {"exclusive_scan", [](member& me, arrays& a) { exclusive_scan(me, std::span(a.in).first(count)); }},
      {"barrier", [](member& me, arrays&) { barrier(me); }},
      {"gather", [](member& me, arrays& a) { gather(me, std::span(a.in).first(count), a.out, 0); }},
      {"scatter", [](member& me, arrays& a) { scatter(me, a.in, std::span(a.out).first(count), 0); }},
      {"all_to_all", [](member& me, arrays& a) { all_to_all(me, a.in, a.in); }},
      {"all_to_all of counts", [](member& me, arrays& a) { all_to_all(me, a.in, a.out, a.counts, a.counts); }},
      {"allreduce together",
       [](member& me, arrays& a) {
         double value = 1;
         allreduce(me, together(a.out, value));
       }},
      {"broadcast started", [](member& me, arrays& a) { start_broadcast(me, std::span(a.in).first(count), 1).wait(); }},
  };
  if (one_memory)
    all["allreduce_view"] = [](member& me, arrays& a) { (void)allreduce_view(me, std::span<int const>(a.in)); };
  return all;
}

/// Which allocation of the next call fails. The first one, the second one, …: what calls before have kept is skipped over.
/// Or again and again the same one: what is made piece by piece then fails at every piece in turn, once the one before is kept.
struct failures_in_turn {
  std::size_t first = 0;
  bool again = false;

  std::size_t next(std::size_t n) const {
    return again ? n : n + test::by_effort<std::size_t>(1 + n / 2, 1 + n / 8, 1);
  }
};

/// What no call keeps may fail for ever.
constexpr int most_calls = 60;

/// Allocations of a rank's first calls of a verb fail. Either all ranks are told, or the call does without; until one call has had
/// all that it wants. `run` runs a body on all ranks.
void fail_allocations(failures_in_turn const& turn, rank_t p, rank_t failing, bool one_memory,
                      std::function<void(std::function<void(member&)>)> const& run) {
  for (auto const& named : calls(one_memory)) {
    std::string const& name = named.first;
    auto const& call = named.second;  // clang 14 captures no structured binding
    std::string const verb = name.substr(0, name.find(' '));
    std::size_t failures = 0;
    bool failed = true;
    std::size_t n = turn.first;
    for (int k = 0; failed && (k < most_calls || !turn.again); ++k, n = turn.next(n)) {
      std::vector<outcome> left(p);
      run([&](member& me) {
        arrays mine(p);
        left[me.rank()] = outcome_of([&] {
          if (me.rank() == failing) test::fail_allocation(n);
          try {
            call(me, mine);
          } catch (...) {
            if (me.rank() == failing) failed = test::allocation_failed();
            throw;
          }
          if (me.rank() == failing) failed = test::allocation_failed();
          barrier(me);
        });
      });
      bool const all_well = std::ranges::all_of(left, [](outcome const& o) { return o.type.empty(); });
      if (all_well) continue;
      EXPECT_TRUE(failed);
      ++failures;
      expect_everybody_threw<out_of_memory>(
          left, {verb, " bytes: rank " + std::to_string(failing) + " cannot have the memory", "is limited to "});
      if (::testing::Test::HasFailure()) {
        FAIL() << name << ", allocation " << n;
      }
    }
    // What the others call, too, has nothing left to make; nor has the last of what the calls before have kept.
    EXPECT_TRUE(turn.again || failures > 0 || name == "barrier") << name << " allocates nothing at first";
  }
}

TEST(Memory, ThatAThreadCannotHaveIsAnErrorOfAll) {
  test::variable const new_teams("COSET_IDLE", "0");
  team others({.ranks = 1, .place = placement::unbound});
  others.run([](member& me) {  // what arrays that go together are is found out once per process
    std::vector<int> few(1);
    double value = 1;
    allreduce(me, together(few, value));
  });
  for (rank_t const failing : {0u, 2u}) {
    team ranks({.ranks = 3, .place = placement::unbound});
    fail_allocations({}, 3, failing, true, [&](auto const& body) { ranks.run(body); });
    expect_works(ranks);
  }
}

TEST(Memory, ThatOneProcessCannotHaveIsAnErrorOfAll) {
  for (rank_t const failing : {0u, 3u}) {
    hosts on({{2, 1}, {1}}, true);
    fail_allocations({}, on.size(), failing, false, [&](auto const& body) { on.run(body); });
  }
}

/// Red if what has been made in part is taken for the whole by the next call: ranks then wait, or meet each other's next calls.
TEST(Memory, OfWhichThereWasAPartIsMadeAnew) {
  for (std::size_t which = 1; which <= 6; ++which) {
    hosts on({{2, 1}, {1}}, true);
    fail_allocations({which, true}, on.size(), 0, false, [&](auto const& body) { on.run(body); });
  }
}

/// Nothing is touched before it is there.
TEST(Memory, ThatNoMachineHasIsAnErrorOfAll) {
  team ranks({.ranks = 2, .place = placement::unbound});
  constexpr std::size_t far_too_much = std::size_t{1} << 46;
  char one = 0;
  auto const viewed = outcomes(
      ranks, [&](member& me) { (void)allreduce_view(me, std::span<char const>(&one, far_too_much), bit_or{}); });
  expect_everybody_threw<out_of_memory>(viewed, {"allreduce_view of 70368744177664 bytes: rank ", "is limited to "});
  expect_works(ranks);
}

/// What the caller's operation throws is the caller's.
TEST(Memory, ThatAnOperationCannotHaveIsItsOwnMatter) {
  team ranks({.ranks = 2, .place = placement::unbound});
  auto const throws = [](int a, int b) {
    if (a + b == 2) throw std::bad_alloc();
    return a + b;
  };
  auto const all = outcomes(ranks, [&](member& me) { (void)allreduce(me, 1, throws); });
  for (outcome const& each : all) {
    EXPECT_TRUE(each.type == type_name<std::bad_alloc>() || each.type == type_name<aborted>()) << each.message;
    EXPECT_THAT(each.message, HasSubstr("bad_alloc"));
  }
  expect_works(ranks);
}

}  // namespace
}  // namespace coset::team_test
