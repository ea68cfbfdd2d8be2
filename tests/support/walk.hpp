// SPDX-License-Identifier: Apache-2.0
// One rank's way through a list of random collectives: any verb of any type and operation after any other, blocking, by
// plan, and several under way at once, in an order of waiting that differs from rank to rank.
#pragma once

#include <deque>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "effort.hpp"
#include "support/combinations.hpp"
#include "support/verbs.hpp"

namespace coset::team_test {

using engine = std::mt19937_64;

inline std::size_t below(engine& choices, std::size_t end) { return static_cast<std::size_t>(choices() % end); }

enum class manner : std::uint8_t { blocking, split_phase, planned };

struct random_task {
  erased_task what;
  manner how = manner::blocking;
  std::size_t plan = 0;
};

/// Mostly small; some that need several steps, some that are read in peers' arrays.
inline std::size_t random_length(engine& choices) {
  std::size_t const kind = below(choices, 100);
  return kind < 70   ? below(choices, 16)
         : kind < 95 ? below(choices, 600)
         : kind < 99 ? below(choices, 9000)
                     : below(choices, 90'000);
}

inline task random_call(engine& choices, rank_t ranks) {
  task t{.what = all_verbs()[below(choices, all_verbs().size())], .even = below(choices, 2) == 0, .seed = choices()};
  std::size_t const each = random_length(choices) / ranks;
  t.counts = even_counts(ranks, each);
  if (!t.even) {
    for (auto& count : t.counts) count = below(choices, 2 * each + 2);
  }
  t.root = static_cast<rank_t>(below(choices, ranks));
  t.in_place = can_be_in_place(t.what) && below(choices, 2) == 0;
  return possible(std::move(t));
}

inline combination const& random_combination(engine& choices) {
  auto const& all = all_combinations();
  return all[below(choices, all.size())];
}

/// Plans of a team, and what each is for.
using plan_list = std::vector<std::pair<erased_task, detail::plan_pair>>;

/// Plans of random verbs, types, operations, lengths, algorithms and storages.
inline plan_list random_plans(detail::team_state& team, rank_t size, engine& choices,
                              std::vector<std::string> const& algorithms, std::vector<std::string> const& storages,
                              bool shares) {
  plan_list plans;
  auto const wanted = test::by_effort<std::size_t>(20, 60, 60);
  for (std::size_t attempts = 0; plans.size() < wanted && attempts < 8 * wanted; ++attempts) {
    erased_task const t{random_call(choices, size), &random_combination(choices)};
    if (t.what.what == verb::allreduce_view || t.what.what == verb::barrier) continue;
    plan_options options{algorithms[below(choices, algorithms.size())],
                         storages[below(choices, storages.size())],
                         bits::per_rank,
                         t.what.root,
                         {}};
    if (!shares && t.what.what == verb::reduce_shared) continue;
    if (!t.what.even) options.counts = t.what.counts;
    try {
      plans.emplace_back(t, detail::make_plans(team, t.what.what, t.what.total(), t.table(), options));
    } catch (error const&) {  // not every algorithm serves every verb, nor every storage or memory every algorithm
    }
  }
  return plans;
}

struct under_way {
  request handle;
  erased_task const* what;
  std::unique_ptr<erased_arrays> mine;
  std::vector<std::byte>* shared;
};

/// One rank's way through a list of tasks that is the same on every rank.
class walk {
 public:
  walk(member& me, plan_list const& plans, std::vector<std::vector<std::byte>>& shared, std::uint64_t seed)
      : me_(me), plans_(plans), shared_(shared), choices_(seed * 1000 + me.rank()) {}

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
    auto mine = std::make_unique<erased_arrays>(prepared<std::byte>(t, me_.rank()));
    places const at = places_of(t, me_.rank(), *mine, shared_[k]);
    std::vector<std::byte> viewed;
    if (next.how == manner::planned) {
      detail::execute(me_.state(), plans_[next.plan].second, {at.in, at.in_count, at.out, at.out_count},
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
    note(fault_of(t, me_.rank(), *mine, shared_[k], viewed));
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
    note(fault_of(*done.what, me_.rank(), *done.mine, *done.shared, {}));
  }

  void note(std::string const& fault) {
    if (fault_.empty()) fault_ = fault;
  }

  member& me_;
  plan_list const& plans_;
  std::vector<std::vector<std::byte>>& shared_;
  engine choices_;
  std::deque<under_way> live_;
  std::string fault_;
};

/// So many random tasks, some of them by the plans. `shares`: also verbs whose ranks have an array in common.
inline std::vector<random_task> random_tasks(engine& choices, std::size_t number, rank_t size, plan_list const& plans,
                                             bool shares) {
  std::vector<random_task> tasks;
  while (tasks.size() < number) {
    random_task next{{random_call(choices, size), &random_combination(choices)}, manner(below(choices, 3)), 0};
    if (next.how == manner::planned && plans.empty()) next.how = manner::blocking;
    if (next.how == manner::planned) {
      next.plan = below(choices, plans.size());
      std::uint64_t const seed = next.what.what.seed;
      next.what = plans[next.plan].first;
      next.what.what.seed = seed;
    }
    verb const what = next.what.what.what;
    if (!shares && (what == verb::reduce_shared || what == verb::allreduce_view)) continue;
    next.what = folded(std::move(next.what));
    tasks.push_back(std::move(next));
  }
  return tasks;
}

/// The arrays of those that share one.
inline std::vector<std::vector<std::byte>> shared_arrays(std::vector<random_task> const& tasks) {
  std::vector<std::vector<std::byte>> shared;
  for (random_task const& t : tasks) {
    bool const shares = t.what.what.what == verb::reduce_shared;
    shared.emplace_back(shares ? t.what.what.total() * t.what.of->bytes : 0);
  }
  return shared;
}

}  // namespace coset::team_test
