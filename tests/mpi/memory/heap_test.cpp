// SPDX-License-Identifier: Apache-2.0
// One process has no memory while a team over processes is made, or in its first run: at each allocation in turn, until the team
// is made without reaching it. All processes hear of it, and the next team works.
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <tuple>

#include "coset/reducers/joint_reducer.hpp"
#include "coset/reducers/sparse_reducer.hpp"
#include "mpi/memory/shortage.hpp"
#include "mpi/processes.hpp"
#include "support/counted_new.hpp"

namespace coset::mpi_test {
namespace {

using test::shortage;

enum class kind { fresh, again, other_survey, one_leader, by_messages, lent };

char const* name_of(kind what) {
  constexpr char const* names[]{"fresh", "again", "other_survey", "one_leader", "by_messages", "lent"};
  return names[static_cast<int>(what)];
}

/// In which the calling thread's allocation `after` fails. It ends before what is thrown is looked at.
class short_of_memory {
 public:
  short_of_memory(bool here, std::size_t after, shortage how_long, bool& reached) : here_(here), reached_(reached) {
    if (here_) test::fail_allocation(after, how_long);
  }
  ~short_of_memory() { reached_ = here_ && test::allocation_failed(); }
  short_of_memory(short_of_memory const&) = delete;
  short_of_memory& operator=(short_of_memory const&) = delete;

