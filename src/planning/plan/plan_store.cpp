// SPDX-License-Identifier: Apache-2.0
#include "planning/plan/plan_store.hpp"

#include <algorithm>
#include <thread>
#include <utility>

#include "base/text/format.hpp"
#include "base/text/log.hpp"
#include "coset/operations.hpp"
#include "planning/plan/call_choice.hpp"
#include "planning/program/plan_text.hpp"
#include "planning/schedule/registry/named_file.hpp"

namespace coset::planning {

using detail::bound_plan;
using detail::call;

namespace {

/// What tells explicit plans apart: by how they run, so that processes which make them in another order, or keep them for
/// another time, agree. As many bits as go into an entry's description; 0 stands for the library's choice.
std::uint32_t number_of(choice::answer const& chosen) {
  std::uint64_t const by = detail::hash_of(schedule::identity(chosen.algorithm));
  std::uint64_t const in = detail::hash_of(program::policy_name(chosen.storage));
  return std::max(static_cast<std::uint32_t>(mixed(mixed(by, in), chosen.segment_bytes) >> 40), 1u);
}

/// What a rule names, its file read. Throws schedule_error naming rule and file if that is wrong for every call: who sets
/// a plan for others to be run by wants to know.
plan_options with_file_read(calibration::rule const& rule) try {
  plan_options how = rule.how;
  if (how.algorithm != "auto") how.algorithm = schedule::pinned(schedule::algorithm::parse(how.algorithm)).text();
  return how;
} catch (schedule_error const& why) {
  throw schedule_error(text::format("{}, {}: {}", rule.named_by, program::text_of(rule.how), why.what()));
}

/// Files may differ between processes.
bool is_of_file(choice::answer const& chosen) { return chosen.algorithm.parameters.contains("content"); }

/// Each rank has to read what every other tells in its entry line after the operation, and to have room there to tell it. The line is
/// kept until its readers enter the next operation, unless some of them tell their entry as the last thing in this one.
bool can_learn(bound_plan const& plan) {
  auto const tells_late = [](program::program const& p) {
    return std::ranges::any_of(p.readers, &program::reader::tells_when_done);
  };
  return plan.code->all_meet && plan.code->storage.staging == program::home::pieces &&
         std::ranges::none_of(plan.code->of, tells_late);
}

/// Who decides for all, where not every rank reads what all tell: the root, or who gives to all others.
rank_t leader_for(signature const& what) { return detail::is_rooted(what.what) ? what.root : 0; }

/// In every call each rank waits for the leader, or the leader for it, so that none is more than two operations ahead: see
/// runtime/learning.
bool can_follow(bound_plan const& plan, rank_t leader) {
  auto const& of = plan.code->of;
  auto const looks_at = [&](rank_t who, rank_t whose) {
    return std::ranges::any_of(of[whose].readers, [&](program::reader const& r) { return r.rank == who; });
  };
  for (rank_t r = 0; r < of.size(); ++r)
    if (r != leader && !looks_at(leader, r) && !looks_at(r, leader)) return false;
  return true;
}

}  // namespace

/// Ranks meet a new length all at once, and one of them binds it for all. To be woken takes some 25 µs, several times as long as
/// that, so the others sleep only once it has taken as long.
std::unique_lock<std::mutex> plan_store::locked() const {
  constexpr int looks = 100;  // yielding, some 0.3 µs each
  std::unique_lock lock(mutex_, std::try_to_lock);
  for (int i = 0; i < looks && !lock.owns_lock(); ++i) {
    std::this_thread::yield();
    if (lock.try_lock()) break;
  }
  if (!lock.owns_lock()) lock.lock();
  return lock;
}

plan_store::pointer plan_store::of_call(call const& c) {
  auto const lock = locked();
  return plans_.get(shape::of(c), [&] {
    bool const has_class = c.counts.empty() && facts_.spread.is_one_domain() && rule_for(facts_, c) == nullptr;
    if (!has_class) return bind_or_part(c, nullptr);
    shape of_class = shape::of(c);
    of_class.count = bytes_of_class(c);
    if (models_.size() >= most_models) models_.clear();
    auto& model = models_[of_class];
    pointer bound = model != nullptr ? bind_like_model(c, *model) : nullptr;
    if (bound == nullptr) bound = bind_or_part(c, nullptr);
    model = bound;
    return bound;
  });
}

plan_store::pointer plan_store::of_options(call const& c, plan_options const& options) {
  auto const lock = locked();
  return plans_.get(shape::of(c, options), [&] { return bind_or_part(c, &options); });
}

// Between hosts choices are for exact lengths, which networks tell apart, and cost little beside a message.
choice::answer plan_store::default_of(call const& c) {
  if (!facts_.spread.is_one_domain()) return default_for(facts_, c);
  std::tuple const of_class{bytes_of_class(c), c.what, in_place(c), c.reduction->commutative};
  if (auto const known = defaults_.find(of_class); known != defaults_.end()) return known->second;
  return defaults_[of_class] = default_for(facts_, c);
}

plan_store::pointer plan_store::bind_like_model(call const& c, bound_plan const& model) {
  std::vector<std::shared_ptr<bound_plan>> candidates{bind_like(model, facts_, c)};
  if (model.candidacy.lessons == nullptr) return candidates[0];
  for (auto const& other : model.candidacy.lessons->others) candidates.push_back(bind_like(*other, facts_, c));
  if (std::ranges::find(candidates, nullptr) != candidates.end()) return nullptr;
  make_candidates(candidates, model.candidacy.lessons->of, model.candidacy.lessons->leader);
  return candidates[0];
}

plan_store::pointer plan_store::bind_or_part(call const& c, plan_options const* options) try {
  return bind_by_rules(c, options);
} catch (lacks_staging const&) {
  bool const is_named = options != nullptr && (options->algorithm != "auto" || options->storage != "auto");
  if (is_named || !may_go_in_parts(facts_, c)) throw;
  auto plan = bind_in_parts(facts_, c);
  plan->owner = this;
  return plan;
}

std::shared_ptr<bound_plan> plan_store::bind(call const& c, signature const& what, choice::answer const& chosen) {
  auto made = bind_plan(facts_, programs_, what, c, chosen);
  made->owner = this;
  return made;
}

plan_store::pointer plan_store::bind_by_rules(call const& c, plan_options const* options) {
  signature what = signature_of(c);
  auto const bind_by = [&](choice::answer chosen) {
    if (options != nullptr) {
      chosen = changed(std::move(chosen), *options, facts_, c);
      what.plan = number_of(chosen);
    }
    return bind(c, what, chosen);
  };
  calibration::rule const* const rule = rule_for(facts_, c);
  if (rule == nullptr) return options == nullptr ? bind_to_learn(c) : bind_by(default_of(c));
  plan_options const how = with_file_read(*rule);
  std::string refused;
  try {
    auto chosen = changed(default_of(c), how, facts_, c);
    // Hosts make their parts alone: if one cannot, the others find out by the signature.
    if (options == nullptr && (!facts_.spread.is_one_domain() || is_of_file(chosen))) what.plan = number_of(chosen);
    return bind_by(std::move(chosen));
  } catch (error const& why) {
    refused = text::format("{}, {}: {}", rule->named_by, program::text_of(rule->how), why.what());
  }
  what.plan = 0;
  auto made = bind_by(default_of(c));
  auto words = *made->words;
  words.refused = std::move(refused);
  made->words = std::make_shared<detail::plan_words>(std::move(words));
  return made;
}

plan_store::pointer plan_store::bind_to_learn(call const& c) {
  signature const what = signature_of(c);
  auto const chosen = default_of(c);
  std::vector<std::shared_ptr<bound_plan>> candidates{bind(c, what, chosen)};
  if (facts_.adapts == choice::adaptation::off) return candidates[0];
  std::optional<rank_t> leader;
  if (!can_learn(*candidates[0])) leader = leader_for(what);
  auto const can_serve = [&](bound_plan const& plan) { return leader ? can_follow(plan, *leader) : can_learn(plan); };
  if (!can_serve(*candidates[0])) return candidates[0];
  auto const is_another = [&](bound_plan const& plan) {
    return std::ranges::none_of(candidates, [&](auto const& there) {
      program::policy const &a = there->code->storage, &b = plan.code->storage;
      return a.first == b.first && a.later == b.later && a.how == b.how && a.returns == b.returns &&
             there->folds == plan.folds;
    });
  };
  for (choice::answer const& other : alternatives_for(facts_, c, chosen)) {
    if (other.storage.streams && c.reduction->streaming_folds == nullptr) continue;
    try {
      if (auto made = bind(c, what, other); can_serve(*made) && is_another(*made))
        candidates.push_back(std::move(made));
    } catch (schedule_error const&) {
      continue;  // this storage would lose a value of the schedule
    }
  }
  if (candidates.size() > 1) {
    make_candidates(candidates, lessons_of(what, candidates.size(), leader.has_value()), leader);
    name_candidates(candidates);
  }
  return candidates[0];
}

std::shared_ptr<detail::shape_lessons> plan_store::lessons_of(signature const& what, std::size_t candidates,
                                                              bool are_led) {
  signature of_class = what;
  of_class.count = choice::class_end(what.count * what.reduction->element_bytes) / what.reduction->element_bytes;
  return lessons_.get({of_class.hash(), what.in_place, candidates}, [&] {
    bool const flips = facts_.adapts == choice::adaptation::flipping;
    auto pace = flips ? choice::learning_pace::flipping() : choice::learning_pace();
    if (are_led) pace.ahead = detail::decisions::ahead;
    detail::rank_lesson const fresh{choice::learner(static_cast<unsigned>(candidates), pace)};
    auto made = std::make_shared<detail::shape_lessons>();
    made->of_rank.assign(facts_.ranks, fresh);
    return made;
  });
}

std::string plan_store::call_of(bound_plan const& plan) const {
  return text::format("{} on {} ranks", plan.what.text(), facts_.ranks);
}

void plan_store::log_refusal(bound_plan const& plan) {
  if (plan.words->refused.empty() || !text::plans_are_logged()) return;
  {
    std::lock_guard const lock(mutex_);
    if (!said_.insert(plan.words->refused).second) return;
  }
  text::complain(text::format("{}; passed over for {}", plan.words->refused, call_of(plan)));
}

void plan_store::log(bound_plan const& plan) {
  log_refusal(plan);
  if (!text::plans_are_logged()) return;
  std::string line = text::format("{}: {}", call_of(plan), plan.words->choice);
  if (plan.words->seconds > 0) {
    auto const nanoseconds = static_cast<std::uint64_t>(plan.words->seconds * 1e9 + 0.5);
    line += text::format("; expected to take {} ns, see coset why", nanoseconds);
  }
  text::complain(line);
}

std::string plan_store::refusal_of(call const& c) try {
  auto const lock = locked();
  return bind_by_rules(c, nullptr)->words->refused;
} catch (schedule_error const& wrong_file) {
  return wrong_file.what();
}

std::vector<std::string> plan_store::refused_rules() {
  std::vector<std::string> refused;
  std::byte same_array;  // stands for a caller's that is input and output
  for (std::size_t const each : {std::size_t{1}, std::size_t{64}, std::size_t{4096}, std::size_t{1} << 20}) {
    for (verb const what : all_verbs()) {
      call c{.what = what,
             .count = detail::is_barrier(what)     ? 0
                      : detail::is_of_pieces(what) ? each * facts_.ranks
                                                   : each,
             .reduction = detail::only_moves(what) ? &detail::copy_of<float>() : &detail::table_of<float, plus>()};
      for (bool const same : {false, true}) {
        if (same) c.in = c.out = &same_array;
        if (same && detail::shares_result(what)) continue;  // are never in place
        if (rule_for(facts_, c) == nullptr) continue;
        auto const why = refusal_of(c);
        if (!why.empty() && std::ranges::find(refused, why) == refused.end()) refused.push_back(why);
      }
    }
  }
  return refused;
}

}  // namespace coset::planning
