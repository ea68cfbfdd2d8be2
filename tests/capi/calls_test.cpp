// SPDX-License-Identifier: Apache-2.0
// Every verb's functions in C, by the names and with the arguments that its row makes of them, against the oracle.
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "bindings/c/handles.hpp"
#include "support/verbs.hpp"

namespace coset::team_test {
namespace {

enum class manner { blocking, started, planned, plan_started };

using any_function = void (*)();

std::map<std::string, any_function> const functions{
#define DECLARED(name) {#name, reinterpret_cast<any_function>(name)},
#include "declared.inc"
#undef DECLARED
};

template <class... Given>
coset_status call_named(std::string const& name, Given... given) {
  auto const found = functions.find(name);
  if (found == functions.end()) throw std::runtime_error("there is no " + name);
  return reinterpret_cast<coset_status (*)(Given...)>(found->second)(given...);
}

/// What one rank passes to C.
struct passed {
  coset_member* me;
  void const* in;
  void* out;
  void const** view;
};

/// `length` is that of the whole, of a piece, or all pieces' lengths; `more` is where the request goes, if there is one.
template <class Length, class... More>
coset_status call_with(std::string const& name, task const& t, passed const& p, Length length, More... more) {
  constexpr coset_type type = COSET_INT32;
  constexpr coset_operation op = COSET_PLUS;
  if (detail::is_barrier(t.what)) return call_named(name, p.me, more...);
  if (detail::spreads_whole(t.what)) return call_named(name, p.me, p.out, length, type, t.root, more...);
  if (p.view != nullptr) return call_named(name, p.me, p.in, length, type, op, p.view, more...);
  bool const rooted = detail::is_rooted(t.what);
  if (detail::only_moves(t.what))
    return rooted ? call_named(name, p.me, p.in, p.out, length, type, t.root, more...)
                  : call_named(name, p.me, p.in, p.out, length, type, more...);
  return rooted ? call_named(name, p.me, p.in, p.out, length, type, op, t.root, more...)
                : call_named(name, p.me, p.in, p.out, length, type, op, more...);
}

template <class... More>
coset_status call_by_row(std::string const& name, task const& t, passed const& p, More... more) {
  if (!detail::is_of_pieces(t.what)) return call_with<std::size_t>(name, t, p, t.total(), more...);
  if (t.even) return call_with<std::size_t>(name, t, p, t.counts[0], more...);
  return call_with<std::size_t const*>(name + "_counts", t, p, t.counts.data(), more...);
}

struct freed {
  void operator()(coset_team* of) const { coset_team_free(of); }
  void operator()(coset_plan* of) const { coset_plan_free(of); }
};
using c_team = std::unique_ptr<coset_team, freed>;
using c_plan = std::unique_ptr<coset_plan, freed>;

void require(coset_status status) {
  if (status != COSET_SUCCESS) throw std::runtime_error(coset_error_message());
}

c_team team_of(rank_t ranks) {
  coset_team_options options = COSET_TEAM_OPTIONS;
  options.ranks = ranks;
  options.placement = COSET_UNBOUND;
  coset_team* made = nullptr;
  require(coset_team_create(&options, &made));
  return c_team(made);
}

c_plan plan_of(coset_team* of, task const& t) {
  coset_plan_options options = COSET_PLAN_OPTIONS;
  options.root = t.root;
  if (!t.even) options.counts = t.counts.data();
  coset_plan* made = nullptr;
  require(coset_plan_create(of, static_cast<coset_verb>(t.what), t.total(), COSET_INT32, COSET_PLUS, &options, &made));
  EXPECT_EQ(coset_plan_count(made), t.total());
  EXPECT_STRNE(coset_plan_describe(made), "");
  return c_plan(made);
}

coset_status call_in_c(manner how, task const& t, passed const& p, coset_plan const* plan) {
  std::string const name(name_of(t.what));
  coset_request under_way;
  coset_status status = COSET_SUCCESS;
  switch (how) {
    case manner::blocking:
      return call_by_row("coset_" + name, t, p);
    case manner::planned:
      return coset_plan_execute(plan, p.me, p.in, p.out);
    case manner::started:
      status = call_by_row("coset_start_" + name, t, p, &under_way);
      break;
    case manner::plan_started:
      status = coset_plan_start(plan, p.me, p.in, p.out, &under_way);
  }
  return status != COSET_SUCCESS ? status : coset_request_wait(&under_way);
}

/// In place C has two words for one call: the same array twice, or one that says so.
passed passed_by(coset_member* me, task const& t, rank_t r, arrays<int>& mine, spans<int> s, bool says_so) {
  if (says_so && in_one_array(t, r)) return {me, COSET_IN_PLACE, mine.in.data(), nullptr};
  auto const at = [](std::span<int> array) { return array.empty() ? nullptr : array.data(); };
  return {me, at(s.in), at(t.what == verb::broadcast ? s.in : s.out), nullptr};
}

void check(coset_team* ranks, task const& t, manner how, bool says_so) {
  SCOPED_TRACE(t.text() + ", manner " + std::to_string(static_cast<int>(how)) + (says_so ? ", COSET_IN_PLACE" : ""));
  c_plan plan;
  if (how == manner::planned || how == manner::plan_started) plan = plan_of(ranks, t);
  std::vector<int> shared(t.total());
  std::vector<std::string> faults(t.ranks());
  ranks->of->run([&](member& me) {
    coset_member in_c{&me, coset_member::origin::run};
    for (int again = 0; again < 3 && faults[me.rank()].empty(); ++again) {
      auto mine = prepared<int>(t, me.rank());
      passed p = passed_by(&in_c, t, me.rank(), mine, spans_of<int>(t, me.rank(), mine, shared), says_so);
      void const* view = nullptr;
      if (t.what == verb::allreduce_view) p.view = &view;
      if (call_in_c(how, t, p, plan.get()) != COSET_SUCCESS) {
        faults[me.rank()] = coset_error_message();
        return;
      }
      std::vector<int> viewed;
      if (view != nullptr) viewed.assign(static_cast<int const*>(view), static_cast<int const*>(view) + t.total());
      faults[me.rank()] = fault_of<int>(t, me.rank(), mine, shared, viewed);
      barrier(me);  // what ranks share is looked at, and written again
    }
  });
  EXPECT_EQ(faults, std::vector<std::string>(t.ranks()));
}

class CallsInC : public ::testing::TestWithParam<rank_t> {};

TEST_P(CallsInC, AreWhatTheOracleSays) {
  rank_t const size = GetParam();
  c_team const ranks = team_of(size);
  for (verb const what : all_verbs()) {
    for (std::size_t const length : {0, 1, 60, 61}) {  // 61: pieces that differ, and the first is empty
      bool const even = length != 61;
      if (!even && (!detail::is_of_pieces(what) || what == verb::all_to_all)) continue;
      task t{.what = what, .counts = even_counts(size, length), .even = even, .root = size / 2, .seed = 7};
      for (rank_t r = 0; r < size && !even; ++r) t.counts[r] = length * r;
      for (manner const how : {manner::blocking, manner::started, manner::planned, manner::plan_started}) {
        if (how != manner::blocking && what == verb::allreduce_view) continue;
        t.in_place = false;
        check(ranks.get(), t, how, false);
        if (!can_be_in_place(what) || what == verb::broadcast) continue;
        t.in_place = true;
        for (bool const says_so : {false, true}) check(ranks.get(), t, how, says_so);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, CallsInC, ::testing::Values(1, 2, 3, 5), size_name);

/// Verbs are numbers in C: exports_test.py compares them with those of C++.
TEST(PlansInC, AreOfTheVerbsThatThereAre) {
  c_team const ranks = team_of(1);
  std::size_t const number = all_verbs().size();
  coset_plan* made = nullptr;
  EXPECT_EQ(coset_plan_create(ranks.get(), static_cast<coset_verb>(number), 6, COSET_INT32, COSET_PLUS, nullptr, &made),
            COSET_ARGUMENT_ERROR);
  EXPECT_NE(std::string(coset_error_message()).find("no verb " + std::to_string(number)), std::string::npos);
}

}  // namespace
}  // namespace coset::team_test