 private:
  bool const here_;
  bool& reached_;
};

bool anywhere(bool here) {
  int const mine = here ? 1 : 0;
  int any = 0;
  MPI_Allreduce(&mine, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  return any != 0;
}

/// What is wrong with how this process ended where process `at` had no memory; every process ends well or none does.
std::string fault_of(outcome const& mine, int at) {
  bool const failed = !mine.type.empty();
  bool const any_failed = anywhere(failed);
  if (!failed) return any_failed ? "another one threw, but this one did not" : "";
  if (mine.type == type_name<out_of_memory>()) return "";
  if (process() == at) return "threw " + mine.type + ": " + mine.message;
  bool const names_it = mine.message.find("process " + std::to_string(at) + " ") != std::string::npos;
  return names_it && mine.type == type_name<mpi::error>() ? "" : "threw " + mine.type + ": " + mine.message;
}

std::string fault_of_sum(member& me) {
  std::array<int, 500> sums;
  sums.fill(static_cast<int>(me.rank()) + 1);
  allreduce(me, sums);
  int const expected = static_cast<int>(me.size() * (me.size() + 1) / 2);
  return sums == std::array<int, 500>{} || sums[0] != expected || sums[499] != expected ? "a sum is wrong" : "";
}

/// Of one thread that joins and leaves, where the team is of that kind.
std::string fault_of_use(mpi::team& all, bool is_lent) {
  std::string fault;
  auto const thrown = outcome_of([&] {
    if (is_lent) {
      member_guard me = all.join(0);
      fault = fault_of_sum(*me);
    } else {
      all.run([&](member& me) {
        std::string const mine = fault_of_sum(me);
        if (me.rank() == all.first()) fault = mine;
      });
    }
  });
  return thrown.type.empty() ? fault : "the next team threw " + thrown.message;
}

std::unique_ptr<coset::team> threads_for(kind what) {
  if (what == kind::lent) return coset::team::adopt(1);
  return std::make_unique<coset::team>(team_options{.ranks = 2, .place = placement::unbound});
}

mpi::options options_for(kind what) {
  mpi::options wanted = usual_options();
  if (what == kind::one_leader) wanted.leaders = 1;
  if (what == kind::by_messages) wanted.staging_bytes = 0;
  return wanted;
}

/// Under small effort one allocation of three, another one of each kind at each process.
std::size_t step() { return test::by_effort<std::size_t>(3, 1, 1); }
std::size_t first_for(kind what, int at) { return static_cast<std::size_t>(static_cast<int>(what) + at) % step(); }

class ShortOfMemory : public ::testing::TestWithParam<std::tuple<kind, int, shortage>> {};
class ShortOfMemoryInARun : public ShortOfMemory {};

TEST_P(ShortOfMemory, WhileATeamIsMadeIsAnErrorOfAll) {
  kind const what = std::get<kind>(GetParam());
  int const at = std::get<int>(GetParam());
  shortage const how_long = std::get<shortage>(GetParam());
  std::optional<fresh_world> world;
  mpi::options const options = options_for(what);
  std::string fault;
  std::size_t failures = 0;
  bool reached = true;
  for (std::size_t k = first_for(what, at); reached && fault.empty(); k += step()) {
    if (!world || what != kind::again) world.emplace();
    auto const threads = threads_for(what);
    if (what == kind::again || what == kind::other_survey) {
      coset::team others({.ranks = what == kind::again ? 2u : 1u, .place = placement::unbound});
      mpi::team(world->get(), others, options);
    }
    bool here = false;
    std::optional<mpi::team> all;
    auto const thrown = outcome_of([&] {
      short_of_memory const now(process() == at, k, how_long, here);
      all.emplace(world->get(), *threads, options);
    });
    reached = anywhere(here);
    failures += anywhere(!thrown.type.empty()) ? 1 : 0;
    fault = fault_of(thrown, at);
    if (anywhere(!fault.empty())) break;
    if (!all) all.emplace(world->get(), *threads, options);
    fault = fault_of_use(*all, what == kind::lent);
    all.reset();
    if (!fault.empty()) fault += " after allocation " + std::to_string(k);
    if (anywhere(!fault.empty())) break;
  }
  EXPECT_EQ(said_anywhere(fault), "");
  EXPECT_GT(failures, 3u / step());
}

TEST_P(ShortOfMemoryInARun, IsAnErrorOfAll) {
  kind const what = std::get<kind>(GetParam());
  int const at = std::get<int>(GetParam());
  shortage const how_long = std::get<shortage>(GetParam());
  mpi::options const options = options_for(what);
  std::string fault;
  bool reached = true;
  for (std::size_t k = first_for(what, at); reached && fault.empty(); k += step()) {
    auto const threads = threads_for(what);
    std::optional<mpi::team> all(std::in_place, MPI_COMM_WORLD, *threads, options);
    bool here = false;
    auto const thrown = outcome_of([&] {
      short_of_memory const now(process() == at, k, how_long, here);
      all->run([](member& me) {
        std::array<int, 500> sums{};
        allreduce(me, sums);
      });
    });
    reached = anywhere(here);
    fault = fault_of(thrown, at);
    all.reset();
    if (anywhere(!fault.empty())) break;
    all.emplace(MPI_COMM_WORLD, *threads, options);
    fault = fault_of_use(*all, false);
    if (!fault.empty()) fault += " after allocation " + std::to_string(k);
    if (anywhere(!fault.empty())) break;
  }
  EXPECT_EQ(said_anywhere(fault), "");
}

enum class reduction { assigned, added, to_one, by_parts, joint, sparse, kept, started };

constexpr char const* names_of_reductions[]{"assigned", "added",  "to_one", "by_parts",
                                            "joint",    "sparse", "kept",   "started"};

/// A process's copies and targets.
struct reducing {
  std::vector<double> a = std::vector<double>(4'000), b = std::vector<double>(300);
  reducer<double> sum{a.size()};
  joint_reducer<double, double> sums{a, b};
  sparse_reducer<double> sparse{a.size(), {.by = way::private_copies}}, kept{a.size(), {.by = way::partition}};
  std::vector<std::size_t> const parts{a.size() - 7, 7};

  void combine(reduction what, member& me) {
    using enum combining;
    switch (what) {
      case reduction::assigned:
        return sum.local(me)[3] += 1, sum.combine_into(a, me, assign);
      case reduction::added:
        return sum.local()[3] += 1, sum.combine_into(a, me, add);
      case reduction::to_one:
        return sum.local(me)[3] += 1, sum.combine_into(a, me, add, destination::one_process(1));
      case reduction::by_parts:
        return sum.local(me)[3] += 1, sum.combine_into(a, me, add, destination::parts(parts));
      case reduction::joint:
        return std::get<1>(sums.local(me))[3] += 1, sums.combine(me);
      case reduction::sparse:
        return sparse.local(me)[3] += 1, sparse.combine_into(a, me);
      case reduction::kept:
        return kept.local()[3] += 1, kept.combine_into(a, me);
      case reduction::started:
        return sum.local(me)[3] += 1, sum.start_combine_into(a, me).wait();
    }
  }
};

class ShortOfMemoryInACombination : public ::testing::TestWithParam<std::tuple<reduction, int, shortage>> {};

/// Of what each combination allocates; plans are there, and so is the team, which goes on working.
TEST_P(ShortOfMemoryInACombination, IsAnErrorOfAll) {
  reduction const what = std::get<reduction>(GetParam());
  int const at = std::get<int>(GetParam());
  shortage const how_long = std::get<shortage>(GetParam());
  coset::team threads({.ranks = 2, .place = placement::unbound});
  mpi::team all(MPI_COMM_WORLD, threads, usual_options());
  reducing first;
  all.run([&](member& me) { first.combine(what, me); });
  std::string fault;
  bool reached = true;
  std::size_t failures = 0;
  for (std::size_t k = 0; reached && fault.empty(); ++k) {
    reducing mine;
    bool here = false;
    auto const thrown = outcome_of([&] {
      all.run([&](member& me) {
        bool const is_short = process() == at && me.rank() == all.first();
        bool reached_by_me = false;
        auto const ended = outcome_of([&] {
          short_of_memory const now(is_short, k, how_long, reached_by_me);
          mine.combine(what, me);
        });
        if (is_short) here = reached_by_me;
        if (!ended.type.empty()) throw std::runtime_error(ended.message);
      });
    });
    reached = anywhere(here);
    bool const failed = !thrown.type.empty();
    failures += failed ? 1 : 0;
    if (anywhere(failed) != failed) fault = "another one threw, but this one did not";
    std::string const after = fault_of_use(all, false);
    if (!after.empty()) fault = after;
    if (!fault.empty()) fault += " after allocation " + std::to_string(k);
    if (anywhere(!fault.empty())) break;
  }
  EXPECT_EQ(said_anywhere(fault), "");
  EXPECT_GT(failures, 0u);
}

INSTANTIATE_TEST_SUITE_P(Combination, ShortOfMemoryInACombination,
                         ::testing::Combine(::testing::Values(reduction::assigned, reduction::added, reduction::to_one,
                                                              reduction::by_parts, reduction::joint, reduction::sparse,
                                                              reduction::kept, reduction::started),
                                            ::testing::Values(0, 1), ::testing::Values(shortage::passing)),
                         [](auto const& each) {
                           return std::string(names_of_reductions[static_cast<int>(std::get<0>(each.param))]) + "_at_" +
                                  std::to_string(std::get<1>(each.param)) +
                                  (std::get<2>(each.param) == shortage::lasting ? "_lasting" : "_passing");
                         });

std::string describe(::testing::TestParamInfo<ShortOfMemory::ParamType> const& of) {
  auto const& [what, at, how_long] = of.param;
  return std::string(name_of(what)) + "_at_" + std::to_string(at) +
         (how_long == shortage::lasting ? "_lasting" : "_passing");
}

using ::testing::Combine;
using ::testing::Values;

INSTANTIATE_TEST_SUITE_P(First, ShortOfMemory,
                         Combine(Values(kind::fresh), Values(0, 1), Values(shortage::passing, shortage::lasting)),
                         describe);
INSTANTIATE_TEST_SUITE_P(Later, ShortOfMemory,
                         Combine(Values(kind::again, kind::other_survey), Values(0, 1), Values(shortage::lasting)),
                         describe);
INSTANTIATE_TEST_SUITE_P(Other, ShortOfMemory,
                         Combine(Values(kind::one_leader, kind::by_messages, kind::lent), Values(1),
                                 Values(shortage::passing)),
                         describe);
INSTANTIATE_TEST_SUITE_P(Run, ShortOfMemoryInARun,
                         Combine(Values(kind::again, kind::by_messages), Values(0, 1),
                                 Values(shortage::passing, shortage::lasting)),
                         describe);

}  // namespace
}  // namespace coset::mpi_test
