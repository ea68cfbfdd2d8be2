// SPDX-License-Identifier: Apache-2.0
// Random collectives on random teams: any verb after any other, blocking, by plan, and several under way at once, in an
// order of waiting that differs from rank to rank. Every result is checked against a serial reference.
#include <deque>
#include <map>
#include <random>

#include "team/verbs.hpp"

namespace coset::team_test {
namespace {

using engine = std::mt19937_64;

std::size_t below(engine& choices, std::size_t end) { return static_cast<std::size_t>(choices() % end); }

enum class manner : std::uint8_t { blocking, split_phase, planned };

struct random_task {
  task what;
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

/// A team with plans of random verbs, lengths, algorithms and storages.
template <class T>
struct equipped_team {
  team ranks;
  std::vector<std::pair<task, plan<T>>> plans;

  equipped_team(rank_t size, engine& choices) : ranks(options_for(size)) {
    std::vector<std::string> const algorithms{
        "auto", "direct", "ring", "generalized(radix=3)", "binomial", "circulant", "recursive_doubling"};
    std::vector<std::string> const storages{"auto", "staged", "zero_copy", "output", "pull", "push", "zero_copy_push"};
    for (int attempts = 0; plans.size() < 24 && attempts < 500; ++attempts) {
      task t = random_call(choices, size);
      if (t.what == verb::allreduce_view || t.what == verb::barrier) continue;
      plan_options options{algorithms[below(choices, algorithms.size())],
                           storages[below(choices, storages.size())],
                           bits::per_rank,
                           t.root,
                           {}};
      if (!t.even) options.counts = t.counts;
      try {
        plans.emplace_back(t, make_plan<T>(ranks, t.what, t.total(), plus{}, options));
      } catch (schedule_error const&) {  // not every algorithm serves every verb, nor every storage every algorithm
      }
    }
  }
};

template <class T>
struct under_way {
  request handle;
  task const* what;
  std::unique_ptr<arrays<T>> mine;
  std::span<T> shared;
};

/// One rank's way through a list of tasks that is the same on every rank.
template <class T>
class walk {
 public:
  walk(member& me, equipped_team<T> const& on, std::vector<std::vector<T>>& shared, std::uint64_t seed)
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
    auto mine = std::make_unique<arrays<T>>(prepared<T>(next.what, me_.rank()));
    auto const s = spans_of<T>(next.what, me_.rank(), *mine, shared_[k]);
    std::vector<T> viewed;
    if (next.how == manner::split_phase && next.what.what != verb::allreduce_view) {
      live_.push_back({start(me_, next.what, s), &next.what, std::move(mine), shared_[k]});
      return;
    }
    if (next.how == manner::planned) {
      on_.plans[next.plan].second.execute(me_, s.in, s.out);
    } else {
      call(me_, next.what, s, viewed);
    }
    note(fault<T>(next.what, me_.rank(), *mine, shared_[k], viewed));
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
    under_way<T> done = std::move(live_[k]);
    live_.erase(live_.begin() + static_cast<std::ptrdiff_t>(k));
    done.handle.wait();
    note(fault<T>(*done.what, me_.rank(), *done.mine, done.shared, {}));
  }

  void note(std::string const& fault) {
    if (fault_.empty()) fault_ = fault;
  }

  member& me_;
  equipped_team<T> const& on_;
  std::vector<std::vector<T>>& shared_;
  engine choices_;
  std::deque<under_way<T>> live_;
  std::string fault_;
};

template <class T>
void try_tasks(equipped_team<T>& on, engine& choices, std::size_t number) {
  std::vector<random_task> tasks;
  std::vector<std::vector<T>> shared;
  for (std::size_t k = 0; k < number; ++k) {
    random_task next{random_call(choices, on.ranks.size()), manner(below(choices, 3)), 0};
    if (next.how == manner::planned && on.plans.empty()) next.how = manner::blocking;
    if (next.how == manner::planned) {
      next.plan = below(choices, on.plans.size());
      std::uint64_t const seed = next.what.seed;
      next.what = on.plans[next.plan].first;
      next.what.seed = seed;
    }
    shared.emplace_back(next.what.what == verb::reduce_shared ? next.what.total() : 0);
    tasks.push_back(std::move(next));
  }
  std::uint64_t const seed = choices();
  std::vector<std::string> faults(on.ranks.size());
  on.ranks.run([&](member& me) { faults[me.rank()] = walk<T>(me, on, shared, seed).run(tasks); });
  for (auto const& fault : faults) ASSERT_EQ(fault, "");
}

template <class T>
void try_many(std::uint64_t seed, std::size_t collectives) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  engine choices(seed);
  std::map<rank_t, std::unique_ptr<equipped_team<T>>> teams;
  constexpr std::size_t each = 100;
  for (std::size_t done = 0; done < collectives; done += each) {
    auto const size = static_cast<rank_t>(1 + below(choices, 12));
    auto& on = teams[size];
    if (!on) on = std::make_unique<equipped_team<T>>(size, choices);
    try_tasks(*on, choices, each);
    if (::testing::Test::HasFatalFailure()) return;
  }
}

std::size_t number() { return test::by_effort<std::size_t>(10'000, 100'000, 1'000'000); }

TEST(RandomCollectives, OfDoublesAreRight) { try_many<double>(test::seed(), number() / 2); }
TEST(RandomCollectives, OfIntegersAreRight) { try_many<std::int32_t>(test::seed() + 1, number() / 4); }
TEST(RandomCollectives, OfSmallIntegersAreRight) { try_many<std::int16_t>(test::seed() + 2, number() / 4); }

}  // namespace
}  // namespace coset::team_test
