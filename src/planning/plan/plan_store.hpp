// SPDX-License-Identifier: Apache-2.0
// The plans of a team: from a request to a bound plan.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "coset/detail/collective.hpp"
#include "coset/plan.hpp"
#include "planning/choice/choose.hpp"
#include "planning/plan/compiled_table.hpp"
#include "planning/plan/plan_table.hpp"
#include "planning/plan/team_facts.hpp"
#include "planning/plan/wanted.hpp"

namespace coset::planning {

/// Ranks that ask alike get the same plan. Any thread.
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
  /// Plans and keys kept, for tests.
  std::size_t size() const { return plans_.size(); }

 private:
  /// Binds as the first rule of the team's table says, whatever it is that refuses this: then as the library chooses. Only
  /// a file that is no plan, or a wrong one, is an error.
  /// The signature and the table decide, so that all ranks come to the same. `options` change either choice.
  pointer bind_by_rules(detail::call const&, plan_options const* options);
  /// Why the rule that applies to a call cannot serve it, or nothing.
  std::string refusal_of(detail::call const&);
  /// By the plan of another length of the same class; null where that does not serve.
  pointer bind_like_model(detail::call const&, detail::bound_plan const& model);
  /// The same; where staging has no room, and no options name an algorithm, in parts if that can be.
  pointer bind_or_part(detail::call const&, plan_options const*);
  /// The library's choice, and beside it what ranks may take instead as calls show what they take.
  pointer bind_to_learn(detail::call const&, signature const&);
  std::shared_ptr<detail::bound_plan> bind(detail::call const&, signature const&, choice::answer const&);
  /// By hash, in place or not, number of candidates: of all plans of one class. Under the lock of plans_.
  std::shared_ptr<std::vector<detail::rank_lesson>> lessons_of(signature const&, std::size_t candidates);
  std::string call_of(detail::bound_plan const&) const;

  static constexpr std::size_t most_models = 256;

  team_facts const facts_;
  compiled_table programs_;
  default_table defaults_;
  plan_table plans_;
  std::unordered_map<plan_key, pointer, plan_key_hash>
      models_;  ///< of each class the plan that was bound last; likewise
  weak_map<std::tuple<std::uint32_t, bool, std::size_t>, std::vector<detail::rank_lesson>> lessons_;
};

}  // namespace coset::planning
