// SPDX-License-Identifier: Apache-2.0
#include "runtime/failure/long_waits.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <exception>
#include <iterator>
#include <string>
#include <vector>

#include "base/text/format.hpp"
#include "runtime/await.hpp"
#include "runtime/failure/argument_check.hpp"
#include "runtime/failure/ranks_in_words.hpp"
#include "runtime/failure/standstill.hpp"

namespace coset::runtime {
namespace {

using detail::rank_state;
using program::instruction;

/// What a flight that does not get on waits for. `rank` counts as callers do.
struct awaited {
  told_wait::cause of;
  rank_t rank;
};

/// Where its program has waits left, the next one; else what its next instruction is, or that its messages go out.
awaited awaited_by(rank_state const& me, flight const& f) {
  auto const named = [&](told_wait::cause of, rank_t rank) { return awaited{of, me.shared.part.first + rank}; };
  channel_end const& end = me.ends[f.line.channel];
  if (!f.line.entered) {
    std::uint32_t const next = end.epoch + 1;
    if (end.readers[next & 1] == nullptr) return {told_wait::cause::reuse, told_wait::nobody};
    users_of_lines const users(end, next, *f.layout, me.rank, me.shared.ranks);
    if (f.wait >= users.size()) return {told_wait::cause::reuse, told_wait::nobody};
    return named(told_wait::cause::reuse, users[f.wait].rank);
  }
  auto const& code = f.code->code;
  std::size_t const waits = f.code->waits.size();
  if (f.at < code.size()) {
    instruction const& next = code[f.at];
    if (f.wait < next.waits_end) {
      program::wait const& w = f.code->waits[f.wait];
      return named(w.signal == program::entry_signal ? told_wait::cause::entry : told_wait::cause::signal, w.rank);
    }
    if (next.what == program::action::await_offload) return {told_wait::cause::offload, told_wait::nobody};
    return {told_wait::cause::message, next.peer};
  }
  if (f.wait < waits + f.code->unmet.size()) return named(told_wait::cause::entry, f.code->unmet[f.wait - waits]);
  return {told_wait::cause::sending, told_wait::nobody};
}

/// In this rank's lines of the team that it waits in, of the team that that was split from, and of its thread's own.
template <class Visit>
void for_each_line(rank_state const& root, rank_state const* in, Visit visit) {
  visit(root.lines.own);
  for (rank_state const* const each : root.requests.family) {
    if (each != &root && (each == in || each->shared.is_origin())) visit(each->lines.told);
  }
}

void tell_wait(rank_state const& me, flight const& f, std::uint64_t since) {
  constexpr auto relaxed = std::memory_order_relaxed;
  awaited const what = awaited_by(me, f);
  auto const& steps = f.code->steps;
  std::array<char, sizeof(told_wait::plan)> words{};
  std::string const& choice = f.plan->words->choice;
  std::copy_n(choice.begin(), std::min(choice.size(), words.size()), words.begin());
  for_each_line(me.root, &me, [&](own_line& line) {
    told_wait& to = line.wait;
    f.plan->describe(to.in, f.line.started, f.line.by);
    to.among.store(me.shared.size() * 2 + (&line != &me.lines.told ? 1 : 0), relaxed);
    to.number.store(f.act.number, relaxed);
    to.of.store(what.of, relaxed);
    to.awaited.store(what.rank, relaxed);
    to.step.store(f.line.entered && f.at < steps.size() ? steps[f.at] : steps.empty() ? 0 : steps.back(), relaxed);
    to.steps.store(f.code->last_step, relaxed);
    for (std::size_t k = 0; k < to.plan.size(); ++k) {
      std::uint64_t word;
      std::memcpy(&word, words.data() + k * sizeof word, sizeof word);
      to.plan[k].store(word, relaxed);
    }
    to.since.store(since, relaxed);
  });
}

/// "rank 0 of 4 waits for rank 3 to begin operation 42, …", then a line for each group of ranks.
std::vector<std::string> account_of(rank_state const& me, flight const& f, std::uint64_t now) {
  own_line const& mine = me.lines.told;
  std::vector<std::string> lines{text::format("rank {} of {}{} has waited {}", me.number, me.shared.size(),
                                              me.shared.is_origin() ? "" : " in a team that was split off",
                                              wait_in_words(me.shared, mine.wait, now))};
  if (auto const absent = ranks_before(me.shared, f.act.number); !absent.empty())
    lines.push_back(text::format("not come to it: {}", ranks_in_words(absent)));
  if (auto const missing = missing_messages(me, f); !missing.empty()) lines.push_back(missing);
  std::ranges::move(where_ranks_are(me.shared, now, f.act.number), std::back_inserter(lines));
  return lines;
}

/// One rank of the team says it, or of each host where hosts only exchange messages.
void say_that_it_is_stuck(rank_state const& me, flight const& f, std::uint64_t now) noexcept try {
  std::atomic<std::uint32_t>& told = me.shared.origin.arena.failure().stuck_told;
  if (told.load(std::memory_order_relaxed) != 0) return;
  std::string text = "stuck? ";
  for (std::string const& line : account_of(me, f, now)) text += line + "\ncoset:   ";
  text += "said once per team: COSET_STUCK sets when, COSET_TIMEOUT makes it an error";
  if (told.exchange(1, std::memory_order_relaxed) == 0) text::complain(text);
} catch (std::exception const&) {
  // Without memory for the words there are none.
}

[[noreturn]] void run_out_of_time(rank_state& me, flight const& f, std::uint64_t now) {
  std::string text;
  for (std::string const& line : account_of(me, f, now)) text += (text.empty() ? "" : "; ") + line;
  fail(me, cause::timed_out, text);
}

void look_at_the_time(rank_state& me, flight const& f) {
  watch& mine = me.root.acts.waiting;
  std::uint64_t const now = std::max<std::uint64_t>(now_of_waits(), 1);
  if (mine.since == 0) {
    mine.since = now;
    tell_wait(me, f, now);
  }
  choice::wait_limits const& limits = me.shared.patience.limits;
  std::chrono::nanoseconds const waited(static_cast<std::int64_t>(now - mine.since));
  if (limits.until_told.count() != 0 && waited >= limits.until_told) say_that_it_is_stuck(me, f, now);
  if (limits.longest.count() != 0 && waited >= limits.longest) run_out_of_time(me, f, now);
}

}  // namespace

void note_waiting(rank_state& me, flight const& f) {
  look_at_the_time(me, f);
  note_standing(me);
}

void tell_of_no_wait(rank_state& root) noexcept {
  if (root.acts.waiting.since == 0) return;
  for (rank_state const* const each : root.requests.family)
    each->lines.told.wait.since.store(0, std::memory_order_relaxed);
}

void stop_waiting(rank_state& root) noexcept {
  tell_of_no_wait(root);
  stop_standing(root);
}

}  // namespace coset::runtime
