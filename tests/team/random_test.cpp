// SPDX-License-Identifier: Apache-2.0
// Random collectives on random teams: any verb of any type and operation after any other, blocking, by plan, and several
// under way at once, in an order of waiting that differs from rank to rank. Every result is checked against a serial
// reference.
#include <deque>
#include <map>
#include <random>

#include "team/erased.hpp"

namespace coset::team_test {
namespace {

using engine = std::mt19937_64;

std::size_t below(engine& choices, std::size_t end) { return static_cast<std::size_t>(choices() % end); }

enum class manner : std::uint8_t { blocking, split_phase, planned };

struct random_task {
  erased_task what;
  manner how = manner::blocking;
  std::size_t plan = 0;
};

/// Mostly small; some that need several steps, some that are read in peers' arrays.
std::size_t random_length(engine& choices) {
  std::size_t const kind = below(choices, 100);
  return kind < 70   ? below(choices, 16)
         : kind < 95 ? below(choices, 600)
         : kind < 99 ? below(choices, 9000)
                     : below(choices, 90'000);
}

task random_call(engine& choices, rank_t ranks) {
  task t{.what = all_verbs()[below(choices, all_verbs().size())], .even = below(choices, 2) == 0, .seed = choices()};
  std::size_t const each = random_length(choices) / ranks;
  t.counts = even_counts(ranks, each);
  if (!t.even) {
    for (auto& count : t.counts) count = below(choices, 2 * each + 2);
  }
  t.root = static_cast<rank_t>(below(choices, ranks));
  bool const can_be_in_place =
      t.what != verb::barrier && t.what != verb::reduce_shared && t.what != verb::allreduce_view;
  t.in_place = can_be_in_place && below(choices, 2) == 0;
  return t;
}

combination const& random_combination(engine& choices) {
  auto const& all = all_combinations();
  return all[below(choices, all.size())];
}

/// A team with plans of random verbs, types, operations, lengths, algorithms and storages.
struct equipped_team {
  team ranks;
  std::vector<std::pair<erased_task, detail::plan_pair>> plans;

  equipped_team(rank_t size, engine& choices) : ranks(options_for(size)) {
    std::vector<std::string> const algorithms{
        "auto", "direct", "ring", "generalized(radix=3)", "binomial", "circulant", "recursive_doubling"};
    std::vector<std::string> const storages{"auto", "staged", "zero_copy", "output", "pull", "push", "zero_copy_push"};
    for (int attempts = 0; plans.size() < 60 && attempts < 500; ++attempts) {
      erased_task const t{random_call(choices, size), &random_combination(choices)};
      if (t.what.what == verb::allreduce_view || t.what.what == verb::barrier) continue;
      plan_options options{algorithms[below(choices, algorithms.size())],
                           storages[below(choices, storages.size())],
                           bits::per_rank,
                           t.what.root,
                           {}};
      if (!t.what.even) options.counts = t.what.counts;
      try {
        plans.emplace_back(t, detail::make_plans(ranks.state(), t.what.what, t.what.total(), t.table(), options));
      } catch (schedule_error const&) {  // not every algorithm serves every verb, nor every storage every algorithm
      }
    }
  }
};

struct under_way {
  request handle;
  erased_task const* what;
  std::unique_ptr<erased_arrays> mine;
  std::vector<std::byte>* shared;
};

/// One rank's way through a list of tasks that is the same on every rank.
class walk {
 public:
  walk(member& me, equipped_team const& on, std::vector<std::vector<std::byte>>& shared, std::uint64_t seed)
      : me_(me), on_(on), shared_(shared), choices_(seed * 1000 + me.rank()) {}

  std::string run(std::vector<random_task> const& tasks) {
    for (std::size_t k = 0; k < tasks.size() && fault_.empty(); ++k) {
      begin(tasks[k], k);
      while (below(choices_, 3) == 0 && !live_.empty()) poke(below(choices_, live_.size()));
    }
    while (!live_.empty()) finish(below(choices_, live_.size()));
    return fault_;
  }

 private:
  void begin(random_task const& next, std::size_t k) {
    erased_task const& t = next.what;
    auto mine = std::make_unique<erased_arrays>(prepared(t, me_.rank()));
    places const at = places_of(t, me_.rank(), *mine, shared_[k]);
    std::vector<std::byte> viewed;
    if (next.how == manner::planned) {
      detail::execute(me_.state(), on_.plans[next.plan].second, {at.in, at.in_count, at.out, at.out_count},
                      t.of->operation);
    } else if (t.what.what == verb::allreduce_view) {
      auto const* const view = static_cast<std::byte const*>(detail::run_view(me_.state(), call_of(t, at)));
      viewed.assign(view, view + t.what.total() * t.of->bytes);
    } else if (next.how == manner::split_phase) {
      // Operations outlive all collectives of this test.
      std::shared_ptr<void const> const operation(std::shared_ptr<void const>(), t.of->operation);
      live_.push_back({detail::start(me_.state(), call_of(t, at), operation), &t, std::move(mine), &shared_[k]});
      return;
    } else {
      detail::run(me_.state(), call_of(t, at));
    }
    note(fault(t, me_.rank(), *mine, shared_[k], viewed));
  }

  void poke(std::size_t k) {
    switch (below(choices_, 3)) {
      case 0:
        return finish(k);
      case 1:
        return void(live_[k].handle.test());
      default:
        return void(live_[k].handle.wait_for(std::chrono::microseconds(below(choices_, 50))));
    }
  }

  void finish(std::size_t k) {
    under_way done = std::move(live_[k]);
    live_.erase(live_.begin() + static_cast<std::ptrdiff_t>(k));
    done.handle.wait();
    note(fault(*done.what, me_.rank(), *done.mine, *done.shared, {}));
  }

  void note(std::string const& fault) {
    if (fault_.empty()) fault_ = fault;
  }

  member& me_;
  equipped_team const& on_;
  std::vector<std::vector<std::byte>>& shared_;
  engine choices_;
  std::deque<under_way> live_;
  std::string fault_;
};

void try_tasks(equipped_team& on, engine& choices, std::size_t number) {
  std::vector<random_task> tasks;
  std::vector<std::vector<std::byte>> shared;
  for (std::size_t k = 0; k < number; ++k) {
    random_task next{
        {random_call(choices, on.ranks.size()), &random_combination(choices)}, manner(below(choices, 3)), 0};
    if (next.how == manner::planned && on.plans.empty()) next.how = manner::blocking;
    if (next.how == manner::planned) {
      next.plan = below(choices, on.plans.size());
      std::uint64_t const seed = next.what.what.seed;
      next.what = on.plans[next.plan].first;
      next.what.what.seed = seed;
    }
    bool const shares = next.what.what.what == verb::reduce_shared;
    shared.emplace_back(shares ? next.what.what.total() * next.what.of->bytes : 0);
    tasks.push_back(std::move(next));
  }
  std::uint64_t const seed = choices();
  std::vector<std::string> faults(on.ranks.size());
  // A rank that finds a fault goes no further, and others may miss it then.
  std::string const thrown =
      outcome_of([&] {
        on.ranks.run([&](member& me) { faults[me.rank()] = walk(me, on, shared, seed).run(tasks); });
      }).message;
  for (auto const& fault : faults) ASSERT_EQ(fault, "");
  ASSERT_EQ(thrown, "");
}

TEST(RandomCollectives, OfAllTypesAndOperationsAreRight) {
  std::uint64_t const seed = test::seed();
  SCOPED_TRACE("seed " + std::to_string(seed));
  engine choices(seed);
  std::map<rank_t, std::unique_ptr<equipped_team>> teams;
  std::size_t const collectives = test::by_effort<std::size_t>(10'000, 100'000, 1'000'000), each = 100;
  for (std::size_t done = 0; done < collectives; done += each) {
    auto const size = static_cast<rank_t>(1 + below(choices, 12));
    auto& on = teams[size];
    if (!on) on = std::make_unique<equipped_team>(size, choices);
    try_tasks(*on, choices, each);
    if (::testing::Test::HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace coset::team_test
