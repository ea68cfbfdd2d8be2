// SPDX-License-Identifier: Apache-2.0
#include "runtime/memory/shared_memory.hpp"

#include <thread>
#include <utility>

#include "base/text/format.hpp"
#include "runtime/memory/told_to_sanitizer.hpp"
#include "runtime/rank_state.hpp"
#include "runtime/trace/process.hpp"

namespace coset::runtime {
namespace {

arena arena_of(node_list const& nodes, numa::memory&& own_memory, memory_kind staging) {
  return own_memory.size() == 0 ? arena(nodes, staging) : arena(nodes, std::move(own_memory));
}

domain with_mode(domain part, descent const& of) {
  if (part.mode) return part;
  shared_memory const* const whole = of.origin != nullptr ? of.origin : of.root;
  part.mode = whole != nullptr ? whole->mode() : floating_point_mode::of_this_thread();
  return part;
}

}  // namespace

shared_memory::shared_memory(descent of, capabilities kind_of_team, waiting wait, node_list const& nodes,
                             numa::memory&& own_memory, domain const& of_more, memory_kind staging)
    : root(of.root != nullptr ? *of.root : *this),
      origin(of.origin != nullptr ? *of.origin : *this),
      kind(kind_of_team),
      ranks(static_cast<rank_t>(nodes.size())),
      root_ranks(std::move(of.in_root)),
      origin_ranks(std::move(of.in_origin)),
      part(with_mode(of_more, of)),
      patience(patience::of(wait, kind.crowded || part.crowded)),
      arena(arena_of(nodes, std::move(own_memory), staging)),
      failure(of.origin != nullptr                     ? of.origin->failure
              : of.root != nullptr && kind.one_process ? of.root->own_failure_
                                                       : own_failure_),
      own_failure_(arena.failure()) {
  if (is_origin()) shown_.emplace(*this);
  if (trace::is_on()) marks.team = trace::next_team();
}

bool shared_memory::in_one_process(rank_t a, rank_t b) const {
  if (kind.one_process || part.spread.processes.empty()) return kind.one_process;
  return part.spread.stretch_of(part.first + a) == part.spread.stretch_of(part.first + b);
}

void shared_memory::begin_history() noexcept {
  bool const agreed = kind.has_messages || !kind.one_process;
  marks.salt = (agreed ? marks.shared_round : marks.generation) * 0x9E3779B9u;
  marks.told_round.store(round(), std::memory_order_relaxed);
}

void shared_memory::begin_generation(std::uint32_t generation) noexcept {
  marks.generation = generation;
  begin_history();
}

void shared_memory::begin_shared_round(std::uint32_t round) noexcept {
  marks.shared_round = round;
  begin_history();
}

/// Sleepers of teams split from this one wake up by themselves: no sleep is longer than patience::longest_sleep.
void shared_memory::fail(cause why, std::string_view reason, std::exception_ptr original) noexcept {
  if (!is_of_this_process()) return;
  failure.record(why, reason, std::move(original));
  for (rank_t q = 0; q < ranks; ++q) {
    if (arena.attention(q).sleepers.load(std::memory_order_relaxed) == 0) continue;  // whom it misses wakes up soon
    for (std::uint32_t c = 0; c < channels; ++c) {
      channel_lines& lines = arena.lines(c, q);
      for (entry_line& line : lines.entry) wake(line.tag, half::high);
      wake(lines.progress.signalled, half::low);
    }
  }
}

void shared_memory::quiesce(detail::rank_state const& leaver) const noexcept {
  if (!is_of_this_process()) return;
  rank_t const self = leaver.root.rank;
  // Most ranks have heard of the failure by a relaxed load, which has no place in the order of all busy marks. This one has:
  // a rank that is about to touch memory either saw the failure, or is seen to be busy.
  static_cast<void>(failure.recorded_in_order());
  for (rank_t q = 0; q < root.ranks; ++q) {
    if (q == self) continue;
    while (root.arena.own(q).busy.load(std::memory_order_seq_cst) != 0)
      std::this_thread::yield();  // partner: busy_mark
    tell_acquire(&root.arena.own(q).busy);
  }
}

void refuse_in_child(char const* what) {
  throw argument_error(
      text::format("{} in a forked child: the team is the parent's; make a new team of threads in the child", what));
}

}  // namespace coset::runtime
