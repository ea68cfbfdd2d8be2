// SPDX-License-Identifier: Apache-2.0
#include "team/disagreement.hpp"

#include <fmt/format.h>

#include "team/team_state.hpp"

namespace coset::team_room {
namespace {

struct bytes {
  std::uintptr_t begin, end;
  bool meets(bytes other) const {
    return begin < other.end && other.begin < end && begin != end && other.begin != other.end;
  }
};

bytes of(std::byte const* base, detail::extent part) {
  auto const at = reinterpret_cast<std::uintptr_t>(base);
  return {at + part.begin, at + part.end};
}

[[noreturn]] void fail_overlap(detail::rank_state& me, rank_t other, char const* mine, bytes my_range,
                               char const* theirs, bytes their_range) {
  fail(me, cause::argument,
       fmt::format(
           "the arrays of rank {} and rank {} overlap: {} [{:#x}, {:#x}) of the one, {} [{:#x}, {:#x}) of the other",
           me.number, me.team.part.first + other, mine, my_range.begin, my_range.end, theirs, their_range.begin,
           their_range.end));
}

}  // namespace

void leave(detail::rank_state& me) {
  me.team.quiesce(me);
  if (me.team.part.messages != nullptr) me.team.part.messages->tell_failure(me);
  (me.team.failure.recorded() ? me.team.failure : me.team.root.failure).raise();
}

void fail(detail::rank_state& me, cause why, std::string const& reason) {
  me.team.fail(why, reason);
  leave(me);
}

void fail_by_exception(detail::rank_state& me, char const* what) noexcept {
  me.team.fail(cause::aborted,
               fmt::format("rank {}: the operation threw{}{}", me.number, *what != '\0' ? ": " : "", what),
               std::current_exception());
  me.team.quiesce(me);
}

void fail_mismatch(detail::rank_state& me, flight const& f, rank_t other) {
  auto const theirs = signature::text_of(me.team.arena.own(other).doing[f.channel][f.parity], me.team.one_process);
  fail(me, cause::mismatch,
       fmt::format("ranks disagree: rank {} calls {}, rank {} calls {}", me.number, f.plan->what.text(),
                   me.team.part.first + other, theirs));
}

void fail_mismatch(detail::rank_state& me, flight const& f, envelope const& other) {
  described_signature theirs;
  theirs.reduction.store(f.plan->what.reduction, std::memory_order_relaxed);  // only that there is one
  theirs.count.store(other.count, std::memory_order_relaxed);
  theirs.rest.store(other.rest, std::memory_order_relaxed);
  fail(me, cause::mismatch,
       fmt::format("ranks disagree: rank {} calls {}, rank {} calls {}", me.number, f.plan->what.text(), other.sender,
                   signature::text_of(theirs, false)));
}

void fail_left(detail::rank_state& me, flight const& f, rank_t other) {
  fail(me, cause::mismatch,
       fmt::format("ranks disagree: rank {} calls {}, rank {} has left", me.number, f.plan->what.text(),
                   me.team.part.first + other));
}

void compare_arrays(detail::rank_state& me, flight const& f, rank_t other, std::byte const* in, std::byte const* out) {
  if (f.plan->shares_outputs && out != f.out) {
    fail(me, cause::argument,
         fmt::format("reduce_shared: the output of rank {} begins at {}, of rank {} at {}", me.number, fmt::ptr(f.out),
                     me.team.part.first + other, fmt::ptr(out)));
  }
  verb const what = f.plan->what.what;
  bytes const my_in = of(f.in, f.plan->gives[me.number]), my_out = of(f.out, f.plan->gets[me.number]);
  bytes const their_in = of(in, f.plan->gives[me.team.part.first + other]),
              their_out = of(out, f.plan->gets[me.team.part.first + other]);
  bool const shared = what == verb::reduce_shared || what == verb::allreduce_view;
  if (!shared && my_out.meets(their_out)) fail_overlap(me, other, "output", my_out, "output", their_out);
  if (my_out.meets(their_in)) fail_overlap(me, other, "output", my_out, "input", their_in);
  if (my_in.meets(their_out)) fail_overlap(me, other, "input", my_in, "output", their_out);
}

}  // namespace coset::team_room
