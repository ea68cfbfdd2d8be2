// SPDX-License-Identifier: Apache-2.0
// The erased verbs: argument checks, the plan, the call.
#include "coset/detail/collective.hpp"

#include <cstring>
#include <limits>
#include <memory>

#include "base/text/format.hpp"
#include "coset/plan.hpp"
#include "planning/choice/choose.hpp"
#include "planning/plan/binding.hpp"
#include "planning/plan/call_choice.hpp"
#include "runtime/calls/checks.hpp"
#include "runtime/calls/exchange.hpp"
#include "runtime/failure/argument_check.hpp"
#include "runtime/learning.hpp"
#include "runtime/rank_state.hpp"
#include "runtime/requests.hpp"

static_assert(sizeof(coset::runtime::small_view) == coset::choice::private_view_bytes);

namespace coset::inline COSET_ABI::detail {

using namespace planning;
using namespace runtime;

namespace {

/// Checks that a rank's input and output are there, and parts of one array, each at its place, or do not overlap.
void check_own_arrays(rank_state& me, bound_plan const& plan, void const* in, void const* out) {
  extent const gives = plan.arrays.gives[me.rank], gets = plan.arrays.gets[me.rank];
  require_array(me, plan.what.what, in, gives.end - gives.begin, "input");
  require_array(me, plan.what.what, out, gets.end - gets.begin, "output");
  if (gives.empty() || gets.empty()) return;
  auto const a = reinterpret_cast<std::uintptr_t>(in), b = reinterpret_cast<std::uintptr_t>(out);
  bool const apart = a + (gives.end - gives.begin) <= b || b + (gets.end - gets.begin) <= a;
  bool const may_be_one =
      plan.goes_in_parts() || plan.code->storage.in_place || row_of(plan.what.what).in_place == same_array::of_root;
  bool const one_array = a - gives.begin == b - gets.begin && may_be_one;
  if (apart || one_array) [[likely]]
    return;
  refuse(me, text::format("{}: input and output of rank {} overlap: {} bytes from {} and {} bytes from {}",
                          name_of(plan.what.what), me.number, gives.end - gives.begin, in, gets.end - gets.begin, out));
}

bound_plan const& plan_checked_anew(rank_state& me, call const& c) {
  if (is_rooted(c.what) && c.root >= me.shared.size())
    refuse(me, text::format("{}: there is no root {} in a team of {}", name_of(c.what), c.root, me.shared.size()));
  (void)told(me, [&] { return product(c.count, c.reduction->element_bytes); });
  computing_in const alike_on_all_ranks(floating_point_mode::usual(), arithmetic::floating_point);
  bound_plan const& plan = me.plans.plan_for(c, me.requests.live == 0, me.number == 0);
  check_own_arrays(me, plan, c.in, c.out);
  me.plans.note(c, plan);
  return plan;
}

bound_plan const& checked_plan(rank_state& me, call const& c) {
  require_current(me);
  bound_plan const* const again = me.plans.again(c);
  return again != nullptr ? *again : plan_checked_anew(me, c);
}

void require_planned_length(rank_state& me, char const* name, std::size_t given, std::size_t planned) {
  if (given != planned) refuse(me, text::format("plan: the {} has {} elements, planned for {}", name, given, planned));
}

/// Chooses one of two plans, and the pointers, for an execution.
std::shared_ptr<bound_plan const> const& plan_of(rank_state& me, plan_pair const& plans, plan_arrays const& arrays,
                                                 void const*& in, void*& out) {
  require_current(me);
  bound_plan const& apart = *plans.apart;
  if (apart.owner != &me.plans.store) refuse(me, "a plan is executed by a member of another team");
  std::size_t const element_bytes = apart.what.reduction->element_bytes;
  extent const gives = apart.arrays.gives[me.rank], gets = apart.arrays.gets[me.rank];
  std::size_t const in_count = (gives.end - gives.begin) / element_bytes,
                    out_count = (gets.end - gets.begin) / element_bytes;
  in = arrays.in;
  out = arrays.out;
  std::size_t const whole = apart.what.count;
  if (!gives.empty() && in == nullptr) require_array(me, apart.what.what, in, 1, "input");
  if (in == out && arrays.in_count == whole && arrays.out_count == whole && plans.in_place != nullptr && whole > 0) {
    in = static_cast<std::byte const*>(in) + gives.begin;
    out = static_cast<std::byte*>(out) + gets.begin;
    return plans.in_place;
  }
  if (!gives.empty() || gets.empty()) require_planned_length(me, "input", arrays.in_count, in_count);
  if (!gets.empty()) require_planned_length(me, "output", arrays.out_count, out_count);
  check_own_arrays(me, apart, in, out);
  return plans.apart;
}

/// Runs a reduce or broadcast for every rank's piece: these go in segments, of any length.
void run_piece_by_piece(rank_state& me, call const& c) {
  std::size_t const bytes = c.reduction->element_bytes;
  bool const gathers = gives_pieces(c.what);
  auto const count_of = [&](rank_t r) { return c.counts.empty() ? c.count / me.shared.size() : c.counts[r]; };
  std::size_t at = 0;
  for (rank_t r = 0; r < me.shared.size(); ++r) {
    call piece{.what = gathers ? verb::broadcast : verb::reduce, .count = count_of(r), .reduction = c.reduction};
    piece.operation = c.operation;
    piece.root = r;
    if (gathers) {
      auto* const there = static_cast<std::byte*>(c.out) + at;
      if (r == me.number && c.in != there && piece.count > 0) std::memcpy(there, c.in, piece.count * bytes);
      piece.in = piece.out = there;
    } else {
      piece.in = static_cast<std::byte const*>(c.in) + at;
      piece.out = c.out;
    }
    run(me, piece);
    at += piece.count * bytes;
  }
}

std::size_t bytes_of(call const& c) { return c.count * c.reduction->element_bytes; }

/// The call that a plan stands for.
call call_of(bound_plan const& plan, void const* in, void* out, void const* operation) {
  return {.what = plan.what.what,
          .in = in,
          .out = out,
          .count = plan.what.count,
          .reduction = plan.what.reduction,
          .operation = operation,
          .root = plan.what.root,
          .counts = plan.counts};
}

/// As run_plan_here(), which it is but for being a call.
void run_plan(rank_state&, bound_plan const&, void const* in, void* out, void const* operation);

/// By other calls, none of which needs more staging than there is.
void run_in_parts(rank_state& me, bound_plan const& plan, void const* in, void* out, void const* operation) {
  auto const counts = plan.counts;  // the plan may be forgotten for those of the parts
  call c = call_of(plan, in, out, operation);
  c.counts = counts;
  call_in_parts const whole(me, c.what, plan.bytes);
  if (is_half(c.what)) return run_piece_by_piece(me, c);
  run_in_segments(me, c, [](rank_state& of, call const& part) {
    bound_plan const& of_part = checked_plan(of, part);
    if (of_part.goes_in_parts()) return false;
    run_plan(of, of_part, part.in, part.out, part.operation);
    return true;
  });
}

/// What has not come before, or is no short operation by itself.
[[gnu::noinline]] void run_anew(rank_state& me, bound_plan const& plan, void const* in, void* out,
                                void const* operation) {
  if (plan.goes_in_parts()) return run_in_parts(me, plan, in, out, operation);
  if (plan.candidacy.lessons != nullptr) return complete_and_learn(me, plan, in, out, operation);
  flight f;
  prepare(f, me, 0, plan, in, out, operation);
  complete(me, f);
  if (!me.plans.is_first_call(plan)) me.memory.resolved.called(me, plan);
}

[[gnu::always_inline]] inline void run_plan_here(rank_state& me, bound_plan const& plan, void const* in, void* out,
                                                 void const* operation) {
  resolved_program* const known = me.memory.resolved.find(plan, me.ends[0].capacity);
  if (known != nullptr && me.root.requests.live == 0) [[likely]]
    return run_resolved(me, plan, *known, in, out, operation);
  run_anew(me, plan, in, out, operation);
}

void run_plan(rank_state& me, bound_plan const& plan, void const* in, void* out, void const* operation) {
  run_plan_here(me, plan, in, out, operation);
}

/// In the same call on every rank.
std::byte* room_for_view(rank_state& me, bool is_own, std::size_t bytes) {
  result_view& view = is_own ? me.memory.own_view : me.memory.shared_view;
  if (bytes > view.capacity) {
    rank_t const of = is_own ? me.rank : me.plans.store.facts().node_leaders[me.rank];
    view.at = me.shared.arena.view_for(of, is_own ? arena::readers::rank : arena::readers::node, bytes);
    view.capacity = arena::capacity_for(bytes);
  }
  return view.at;
}

/// The same call, with the memory in which its result is viewed.
call with_view(rank_state& me, call const& c) try {
  require_current(me);
  std::size_t const bytes = c.count * c.reduction->element_bytes;
  call viewed = c;
  viewed.out = bytes <= choice::private_view_bytes
                   ? me.shared.arena.own_view(me.rank).bytes.data()
                   : room_for_view(me, planning::has_own_view(me.plans.store.facts(), c.what, bytes), bytes);
  if (c.count > 0 && c.in == viewed.out)
    refuse(me, "allreduce_view: the input is the view that the last call returned");
  return viewed;
} catch (std::bad_alloc const&) {
  fail_for_memory(me, c.what, bytes_of(c));
}

}  // namespace

std::size_t sum(std::size_t a, std::size_t b) {
  std::size_t result;
  if (__builtin_add_overflow(a, b, &result))
    throw argument_error(text::format("{} and {} elements are too many", a, b));
  return result;
}

std::size_t product(std::size_t a, std::size_t b) {
  std::size_t result;
  if (__builtin_mul_overflow(a, b, &result) ||
      result > std::numeric_limits<std::ptrdiff_t>::max())  // no object is larger
    throw argument_error(text::format("{} times {} elements or bytes are too many", a, b));
  return result;
}

std::size_t total(std::span<std::size_t const> counts) {
  std::size_t all = 0;
  for (std::size_t const count : counts) all = sum(all, count);
  return all;
}

void require_array(rank_state& me, verb what, void const* array, std::size_t bytes, char const* name) {
  if (array == nullptr && bytes != 0) [[unlikely]]
    refuse(me, text::format("{}: the {} of rank {} is NULL", name_of(what), name, me.number));
}

void refuse_lengths(rank_state& me, char const* verb, std::size_t in, std::size_t out) {
  refuse(me, text::format("{}: the input has {} elements, the output {}", verb, in, out));
}

std::size_t whole_of(rank_state& me, char const* verb, std::size_t piece, std::span<std::size_t const> counts) {
  rank_t const ranks = me.shared.size();
  if (counts.empty()) {
    if (piece > std::numeric_limits<std::size_t>::max() / ranks)
      refuse(me, text::format("{}: {} times {} elements are too many", verb, ranks, piece));
    return piece * ranks;
  }
  if (counts.size() != ranks) refuse(me, text::format("{}: {} counts for {} ranks", verb, counts.size(), ranks));
  if (counts[me.number] != piece)
    refuse(me, text::format("{}: rank {} has {} elements, its count is {}", verb, me.number, piece, counts[me.number]));
  return told(me, [&] { return total(counts); });
}

std::size_t piece_of(rank_state& me, char const* verb, std::size_t total, std::span<std::size_t const> counts) {
  rank_t const ranks = me.shared.size();
  if (counts.empty()) {
    if (total % ranks != 0)
      refuse(me, text::format("{}: {} elements do not make {} equal pieces: pass counts", verb, total, ranks));
    return total / ranks;
  }
  if (counts.size() != ranks) refuse(me, text::format("{}: {} counts for {} ranks", verb, counts.size(), ranks));
  std::size_t const given = told(me, [&] { return detail::total(counts); });
  if (given != total)
    refuse(me, text::format("{}: counts [{}] add up to {}, not to {}", verb, text::joined(counts, ", "), given, total));
  return counts[me.number];
}

void run(rank_state& me, call const& c) try {
  run_plan_here(me, checked_plan(me, c), c.in, c.out, c.operation);
} catch (std::bad_alloc const&) {
  fail_for_memory(me, c.what, bytes_of(c));
}

request start(rank_state& me, call const& c, std::shared_ptr<void const> operation) try {
  if (operation == nullptr && c.operation != nullptr) throw std::bad_alloc();
  bound_plan const& plan = checked_plan(me, c);
  if (!plan.goes_in_parts())
    return launch(me, best_of(me, plan), c.in, c.out, std::move(operation), c.deliver, c.delivered_to);
  run_in_parts(me, plan, c.in, c.out, c.operation);
  return {};
} catch (std::bad_alloc const&) {
  fail_for_memory(me, c.what, bytes_of(c));
}

void run(rank_state& me, call const& c, segment_listener const& after) try {
  bound_plan const& plan = checked_plan(me, c);
  if (!plan.goes_in_parts()) return complete_by_segment(me, plan, c, after);
  run_in_parts(me, plan, c.in, c.out, c.operation);
  after.heard(after.context, c.out, 0, c.count);
} catch (std::bad_alloc const&) {
  fail_for_memory(me, c.what, bytes_of(c));
}

void const* run_view(rank_state& me, call const& c) {
  call const viewed = with_view(me, c);
  run(me, viewed);
  return viewed.out;
}

void const* run_view(rank_state& me, call const& c, segment_listener const& after) {
  call const viewed = with_view(me, c);
  run(me, viewed, after);
  return viewed.out;
}

void execute(rank_state& me, plan_pair const& plans, plan_arrays const& arrays, void const* operation) try {
  require_current(me);
  if (auto const* const same = me.plans.again(plans, arrays)) [[likely]]
    return run_plan_here(me, same->is_in_place ? *plans.in_place : *plans.apart, same->in, same->out, operation);
  void const* in;
  void* out;
  bound_plan const& plan = *plan_of(me, plans, arrays, in, out);
  me.plans.note({plans.apart->id, arrays, &plan == plans.in_place.get(), in, out});
  run_plan_here(me, plan, in, out, operation);
} catch (std::bad_alloc const&) {
  fail_for_memory(me, plans.apart->what.what, plans.apart->bytes);
}

request start(rank_state& me, plan_pair const& plans, plan_arrays const& arrays, void const* operation) try {
  void const* in;
  void* out;
  auto const& plan = plan_of(me, plans, arrays, in, out);
  if (plan->goes_in_parts()) {
    run_in_parts(me, *plan, in, out, operation);
    return {};
  }
  // The plan lives as long as the request needs it; the operation belongs to an object that outlives the request.
  return launch(me, *plan, in, out, std::shared_ptr<void const>(plan, operation));
} catch (std::bad_alloc const&) {
  fail_for_memory(me, plans.apart->what.what, plans.apart->bytes);
}

}  // namespace coset::detail
