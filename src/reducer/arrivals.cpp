// SPDX-License-Identifier: Apache-2.0
#include "reducer/arrivals.hpp"

#include "base/text/format.hpp"
#include "coset/error.hpp"
#include "reducer/core.hpp"
#include "runtime/failure/ranks_in_words.hpp"
#include "runtime/memory/told_to_sanitizer.hpp"

namespace coset::reducer_room {
namespace {

using detail::arrival;
using detail::arriving;

constexpr unsigned nowaits_at = 16, firsts_at = 32, rounds_at = 40;
constexpr std::uint64_t one_came = 1, one_nowait = std::uint64_t{1} << nowaits_at,
                        one_first = std::uint64_t{1} << firsts_at, one_round = std::uint64_t{1} << rounds_at;
constexpr std::uint64_t broken = one_round / 2;  ///< until reset(): threads were missed

std::uint64_t came(std::uint64_t word) { return word & (one_nowait - 1); }
std::uint64_t nowaits(std::uint64_t word) { return word % one_first / one_nowait; }
std::uint64_t firsts(std::uint64_t word) { return word % broken / one_first; }
std::uint64_t round_of(std::uint64_t word) { return word / one_round; }
std::uint64_t next_round(std::uint64_t word) { return (round_of(word) + 1) * one_round; }

std::uint64_t step_of(arriving how) {
  switch (how) {
    case arriving::waits:
    case arriving::polls:
      return one_came;
    case arriving::meets:
    case arriving::passes:
      return one_came + one_nowait;
    case arriving::passes_first:
      return one_came + one_nowait + one_first;
  }
  return 0;
}

/// Whether those who have come belong to another call, or to a region that is over.
bool are_strangers(std::uint64_t before, arriving how) {
  if ((before & broken) != 0) return true;
  bool const others_wait = came(before) != nowaits(before), others_went_on = firsts(before) != 0;
  switch (how) {
    case arriving::waits:
    case arriving::polls:
      return nowaits(before) != 0;
    case arriving::meets:
    case arriving::passes_first:
      return others_wait || others_went_on;
    case arriving::passes:
      return others_wait;
  }
  return false;
}

}  // namespace

arrival arrivals::add(std::uint32_t threads, arriving how) {
  // Publishes what this thread has reduced, and acquires what the others have: the last to come may fold it.
  runtime::tell_release(&apart_.word);
  std::uint64_t const before = apart_.word.fetch_add(step_of(how), std::memory_order_acq_rel);
  runtime::tell_acquire(&apart_.word);
  if (are_strangers(before, how)) {
    apart_.word.fetch_sub(step_of(how), std::memory_order_relaxed);
    apart_.word.fetch_or(broken, std::memory_order_relaxed);
    bool const waits = how == arriving::waits || how == arriving::polls;
    fail(before, waits ? "another one now calls combine()" : "the next combination has begun");
  }
  if (came(before) == 0 && threads_.load(std::memory_order_relaxed) != threads)
    threads_.store(threads, std::memory_order_relaxed);
  if (came(before) + 1 == threads) {
    apart_.word.store(next_round(before), std::memory_order_relaxed);  // the others ask for it after a barrier
    return {round_of(before), true};
  }
  bool const others_wait = how == arriving::waits || how == arriving::meets;
  if (others_wait && came(before) == 0 && overseen_in_ != numa::process_number()) {
    oversee(*this);
    overseen_in_ = numa::process_number();
  }
  return {round_of(before), false};
}

void arrivals::require_complete(std::uint64_t round) {
  std::uint64_t const now = apart_.word.load(std::memory_order_relaxed);
  if (round_of(now) != round) [[likely]]
    return;
  apart_.word.fetch_or(broken | one_first, std::memory_order_relaxed);  // nobody waits here any more
  fail(now, "the others have met it at another barrier");
}

bool arrivals::is_complete(std::uint64_t round) const noexcept {
  return round_of(apart_.word.load(std::memory_order_relaxed)) != round;
}

[[gnu::cold]] bool arrivals::give_up(std::uint64_t round) noexcept {
  std::uint64_t now = apart_.word.load(std::memory_order_relaxed);
  // The last one may have come, and is about to say so.
  while (round_of(now) == round && came(now) < threads_.load(std::memory_order_relaxed))
    if (apart_.word.compare_exchange_weak(now, now | broken | one_first, std::memory_order_relaxed)) return true;
  return false;
}

void arrivals::require_none() const {
  std::uint64_t const now = apart_.word.load(std::memory_order_relaxed);
  if (came(now) != 0) [[unlikely]]
    fail(now, "their region is over");
}

void arrivals::begin_anew() noexcept {
  apart_.word.store(next_round(apart_.word.load(std::memory_order_relaxed)), std::memory_order_relaxed);
}

bool arrivals::are_incomplete() const noexcept { return came(apart_.word.load(std::memory_order_relaxed)) != 0; }

std::uint64_t arrivals::wait() const noexcept {
  std::uint64_t const now = apart_.word.load(std::memory_order_relaxed);
  return came(now) == 0 || firsts(now) != 0 ? 0 : round_of(now) + 1;
}

std::string arrivals::in_words() const { return in_words(apart_.word.load(std::memory_order_relaxed)); }

std::string arrivals::in_words(std::uint64_t word) const {
  return text::format("{} of {} threads {} called combine({}) on a {}", came(word),
                      threads_.load(std::memory_order_relaxed), came(word) == 1 ? "has" : "have",
                      nowaits(word) != 0 ? "nowait" : "", of_.in_words());
}

std::string arrivals::wait_in_words(std::chrono::nanoseconds waited) const {
  return text::format(
      "{}, and waits {} in its region for the others\ncoset:   every thread of the region has to call it, "
      "not inside master, single, sections or a branch that some skip",
      in_words(), runtime::time_in_words(static_cast<std::uint64_t>(waited.count())));
}

void arrivals::fail(std::uint64_t word, char const* what_then) const {
  throw mismatch_error(text::format(
      "{}, and {}: every thread of a region has to make the same call, not inside master, single, sections or a branch "
      "that some skip; reset() discards what was not combined",
      in_words(word), what_then));
}

}  // namespace coset::reducer_room

namespace coset::inline COSET_ABI::detail {

arrival arrive(reducer_core& core, std::uint32_t threads, arriving how) { return core.arrivals().add(threads, how); }
void require_complete(reducer_core& core, arrival mine) { core.arrivals().require_complete(mine.round); }
void require_no_arrivals(reducer_core& core) { core.arrivals().require_none(); }

sole_combination::sole_combination(reducer_core& core) : of_(core) {
  if (core.begin_alone()) return;
  throw argument_error(
      text::format("two threads combine a {} at the same time: call it once, after all tasks and threads have reduced",
                   core.in_words()));
}
sole_combination::~sole_combination() { of_.end_alone(); }

}  // namespace coset::detail
