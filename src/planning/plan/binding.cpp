// SPDX-License-Identifier: Apache-2.0
#include "planning/plan/binding.hpp"

#include <algorithm>
#include <atomic>
#include <numeric>
#include <span>
#include <utility>

#include "base/text/format.hpp"
#include "coset/error.hpp"
#include "numa/memory.hpp"
#include "planning/plan/call_choice.hpp"
#include "planning/plan/shape.hpp"
#include "planning/program/fetching.hpp"
#include "planning/schedule/parts/make_part.hpp"

namespace coset::planning {
namespace {

using choice::schedule_of;
using detail::bound_plan;
using detail::call;
using detail::extent;

/// [rank]: the rank whose output replaces its own. Empty: every rank has its own.
std::vector<rank_t> outputs_of(team_facts const& team, signature const& s) {
  detail::results const in = detail::row_of(s.what).in;
  if (in == detail::results::shared) return team.spread.leaders(team.ranks);
  bool const is_shared =
      in == detail::results::view && !has_own_view(team, s.what, s.count * s.reduction->element_bytes);
  return is_shared ? team.node_leaders : std::vector<rank_t>{};
}

/// Small payloads travel in the entry lines themselves: one transfer brings tag and data.
program::home home_of(program::compiled const& code, std::size_t bytes) {
  bool const fits = code.layers * bytes <= program::second_line_bytes;
  if (code.layers == 0 || !fits) return program::home::pieces;
  return code.layers * bytes <= program::entry_payload_bytes ? program::home::entry_line : program::home::second_line;
}

/// What each rank gives or gets of a vector that is made of such pieces.
program::rank_pieces pieces_of(call const& c, rank_t ranks) {
  if (c.counts.empty()) return program::rank_pieces::equal(ranks, c.count / ranks);
  std::vector<std::size_t> at{0};
  for (std::size_t const count : c.counts) at.push_back(at.back() + count);
  return at;
}

/// What the callers of the ranks that share memory with this one give or get of the whole vector.
void set_extents(bound_plan& plan, program::rank_pieces const& pieces, team_facts const& team) {
  verb const what = plan.what.what;
  std::size_t const element_bytes = plan.what.reduction->element_bytes;
  for (rank_t r = team.spread.first(); r < team.spread.last(team.ranks); ++r) {
    extent const whole{0, plan.bytes}, none{0, 0};
    extent const piece =
        detail::is_of_pieces(what) ? extent{pieces.begin(r) * element_bytes, pieces.end(r) * element_bytes} : whole;
    auto const part = [&](detail::share of) {
      return of == detail::share::piece ? piece : of == detail::share::whole ? whole : none;
    };
    bool const root = r == plan.what.root;
    plan.arrays.gives.push_back(part(detail::gives(what, root)));
    bool const gets_none = detail::gets_nothing(what, root, r == 0) || (root && detail::spreads_whole(what));
    plan.arrays.gets.push_back(gets_none ? none : part(detail::gets(what, root)));
  }
}

program::item_bytes items_of(signature const& what) {
  return {what.reduction->element_bytes, what.reduction->partial_bytes};
}

/// Of the whole vector.
struct staging_need {
  std::size_t layers, item_bytes, bytes;
};

/// The same on all hosts, which have to cut alike: where they differ, what none of them exceeds.
staging_need need_of(bound_plan const& plan, program::item_bytes items) {
  program::compiled const& code = *plan.code;
  if (code.most_layers == 0) return {code.layers, items.staged(code), plan.segments.layout.staging_bytes};
  std::size_t const widest = code.storage.widens ? std::max(items.element, items.partial) : items.element;
  std::size_t const layer = (plan.what.count * widest + program::line_bytes - 1) / program::line_bytes;
  return {code.most_layers, widest, code.most_layers * layer * program::line_bytes};
}

/// Segments of equal length, whole cache lines, none longer than wanted and than the arena has room for. Vectors are cut;
/// of those that are made of ranks' pieces each piece is, if all are equally long.
void cut_into_segments(bound_plan& plan, team_facts const& team, program::rank_pieces const& pieces) {
  std::size_t const wanted_bytes = plan.segments.wanted_bytes;
  std::size_t const element_bytes = plan.what.reduction->element_bytes;
  program::item_bytes const items = items_of(plan.what);
  bool const of_pieces = detail::is_of_pieces(plan.what.what);
  plan.segments.count = plan.what.count;
  plan.segments.layout = plan.segments.last_layout =
      of_pieces ? program::bind(*plan.code, pieces, items) : program::bind(*plan.code, plan.what.count, items);
  staging_need const need = need_of(plan, items);
  std::size_t const room = team.most_staging, needed = need.bytes;
  bool const can_be_cut =
      !of_pieces || (plan.counts.empty() && team.spread.is_one_domain() && program::can_be_cut_by_piece(*plan.code));
  if (!can_be_cut && needed > room) {
    throw lacks_staging(text::format("{} needs {} bytes of staging; the team's memory has {} and cannot grow",
                                     plan.what.text(), needed, room));
  }
  std::size_t const longest_staged = needed > room ? room / need.layers / need.item_bytes : SIZE_MAX;
  std::size_t const most =
      std::min(wanted_bytes != 0 ? wanted_bytes : SIZE_MAX, needed > room ? longest_staged * element_bytes : SIZE_MAX);
  if (!can_be_cut || plan.bytes <= most) return;
  std::size_t const parts = of_pieces ? team.ranks : 1, count = plan.what.count / parts;
  std::size_t const quantum = std::lcm(program::line_bytes, element_bytes) / element_bytes;
  std::size_t const lines = std::max<std::size_t>(most / parts / element_bytes / quantum, 1) * quantum;
  // Elements so large that whole lines of them have no room begin anywhere.
  std::size_t const longest = std::min(lines, std::max<std::size_t>(longest_staged / parts, 1));
  std::size_t const even = (count - 1) / ((count - 1) / longest + 1) + 1;
  auto const bound = [&](std::size_t elements) {
    if (!of_pieces) return program::bind(*plan.code, elements, items);
    return program::bind_segment(*plan.code, pieces, program::rank_pieces::equal(team.ranks, elements), items);
  };
  plan.segments.count = std::min({(even + quantum - 1) / quantum * quantum, longest, count});
  plan.segments.number = (count - 1) / plan.segments.count + 1;
  plan.segments.layout = bound(plan.segments.count);
  plan.segments.last_layout = bound(count - (plan.segments.number - 1) * plan.segments.count);
}

/// Memory that processes share cannot grow: beyond its room lies what other ranks have.
void require_room(bound_plan const& plan, team_facts const& team) {
  std::size_t const needed = std::max(plan.segments.layout.staging_bytes, plan.segments.last_layout.staging_bytes);
  if (needed <= team.most_staging) return;
  throw lacks_staging(text::format("{} needs {} bytes of staging in segments of {} elements; the team's memory has {}",
                                   plan.what.text(), needed, plan.segments.count, team.most_staging));
}

program::compiled compiled(team_facts const& team, programs::key_type const& by) {
  auto const& [algorithm, verb, root, storage, outputs] = by;
  auto const& spread = team.spread;
  if (spread.is_one_domain() || storage.offloads)
    return program::compile(schedule::make(algorithm, team.ranks, verb, root), storage, outputs, spread);
  auto const part = schedule::make_part(algorithm, spread.domains, spread.own, verb, root);
  return program::compile(part, storage, outputs, spread);
}

std::shared_ptr<program::compiled const> find(team_facts const& team, programs& known, programs::key_type const& by) {
  if (auto const found = known.find(by); found != known.end()) return found->second;
  auto made = std::make_shared<program::compiled const>(compiled(team, by));
  known.emplace(by, made);
  // What a compiler takes for a while grows faster than what it leaves, and malloc would keep it in this thread's
  // arena.
  constexpr rank_t many_ranks = 128;
  if (team.ranks >= many_ranks) numa::return_freed_pages();
  return made;
}

std::shared_ptr<program::compiled const> compile(team_facts const& team, programs& known, signature const& what,
                                                 choice::answer const& chosen) {
  programs::key_type by{chosen.algorithm, schedule_of(what.what), what.root, chosen.storage, outputs_of(team, what)};
  auto code = find(team, known, by);
  auto& storage = std::get<program::policy>(by);
  std::size_t const bytes = what.count * items_of(what).staged(*code);
  storage.staging = home_of(*code, bytes);
  if (storage.staging != program::home::pieces) return find(team, known, by);
  storage.exchanges = program::is_worth_exchanging(*code, bytes, team.most_staging);
  if (!storage.exchanges) return code;
  auto const exchanging = find(team, known, by);
  return exchanging->storage.exchanges ? exchanging : code;
}

/// Whether so many bytes have the same program as those that it was compiled for.
bool is_compiled_for(program::compiled const& code, signature const& what, std::size_t bytes,
                     std::size_t most_staging) {
  std::size_t const then = what.count * items_of(what).staged(code);
  auto const exchanges = [&](std::size_t b) { return program::is_worth_exchanging(code, b, most_staging); };
  return home_of(code, bytes) == code.storage.staging && exchanges(bytes) == exchanges(then);
}

/// From an output, its own or another rank's, or from another rank's input.
bool fetches_from_arrays(program::program const& p, std::size_t ranks) {
  return std::ranges::any_of(p.code, [&](program::instruction const& i) {
    auto const sources = std::span(p.operands).subspan(i.operands, i.sources);
    return i.foreign || std::ranges::any_of(sources, [&](program::operand const& o) {
             return o.base[0] / ranks == program::row_output;
           });
  });
}

/// While others fetch from the same array, the copy of it takes twice as long: allgathers of 1 to 2 MiB, two near cores.
detail::own_copy own_copy_of(bound_plan const& plan, team_facts const& team) {
  bool const is_part_of_result = (detail::gives_pieces(plan.what.what) && !detail::is_rooted(plan.what.what)) ||
                                 (team.ranks == 1 && in_place_always(plan.what.what));
  if (!is_part_of_result) return detail::own_copy::none;
  auto const& of = plan.code->of;
  bool const told_first = of.size() > 1 && std::ranges::none_of(of, [&](program::program const& p) {
                            return fetches_from_arrays(p, of.size());
                          });
  return told_first ? detail::own_copy::once_told : detail::own_copy::first;
}

/// By what ranks tell it from another plan, and this process from all others.
void name_plan(bound_plan& plan) {
  static std::atomic<std::uint64_t> latest_id = 0;
  plan.hash = plan.what.hash();
  plan.id = latest_id.fetch_add(1, std::memory_order_relaxed) + 1;
}

/// What follows from the call alone, whichever program it runs.
void put_on_call(bound_plan& plan, team_facts const& team, call const& c, program::rank_pieces const& pieces) {
  name_plan(plan);
  plan.bytes = plan.what.count * plan.what.reduction->element_bytes;
  plan.arrays.shares_outputs = detail::row_of(plan.what.what).in == detail::results::shared && plan.what.count > 0;
  plan.counts.assign(c.counts.begin(), c.counts.end());
  set_extents(plan, pieces, team);
}

/// And what follows from it once that is known.
void put_on_call(bound_plan& plan, team_facts const& team, call const& c) {
  auto const pieces = pieces_of(c, team.ranks);
  put_on_call(plan, team, c, pieces);
  cut_into_segments(plan, team, pieces);
  bool const is_long = plan.bytes / team.ranks >= program::least_shared_pieces * program::shared_piece_bytes;
  if (is_long && plan.segments.number == 1 && program::can_share_folds(*plan.code))
    plan.segments.shared_piece =
        std::max<std::size_t>(program::shared_piece_bytes / plan.what.reduction->element_bytes, 1);
  plan.candidacy.most_operands = plan.code->most_operands;
  plan.candidacy.most_staging = std::max(plan.segments.layout.staging_bytes, plan.segments.last_layout.staging_bytes);
}

}  // namespace

std::shared_ptr<bound_plan> bind_plan(team_facts const& team, programs& known, signature const& what, call const& c,
                                      choice::answer chosen) {
  auto plan = std::make_shared<bound_plan>();
  plan->what = what;
  chosen.storage.widens = what.reduction->mixed != nullptr;
  try {
    plan->code = compile(team, known, what, chosen);
  } catch (schedule_error const&) {
    // Arrays that peers reach lose a value in place under some schedules; staging does not.
    if (!chosen.storage.in_place || chosen.storage.first == program::area::staging) throw;
    chosen.storage.first = chosen.storage.later = program::area::staging;
    plan->code = compile(team, known, what, chosen);
  }
  plan->arrays.own = own_copy_of(*plan, team);
  bool const streams = chosen.storage.streams && what.reduction->streaming_folds != nullptr;
  plan->folds = streams ? what.reduction->streaming_folds : what.reduction->folds;
  plan->segments.wanted_bytes = chosen.segment_bytes;
  put_on_call(*plan, team, c);
  require_room(*plan, team);
  auto const segments = plan->segments.number > 1 ? text::format(", {} segments", plan->segments.number) : "";
  std::string choice =
      text::format("{}, {}{}", chosen.algorithm.text(), program::policy_name(chosen.storage), segments);
  plan->words = std::make_shared<detail::plan_words>(detail::plan_words{std::move(choice), chosen.seconds, ""});
  return plan;
}

std::shared_ptr<bound_plan> bind_like(bound_plan const& like, team_facts const& team, call const& c) {
  if (like.segments.number != 1) return nullptr;
  std::size_t const bytes = c.count * items_of(like.what).staged(*like.code);
  if (!is_compiled_for(*like.code, like.what, bytes, team.most_staging)) return nullptr;
  auto plan = std::make_shared<bound_plan>();
  plan->what = like.what;
  plan->what.count = c.count;
  plan->owner = like.owner;
  plan->code = like.code;
  plan->folds = like.folds;
  plan->arrays.own = like.arrays.own;
  plan->segments.wanted_bytes = like.segments.wanted_bytes;
  plan->words = like.words;
  put_on_call(*plan, team, c);
  bool const has_room = plan->candidacy.most_staging <= team.most_staging;
  return plan->segments.number == 1 && has_room ? plan : nullptr;
}

bool may_go_in_parts(team_facts const& team, call const& c) {
  if (detail::is_half(c.what)) return true;
  std::size_t const longest = c.counts.empty() ? c.count / team.ranks : std::ranges::max(c.counts);
  return detail::is_derived(c.what) && longest > 1;
}

std::shared_ptr<bound_plan> bind_in_parts(team_facts const& team, call const& c) {
  auto plan = std::make_shared<bound_plan>();
  plan->what = signature_of(c);
  plan->segments.number = 0;
  put_on_call(*plan, team, c, pieces_of(c, team.ranks));
  std::string choice = detail::is_derived(c.what)     ? "a call for the next elements of each piece"
                       : detail::gives_pieces(c.what) ? "a broadcast of each piece"
                                                      : "a reduce of each piece";
  plan->words = std::make_shared<detail::plan_words>(detail::plan_words{std::move(choice), 0, ""});
  return plan;
}

std::unique_ptr<bound_plan> bind_fetching(bound_plan const& barrier, rank_t rank, rank_t pieces,
                                          detail::reduction_table const& copied) {
  auto plan = std::make_unique<bound_plan>();
  program::fetching made(*barrier.code, barrier.segments.last_layout, rank, pieces);
  plan->what = {.what = verb::all_to_all, .reduction = &copied, .count = pieces};
  plan->owner = barrier.owner;
  plan->folds = copied.folds;
  name_plan(*plan);
  plan->arrays.gives = barrier.arrays.gives;
  plan->arrays.gets = barrier.arrays.gets;
  plan->candidacy.most_operands = made.code.most_operands;
  plan->candidacy.most_staging = barrier.candidacy.most_staging;
  plan->segments.last_layout = std::move(made.places);
  plan->code = std::make_shared<program::compiled>(std::move(made.code));
  plan->words = barrier.words;
  return plan;
}

void make_candidates(std::vector<std::shared_ptr<bound_plan>> const& all,
                     std::shared_ptr<detail::shape_lessons> learned, std::optional<rank_t> leader) {
  bound_plan& first = *all.front();
  auto lessons = std::make_shared<detail::plan_lessons>();
  for (auto const& plan : all) {
    plan->candidacy.tells_times = !leader;
    first.candidacy.most_operands = std::max(first.candidacy.most_operands, plan->candidacy.most_operands);
    first.candidacy.most_staging = std::max(first.candidacy.most_staging, plan->candidacy.most_staging);
    if (plan.get() == &first) continue;
    lessons->others.push_back(plan);
    // Ranks that do not agree on the candidate find that out before any data are read.
    plan->hash = static_cast<std::uint32_t>(mixed(plan->hash, lessons->others.size()));
  }
  lessons->of = std::move(learned);
  lessons->leader = leader;
  first.candidacy.lessons = std::move(lessons);
}

void name_candidates(std::vector<std::shared_ptr<bound_plan>> const& all) {
  std::string names;
  for (auto const& plan : std::span(all).subspan(1))
    names += (names.empty() ? "" : ", ") + program::policy_name(plan->code->storage);
  auto words = *all.front()->words;
  words.choice += text::format(" (or {}, as calls show)", names);
  all.front()->words = std::make_shared<detail::plan_words>(std::move(words));
}

}  // namespace coset::planning
