// SPDX-License-Identifier: Apache-2.0
// Plans of the environment and of a profile that cannot serve a call: the library's own choice does, and says so once.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <random>

#include "base/environment/variables.hpp"
#include "planning/calibration/profile.hpp"
#include "planning/choice/rules/table.hpp"
#include "planning/program/program.hpp"
#include "support/plan_texts.hpp"
#include "support/verbs.hpp"
#include "team/team_state.hpp"
#include "variable.hpp"

namespace coset::team_test {
namespace {

using test::variable;
using ::testing::HasSubstr;

/// One plan for every verb.
std::vector<std::unique_ptr<variable>> for_every_verb(std::string const& plan) {
  std::vector<std::unique_ptr<variable>> all;
  for (verb const what : all_verbs())
    all.push_back(std::make_unique<variable>(environment::variable_of(what).c_str(), plan));
  return all;
}

/// The way in which a verb is called: apart, in place where there is one.
std::vector<bool> ways_of(verb what) {
  bool const one_way =
      what == verb::broadcast || what == verb::barrier || what == verb::reduce_shared || what == verb::allreduce_view;
  return one_way ? std::vector{false} : std::vector{false, true};
}

std::vector<std::size_t> pieces(rank_t ranks, std::size_t count, bool even) {
  if (even) return even_counts(ranks, count);
  std::vector<std::size_t> all(ranks, count / ranks);
  all.back() += count % ranks;
  all.front() += all.back() / 2;
  all.back() -= all.back() / 2;
  return all;
}

std::vector<task> tasks_for(rank_t ranks) {
  std::vector<task> all;
  for (std::size_t const count : {1, 44, 1000}) {
    for (verb const what : all_verbs()) {
      bool const by_pieces = what == verb::reduce_scatter || what == verb::allgather;
      for (bool const in_place : ways_of(what)) {
        auto const root = static_cast<rank_t>(all.size() % ranks);
        all.push_back({what, pieces(ranks, count, false), false, root, in_place, all.size()});
        if (by_pieces) all.push_back({what, pieces(ranks, count, true), true, 0, in_place, all.size()});
      }
    }
  }
  return all;
}

/// What is wrong with the results of all these calls, one after the other in one run; what they throw is thrown.
std::vector<std::string> faults(team& ranks, std::vector<task> const& tasks) {
  std::vector<std::vector<std::string>> found(ranks.size());
  std::vector<int> shared(1000 * ranks.size());
  ranks.run([&](member& me) {
    for (task const& wanted : tasks) {
      task const t = possible(wanted);
      auto mine = prepared<int>(t, me.rank());
      std::vector<int> viewed;
      std::span<int> const common(shared.data(), t.total());
      call<int>(me, t, spans_of(t, me.rank(), mine, common), viewed);
      if (auto const wrong = fault_of<int>(t, me.rank(), mine, common, viewed); !wrong.empty())
        found[me.rank()].push_back(wrong);
    }
  });
  std::vector<std::string> all;
  for (auto& of_rank : found) all.insert(all.end(), of_rank.begin(), of_rank.end());
  return all;
}

std::vector<std::string> storages() {
  std::vector<std::string> all{"auto"};
  for (std::string const& name : program::policy_names()) {
    for (char const* suffix : {"", "+stream", "+library", "+stream+library"}) all.push_back(name + suffix);
  }
  return all;
}

/// The registry's, those that are not defined for so many ranks too.
std::vector<std::string> algorithms(rank_t ranks) {
  auto all = plan_texts(ranks);
  all.insert(all.end(), {"auto", "product(dims=3x3)", "unequal(nodes=5+4)", "generalized(saved_steps=9)", "butterfly"});
  return all;
}

class PassedOver : public ::testing::TestWithParam<rank_t> {};

/// Red if bind() or compile() throw what only choosing was thought to: direct(saved_steps=1)/output on three ranks.
TEST_P(PassedOver, NoPlanOfTheEnvironmentMakesACorrectCallThrowOrWrong) {
  rank_t const ranks = GetParam();
  auto const tasks = tasks_for(ranks);
  std::uint64_t const stride = test::by_effort<std::uint64_t>(1009, 211, 7);
  std::mt19937_64 choices(test::seed() + ranks);
  for (std::string const& algorithm : algorithms(ranks)) {
    for (std::string const& storage : storages()) {
      if (choices() % stride != 0) continue;
      std::string const plan = algorithm + "/" + storage;
      SCOPED_TRACE(plan + " on " + std::to_string(ranks));
      auto const set = for_every_verb(plan);
      team on({.ranks = ranks, .place = placement::unbound});
      EXPECT_NO_THROW(EXPECT_THAT(faults(on, tasks), ::testing::IsEmpty()));
      if (HasFailure()) return;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, PassedOver, ::testing::Range<rank_t>(1, 9), size_name);

/// Three ranks fold whole vectors in outputs that others still read.
constexpr char const* lossy = "direct(saved_steps=1)/output";

std::size_t occurrences(std::string const& text, std::string const& word) {
  std::size_t found = 0;
  for (auto at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++found;
  return found;
}

std::string said_by_calls(std::vector<task> const& tasks) {
  variable const log("COSET_LOG", "plan");
  team on({.ranks = 3, .place = placement::unbound});
  ::testing::internal::CaptureStderr();
  auto const wrong = faults(on, tasks);
  auto said = ::testing::internal::GetCapturedStderr();
  EXPECT_THAT(wrong, ::testing::IsEmpty());
  return said;
}

TEST(Refusal, OfARuleIsLoggedOnceWithItsVariableAndReason) {
  variable const set("COSET_ALLREDUCE", lossy);
  std::vector<task> tasks;
  for (std::size_t const count : {44, 1000, 1001, 44}) tasks.push_back({verb::allreduce, pieces(3, count, false)});
  auto const said = said_by_calls(tasks);
  EXPECT_EQ(occurrences(said, "passed over"), 1u) << said;
  EXPECT_THAT(said, HasSubstr("coset: COSET_ALLREDUCE, direct(saved_steps=1)/output: "));
  EXPECT_THAT(said, HasSubstr("; passed over for allreduce of 44 int (coset::plus) on 3 ranks\n"));
}

TEST(Refusal, OfAnotherReasonIsLoggedToo) {
  variable const set("COSET_REDUCE", "ring/staged:0-100;product(dims=2x2)/staged:100-");
  variable const scans("COSET_SCAN", "ring");
  auto const said = said_by_calls({{verb::reduce, pieces(3, 1000, false)}, {verb::scan, pieces(3, 10, false)}});
  EXPECT_EQ(occurrences(said, "passed over"), 2u) << said;
  EXPECT_THAT(said, HasSubstr("COSET_REDUCE, product(dims=2x2)/staged: "));
  EXPECT_THAT(said, HasSubstr("COSET_SCAN, ring/auto: "));
}

/// Red if an exchange binds the barrier that it ends with, and nobody hears which.
TEST(Log, TellsOfABarrierThatAnExchangeHasBound) {
  variable const log("COSET_LOG", "plan"), rule("COSET_BARRIER", "ring");
  team on({.ranks = 2, .place = placement::unbound});
  ::testing::internal::CaptureStderr();
  on.run([](member& me) {
    std::vector<int> const in(2);
    std::vector<int> out(2);
    std::vector<std::size_t> const counts(2, 1);
    all_to_all(me, in, out, counts, counts);
    barrier(me);
  });
  EXPECT_THAT(::testing::internal::GetCapturedStderr(), HasSubstr("barrier on 2 ranks: ring"));
}

/// This machine's, in a file that is gone in the end.
class kept_profile {
 public:
  explicit kept_profile(calibration::profile of) : folder_(::testing::TempDir() + "coset-refused-XXXXXX") {
    if (mkdtemp(folder_.data()) == nullptr) throw std::runtime_error("no folder for a profile");
    of.fingerprint = calibration::fingerprint_of(calibration::machine_tuned_for());
    of.date = "2026-01-02T03:04:05Z";
    std::ofstream(file()) << of.text();
  }
  ~kept_profile() { std::filesystem::remove_all(folder_); }
  kept_profile(kept_profile const&) = delete;
  kept_profile& operator=(kept_profile const&) = delete;

  std::string file() const { return folder_ + "/profile.json"; }

 private:
  std::string folder_;
};

TEST(Refusal, OfAProfilesRuleNamesTheProfile) {
  calibration::profile made;
  made.rules.push_back({verb::allreduce, 3, 0, SIZE_MAX, plan_named(lossy), false});
  kept_profile const kept(made);
  variable const named("COSET_TUNING", kept.file());
  auto const said = said_by_calls({{verb::allreduce, pieces(3, 1000, false)}});
  EXPECT_EQ(occurrences(said, "passed over"), 1u) << said;
  EXPECT_THAT(said, HasSubstr("coset: tuning profile '" + kept.file() + "', direct(saved_steps=1)/output: "));
}

/// Red if teams price storages by the defaults, whatever the profile says that moving bytes costs.
TEST(Costs, OfAProfileChooseTheStoragesOfTeams) {
  auto const storage_at = [](double regained) {
    calibration::profile made;
    made.costs.regained = made.costs.regained_beyond = regained;
    kept_profile const kept(made);
    variable const named("COSET_TUNING", kept.file());
    team on({.ranks = 2, .place = placement::unbound});
    return make_plan<int>(on, 100'000).describe();
  };
  EXPECT_THAT(storage_at(1e-12), HasSubstr("zero_copy"));
  EXPECT_THAT(storage_at(1e-9), Not(HasSubstr("zero_copy")));
}

TEST(Refusal, IsNotSaidWhereNobodyAsks) {
  variable const set("COSET_ALLREDUCE", lossy);
  team on({.ranks = 3, .place = placement::unbound});
  ::testing::internal::CaptureStderr();
  EXPECT_THAT(faults(on, {{verb::allreduce, pieces(3, 1000, false)}}), ::testing::IsEmpty());
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
}

/// What the caller says of a plan himself is an order, not a wish.
TEST(Refusal, OfAnExplicitPlanIsThrownAndThatOfTheRuleBeneathItIsNot) {
  variable const set("COSET_ALLREDUCE", lossy);
  team on({.ranks = 3, .place = placement::unbound});
  EXPECT_THROW((void)make_plan<int>(on, 1000, plus{}, plan_named(lossy)), schedule_error);
  EXPECT_EQ(make_plan<int>(on, 100'000).describe().find("saved_steps"), std::string::npos);
  EXPECT_THAT(make_plan<int>(on, 1000, plus{}, plan_named("auto/staged")).describe(), HasSubstr("staged"));
}

}  // namespace
}  // namespace coset::team_test
