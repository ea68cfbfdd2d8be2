// SPDX-License-Identifier: Apache-2.0
// Threads answer numbered questions. A thread that has seen a question and then polled in vain answers it by
// `standing`; when it goes on, it counts a move. A thread that finds a question answered by all notes the sum of their
// moves and asks the next one. If all threads answer that too, and the sum is the same, then no thread has moved since
// the second question was asked, and all have polled in vain since: no thread will ever move. tests/models has this as
// `standstill`.
#include "runtime/failure/standstill.hpp"

#include <algorithm>
#include <optional>
#include <string>

#include "base/text/format.hpp"
#include "runtime/failure/argument_check.hpp"

namespace coset::runtime {
namespace {

using detail::rank_state;

/// Messages and other processes may bring what a thread waits for.
bool depends_on_its_ranks_alone(rank_state const& me) {
  return std::ranges::all_of(me.root.requests.family, [&](rank_state const* each) {
    bool const waits_there = each == &me || each->requests.live != 0;
    return !waits_there || each->shared.kind.one_memory();
  });
}

/// The sum of all moves, if all threads have answered `question`. A thread stops standing before it counts that it
/// moves, so its count is read before and after: once to meet it later, once to have met it earlier.
std::optional<std::uint64_t> moves_if_all_stand(shared_memory const& team, std::uint64_t question) {
  std::uint64_t sum = 0;
  for (rank_t r = 0; r < team.ranks; ++r) {
    own_line const& line = team.arena.own(r);
    bool const has_left = team.left(r).load(std::memory_order_acquire) == team.round();
    std::uint64_t const moves = line.moves.load(std::memory_order_seq_cst);
    bool const stands = has_left || line.standing.load(std::memory_order_seq_cst) >= question;
    if (!stands || line.moves.load(std::memory_order_seq_cst) != moves) return {};
    sum += moves;
  }
  return sum;
}

std::string what_all_wait_for(shared_memory const& team) {
  std::string text = "all ranks wait for one another:";
  for (rank_t r = 0; r < team.ranks; ++r) {
    own_line const& line = team.arena.own(r);
    text += text::format("{} rank {} ", r == 0 ? "" : ",", r);
    if (team.left(r).load(std::memory_order_acquire) == team.round()) {
      text += "has left";
      continue;
    }
    text += signature::act_of(line.wait.in, true);
    std::uint32_t const among = line.wait.among.load(std::memory_order_relaxed);
    if ((among & 1) != 0) text += text::format(" in a team of {} that was split off", among / 2);
  }
  return text;
}

}  // namespace

void note_standing(rank_state& me) {
  if (!depends_on_its_ranks_alone(me)) return;
  shared_memory& team = me.root.shared;
  watch& mine = me.root.acts.waiting;
  std::uint64_t const question = team.question.load(std::memory_order_seq_cst);
  if (mine.seen != question) {
    mine.seen = question;
    return;  // answered after the next look in vain
  }
  me.root.lines.own.standing.store(question, std::memory_order_seq_cst);
  if (mine.raised != 0) {
    auto const moves = moves_if_all_stand(team, mine.raised + 1);
    if (!moves) return;
    if (*moves == mine.moves_then) fail(me, cause::mismatch, what_all_wait_for(team));
    mine.raised = 0;
  }
  auto const moves = moves_if_all_stand(team, question);
  std::uint64_t expected = question;
  if (!moves || !team.question.compare_exchange_strong(expected, question + 1, std::memory_order_seq_cst)) return;
  mine.raised = question;
  mine.moves_then = *moves;
}

void stop_standing(rank_state& root) noexcept {
  root.acts.waiting = {};
  if (root.lines.own.standing.load(std::memory_order_relaxed) == 0) return;
  root.lines.own.standing.store(0, std::memory_order_seq_cst);
  root.lines.own.moves.fetch_add(1, std::memory_order_seq_cst);
}

}  // namespace coset::runtime
