// SPDX-License-Identifier: Apache-2.0
// All that a team keeps of its plans: bound ones by shape, and what is chosen and compiled on the way to them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "coset/detail/collective.hpp"
#include "coset/plan.hpp"
#include "planning/choice/choose.hpp"
#include "planning/plan/binding.hpp"
#include "planning/plan/shape.hpp"
#include "planning/plan/team_facts.hpp"

namespace coset::planning {

/// What is kept as long as others use it. `Map`: some map of keys to weak pointers.
template <class Map>
class while_used {
 public:
  using pointer = decltype(std::declval<typename Map::mapped_type>().lock());

  /// What this key has; `make` makes it if nobody uses it. If `make` throws, nothing is kept.
  template <class Make>
  pointer get(typename Map::key_type const& key, Make&& make) {
    if (auto const found = all_.find(key); found != all_.end()) {
      if (pointer there = found->second.lock()) return there;
    }
    pointer made = make();
    forget_the_gone();
    all_[key] = made;
    return made;
  }
  std::size_t size() const { return all_.size(); }

 private:
  /// Now and then, so that it costs a constant for each that is made.
  void forget_the_gone() {
    if (all_.size() < limit_) return;
    std::erase_if(all_, [](auto const& entry) { return entry.second.expired(); });
    limit_ = std::max(smallest_limit, 2 * all_.size());
  }

  static constexpr std::size_t smallest_limit = 64;

  Map all_;
  std::size_t limit_ = smallest_limit;
};

/// Ranks that call alike, and plan objects of one kind, share one bound plan; it goes with the last of them. So a team
/// keeps no more than its ranks' plans, plan objects and the operations under way hold. Any thread.
class plan_store {
 public:
  using pointer = std::shared_ptr<detail::bound_plan const>;

  explicit plan_store(team_facts facts) : facts_(std::move(facts)) {}

  team_facts const& facts() const noexcept { return facts_; }
  /// As the team's rules or the library choose for a call. May throw lacks_staging, and schedule_error for a rule that names
  /// a wrong file.
  pointer of_call(detail::call const&);
  /// The same, but for what the options say. Throws schedule_error if that cannot be.
  pointer of_options(detail::call const&, plan_options const&);

  /// The rules of the team's table that cannot serve an ordinary call, sums of floats of some sizes by every verb, each
  /// once for each reason: "COSET_ALLREDUCE, direct(saved_steps=1)/output: …". Compiles what the rules name.
  std::vector<std::string> refused_rules();
  /// COSET_LOG=plan: which rule was passed over, on standard error, once for each reason.
  void log_refusal(detail::bound_plan const&);
  /// The same, and what was chosen, once for each shape.
  void log(detail::bound_plan const&);
  /// Shapes kept, for tests.
  std::size_t size() const {
    std::lock_guard const lock(mutex_);
    return plans_.size();
  }

 private:
  std::unique_lock<std::mutex> locked() const;
  /// The library's choice, rules left aside, asked for once in each class of lengths.
  choice::answer default_of(detail::call const&);
  /// Binds as the first rule of the team's table says, whatever it is that refuses this: then as the library chooses. Only
  /// a file that is no plan, or a wrong one, is an error.
  /// The signature and the table decide, so that all ranks come to the same. `options` change either choice.
  pointer bind_by_rules(detail::call const&, plan_options const* options);
  /// Why the rule that applies to a call cannot serve it, or nothing.
  std::string refusal_of(detail::call const&);
  /// By the plan of another length of the same class; null where that does not serve.
  pointer bind_like_model(detail::call const&, detail::bound_plan const& model);
  /// By rules; where staging has no room, and no options name an algorithm, in parts if that can be.
  pointer bind_or_part(detail::call const&, plan_options const*);
  /// The library's choice, and beside it what ranks may take instead as calls show what they take.
  pointer bind_to_learn(detail::call const&);
  std::shared_ptr<detail::bound_plan> bind(detail::call const&, signature const&, choice::answer const&);
  /// By hash, in place or not, number of candidates: of all plans of one class.
  std::shared_ptr<detail::shape_lessons> lessons_of(signature const&, std::size_t candidates, bool are_led);
  std::string call_of(detail::bound_plan const&) const;

  static constexpr std::size_t most_models = 256;

  team_facts const facts_;
  mutable std::mutex mutex_;  ///< of all below
  while_used<std::unordered_map<shape, std::weak_ptr<detail::bound_plan const>, shape_hash>> plans_;
  std::unordered_map<shape, pointer, shape_hash> models_;  ///< of each class the plan that was bound last
  std::map<std::tuple<std::size_t, verb, bool, bool>, choice::answer> defaults_;  ///< by bytes, in place, commutative
  programs programs_;
  while_used<std::map<std::tuple<std::uint32_t, bool, std::size_t>, std::weak_ptr<detail::shape_lessons>>> lessons_;
  std::set<std::string> said_;
};

}  // namespace coset::planning
