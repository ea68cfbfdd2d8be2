// SPDX-License-Identifier: Apache-2.0
#include "team/plans.hpp"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <numeric>
#include <utility>

#include "numa/memory.hpp"
#include "schedule/registry/algorithm.hpp"
#include "team/wanted.hpp"
#include "text/format.hpp"
#include "tuning/choice/plan_text.hpp"
#include "tuning/choice/settings.hpp"

namespace coset::team_room {
namespace {

using detail::bound_plan;
using detail::call;
using detail::extent;
using detail::team_state;

sharing sharing_of(signature const& s) {
  if (s.what == verb::reduce_shared) return sharing::the_teams;
  bool const viewed =
      s.what == verb::allreduce_view && s.count * s.reduction->element_bytes > tuning::private_view_bytes;
  return viewed ? sharing::the_nodes : sharing::nobodys;
}

/// Small payloads travel in the entry lines themselves: one transfer brings tag and data.
program::home home_of(program::compiled const& code, std::size_t bytes) {
  bool const fits = code.layers * bytes <= second_line_bytes;
  if (code.layers == 0 || !fits) return program::home::pieces;
  return code.layers * bytes <= entry_payload_bytes ? program::home::entry_line : program::home::second_line;
}

/// Boundaries of the ranks' pieces, in elements.
std::vector<std::size_t> boundaries(call const& c, rank_t ranks) {
  std::vector<std::size_t> at{0};
  for (rank_t r = 0; r < ranks; ++r) at.push_back(at.back() + (c.counts.empty() ? c.count / ranks : c.counts[r]));
  return at;
}

/// What each rank's caller gives or gets of the whole vector.
void set_extents(bound_plan& plan, std::vector<std::size_t> const& pieces, rank_t ranks) {
  verb const what = plan.what.what;
  for (rank_t r = 0; r < ranks; ++r) {
    extent const whole{0, plan.bytes}, none{0, 0};
    extent const piece = by_pieces(what) ? extent{pieces[r] * plan.what.reduction->element_bytes,
                                                  pieces[r + 1] * plan.what.reduction->element_bytes}
                                         : whole;
    bool const root = r == plan.what.root;
    plan.gives.push_back(what == verb::allgather ? piece : what == verb::broadcast && !root ? none : whole);
    plan.gets.push_back(what == verb::reduce_scatter ? piece
                        : (what == verb::reduce && !root) || (what == verb::broadcast && root) ||
                                (what == verb::exclusive_scan && r == 0)
                            ? none
                            : whole);
  }
}

program::item_bytes items_of(signature const& what) {
  return {what.reduction->element_bytes, what.reduction->partial_bytes};
}

/// Segments of equal length, whole cache lines, none longer than wanted and than the arena has room for.
void cut_into_segments(bound_plan& plan, team_state const& team, std::vector<std::size_t> const& pieces,
                       std::size_t wanted_bytes) {
  std::size_t const element_bytes = plan.what.reduction->element_bytes, count = plan.what.count;
  program::item_bytes const items = items_of(plan.what);
  auto const bound = [&](std::size_t elements) { return program::bind(*plan.code, elements, items); };
  bool const whole = by_pieces(plan.what.what);
  plan.segment_count = count;
  plan.layout = plan.last_layout = whole ? program::bind(*plan.code, pieces, items) : bound(count);
  std::size_t const room = team.largest_staging(), needed = plan.layout.staging_bytes;
  if (whole && needed > room) {
    throw lacks_staging(text::format("{} needs {} bytes of staging; the team's memory has {} and cannot grow",
                                     plan.what.text(), needed, room));
  }
  std::size_t const longest_staged = needed > room ? room / plan.code->layers / items.staged(*plan.code) : SIZE_MAX;
  std::size_t const most =
      std::min(wanted_bytes != 0 ? wanted_bytes : SIZE_MAX, needed > room ? longest_staged * element_bytes : SIZE_MAX);
  if (whole || plan.bytes <= most) return;
  std::size_t const quantum = std::lcm(line_bytes, element_bytes) / element_bytes;
  std::size_t const longest = std::max<std::size_t>(most / element_bytes / quantum, 1) * quantum;
  std::size_t const even = (count - 1) / ((count - 1) / longest + 1) + 1;
  plan.segment_count = std::min((even + quantum - 1) / quantum * quantum, longest);
  plan.segments = (count - 1) / plan.segment_count + 1;
  plan.layout = bound(plan.segment_count);
  plan.last_layout = bound(count - (plan.segments - 1) * plan.segment_count);
}

std::shared_ptr<program::compiled const> compile(team_state& team, signature const& what,
                                                 tuning::choice const& chosen) {
  compiled_table::key key{chosen.algorithm, schedule_of(what.what), what.root, chosen.storage, sharing_of(what)};
  auto code = team.programs.get(team, key);
  auto& storage = std::get<program::policy>(key);
  storage.staging = home_of(*code, what.count * items_of(what).staged(*code));
  return storage.staging == program::home::pieces ? code : team.programs.get(team, key);
}

/// What tells explicit plans apart: by how they run, so that processes which make them in another order, or keep them for
/// another time, agree. As many bits as go into an entry's description; 0 stands for the library's choice.
std::uint32_t number_of(tuning::choice const& chosen) {
  std::uint64_t const hash = detail::hash_of(
      text::format("{}/{}/{}", chosen.algorithm, program::policy_name(chosen.storage), chosen.segment_bytes));
  return std::max(static_cast<std::uint32_t>(hash >> 40), 1u);
}

std::shared_ptr<bound_plan> bind_plan(team_state& team, signature const& what, call const& c, tuning::choice chosen) {
  auto plan = std::make_shared<bound_plan>();
  plan->what = what;
  plan->hash = what.hash();
  static std::atomic<std::uint64_t> latest_id = 0;
  plan->id = ++latest_id;
  plan->bytes = what.count * what.reduction->element_bytes;
  plan->shares_outputs = what.what == verb::reduce_shared && what.count > 0;
  plan->owner = &team;
  plan->counts.assign(c.counts.begin(), c.counts.end());
  chosen.storage.widens = what.reduction->mixed != nullptr;
  plan->own_copied_first = what.what == verb::allgather || (team.size() == 1 && in_place_always(what.what));
  try {
    plan->code = compile(team, what, chosen);
  } catch (schedule_error const&) {
    // Arrays that peers reach lose a value in place under some schedules; staging does not.
    if (!chosen.storage.in_place || chosen.storage.first == program::area::staging) throw;
    chosen.storage.first = chosen.storage.later = program::area::staging;
    plan->code = compile(team, what, chosen);
  }
  bool const streams = chosen.storage.streams && what.reduction->streaming_folds != nullptr;
  plan->folds = streams ? what.reduction->streaming_folds : what.reduction->folds;
  auto const pieces = boundaries(c, team.size());
  set_extents(*plan, pieces, team.size());
  cut_into_segments(*plan, team, pieces, chosen.segment_bytes);
  plan->choice = text::format("{}, {}{}", chosen.algorithm, program::policy_name(chosen.storage),
                              plan->segments > 1 ? text::format(", {} segments", plan->segments) : "");
  return plan;
}

/// Binds as the first rule of the team's table says, whatever it is that refuses this: then as the library chooses. The
/// signature and the table decide, so that all ranks come to the same. `options` change either choice.
std::shared_ptr<bound_plan const> bind_by_rules(team_state& team, call const& c, plan_options const* options) {
  signature what{c.what, c.reduction, c.count, c.root, in_place(c), 0, counts_hash(c.counts)};
  auto const bind_by = [&](tuning::choice chosen) {
    if (options != nullptr) {
      chosen = changed(std::move(chosen), *options, team, c);
      what.plan = number_of(chosen);
    }
    return bind_plan(team, what, c, std::move(chosen));
  };
  tuning::rule const* const rule = rule_for(team, c);
  if (rule == nullptr) return bind_by(default_for(team, c));
  std::string refused;
  try {
    return bind_by(changed(default_for(team, c), rule->how, team, c));
  } catch (error const& why) {
    refused = text::format("{}, {}: {}", rule->named_by, tuning::text_of(rule->how), why.what());
  }
  auto made = bind_by(default_for(team, c));
  made->refused = std::move(refused);
  return made;
}

std::string call_of(team_state const& team, bound_plan const& plan) {
  return text::format("{} on {} ranks", plan.what.text(), team.size());
}

/// COSET_LOG=plan: which rule was passed over, on standard error, once for each reason.
void log_refusal(team_state& team, bound_plan const& plan) {
  if (plan.refused.empty() || !tuning::plans_are_logged() || !team.plans.is_new(plan.refused)) return;
  text::complain(text::format("{}; passed over for {}", plan.refused, call_of(team, plan)));
}

/// The same, and what was chosen, once for each shape.
void log(team_state& team, bound_plan const& plan) {
  log_refusal(team, plan);
  if (tuning::plans_are_logged()) text::complain(text::format("{}: {}", call_of(team, plan), plan.choice));
}

}  // namespace

std::shared_ptr<program::compiled const> compiled_table::get(team_state const& team, key const& wanted) {
  std::lock_guard const lock(making_);
  if (auto const found = made_.find(wanted); found != made_.end()) return found->second;
  auto const& [algorithm, verb, root, storage, shared] = wanted;
  auto const plan = schedule::make(schedule::algorithm::parse(algorithm), team.size(), verb, root);
  auto made = std::make_shared<program::compiled const>(
      program::compile(plan, storage, team.outputs(shared), team.part.spread));
  made_.emplace(wanted, made);
  // What a compiler takes for a while grows faster than what it leaves, and malloc would keep it in this thread's arena.
  constexpr rank_t many_ranks = 128;
  if (team.size() >= many_ranks) numa::return_freed_pages();
  return made;
}

std::vector<std::string> refused_rules(team_state& team) {
  std::vector<std::string> refused;
  std::byte one_array;  // stands for a caller's that is input and output
  for (std::size_t const each : {std::size_t{1}, std::size_t{64}, std::size_t{4096}, std::size_t{1} << 20}) {
    for (verb const what : all_verbs()) {
      bool const combines = what != verb::allgather && what != verb::broadcast && what != verb::barrier;
      call c{.what = what,
             .count = what == verb::barrier ? 0
                      : by_pieces(what)     ? each * team.size()
                                            : each,
             .reduction = combines ? &detail::table_of<float, plus>() : &detail::copy_of<float>()};
      for (bool const same : {false, true}) {
        if (same) c.in = c.out = &one_array;
        if (same && what == verb::reduce_shared) continue;
        if (rule_for(team, c) == nullptr) continue;
        auto const made = bind_by_rules(team, c, nullptr);
        if (!made->refused.empty() && std::ranges::find(refused, made->refused) == refused.end())
          refused.push_back(made->refused);
      }
    }
  }
  return refused;
}

bound_plan const& bind_anew(detail::rank_state& me, call const& c, plan_key const& key) {
  if (me.plans.all.size() >= plan_cache::most && me.live == 0) {  // operations under way need theirs
    me.plans.all.clear();
    me.plans.front = {};
  }
  auto& bound = me.plans.all[key];
  if (!bound) {
    bound = me.team.plans.get(text::format("call {} {} {} {} {} {}", int(c.what), c.count,
                                           static_cast<void const*>(c.reduction), key.in_place, c.root, key.counts),
                              [&] { return bind_by_rules(me.team, c, nullptr); });
    if (me.number == 0) log(me.team, *bound);
  }
  me.plans.front_of(key) = {key, bound.get()};
  return *bound;
}

}  // namespace coset::team_room

namespace coset::detail {

using namespace team_room;

namespace {

void check(verb what, std::size_t count, rank_t ranks, plan_options const& options) {
  if (what == verb::allreduce_view) throw argument_error("no plan of allreduce_view: it has no output to plan for");
  if (options.root >= ranks) throw argument_error(text::format("root {} of a plan for {} ranks", options.root, ranks));
  if (!by_pieces(what)) return;
  auto const total = std::accumulate(options.counts.begin(), options.counts.end(), std::size_t{0});
  bool const even = options.counts.empty();
  if (even ? count % ranks != 0 : options.counts.size() != ranks || total != count) {
    throw argument_error(
        text::format("a plan of {} for {} elements on {} ranks cannot have counts {}", name_of(what), count, ranks,
                     even ? "that are equal" : text::format("[{}]", text::joined(options.counts, ", "))));
  }
}

std::shared_ptr<bound_plan const> make_plan(team_state& team, call const& c, plan_options const& options) {
  auto made = team.plans.get(
      text::format("plan {} {} {} {} {} {} {} {} {} {}", options.algorithm, options.storage, options.segment_bytes,
                   int(options.required), int(c.what), c.count, static_cast<void const*>(c.reduction), in_place(c),
                   c.root, text::joined(options.counts, ",")),
      [&] { return bind_by_rules(team, c, &options); });
  bool const has_first_rank = team.part.first == 0 && (team.one_process || team.members[0]);
  if (has_first_rank) log_refusal(team, *made);
  return made;
}

}  // namespace

plan_pair make_plans(team_state& team, verb what, std::size_t count, reduction_table const& reduction,
                     plan_options const& options) {
  check(what, count, team.size(), options);
  rank_t const root = what == verb::reduce || what == verb::broadcast ? options.root : 0;
  std::byte one_array;  // stands for a caller's that is input and output
  call apart{.what = what, .count = count, .reduction = &reduction, .root = root};
  if (by_pieces(what)) apart.counts = options.counts;
  call same = apart;
  same.in = same.out = &one_array;
  return {make_plan(team, apart, options), what == verb::reduce_shared ? nullptr : make_plan(team, same, options)};
}

std::string describe(bound_plan const& plan) { return plan.choice; }

}  // namespace coset::detail
