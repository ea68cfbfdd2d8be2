// SPDX-License-Identifier: Apache-2.0
#include "planning/choice/learner.hpp"

#include <algorithm>
#include <numeric>

namespace coset::choice {
namespace {

/// Fewer samples say little.
constexpr std::uint32_t least_samples = 3;
/// Of the fastest: not worth another look.
constexpr std::uint64_t hopeless_percent = 150;
/// What another candidate has to gain, so that equal ones do not take turns.
constexpr std::uint64_t worth_percent = 98;
/// Cycles decide up to so many times the length of calls: in longer ones the caller's own work hides the differences.
constexpr std::uint64_t longest_cycle = 4;
/// What cycles count for if their calls are far slower: the caller may come to work less between calls.
constexpr std::uint64_t slow_calls_percent = 110;
/// What a deviation has to have brought, so that the next one is looked at soon.
constexpr std::uint64_t gain_percent = 110;
/// What the chosen one may take more than another one took.
constexpr std::uint64_t outdone_percent = 105;
/// What differs that much is another state of the machine.
constexpr std::uint64_t deviation_percent = 125;
/// Of the time, for measuring others: one call in so many.
constexpr std::uint64_t calls_per_measured = 100;
constexpr std::uint32_t fewest_calls = 512, most_calls = 1 << 20;
constexpr std::uint32_t first_pause = 64, longest_pause = 4096;

bool exceeds(std::uint64_t a, std::uint64_t b, std::uint64_t percent) { return a * 100 > b * percent; }

template <std::size_t Most>
std::uint64_t sum(std::array<std::uint32_t, Most> const& all, std::uint32_t number) {
  return std::accumulate(all.begin(), all.begin() + number, std::uint64_t{0});
}

template <std::size_t Most>
std::uint64_t mean(std::array<std::uint32_t, Most> const& all, std::uint32_t number) {
  return sum(all, number) / number;
}

/// The mean without the longest and the shortest: a caller that rewrites its array before every other call pays for both kinds, of
/// which a median would see one.
template <std::size_t Most>
std::uint32_t typical(std::array<std::uint32_t, Most> const& all, std::uint32_t number) {
  if (number < 3) return static_cast<std::uint32_t>(mean(all, number));
  auto const [shortest, longest] = std::minmax_element(all.begin(), all.begin() + number);
  std::uint64_t const others = std::uint64_t{number} - 2;
  return static_cast<std::uint32_t>((sum(all, number) - *shortest - *longest) / others);
}

}  // namespace

learner::learner(unsigned candidates, learning_pace pace) noexcept
    : pace_(pace),
      candidates_(static_cast<std::uint8_t>(std::min(candidates, most_candidates))),
      exploring_(pace.before == 0),
      calls_to_next_(pace.before) {
  pace_.ahead = std::min(pace_.ahead, most_ahead - 1);
  latest_ = static_cast<std::uint8_t>(pace_.ahead + 1);  // before the first call there was none
  if (exploring_) decided_[latest_] = next_to_explore();
}

void learner::decide(step of) noexcept {
  auto const after = [&](std::uint8_t at) { return static_cast<std::uint8_t>((at + 1) % decided_.size()); };
  told_ = after(told_);
  latest_ = after(latest_);
  decided_[latest_] = {of.candidate, of.counts, epoch_};
}

call_times learner::fastest_of(record const& r) noexcept {
  auto const least = [](auto const& times, std::uint32_t number) {
    return number == 0 ? UINT32_MAX : *std::min_element(times.begin(), times.begin() + number);
  };
  return {least(r.call, r.calls), least(r.cycle, r.cycles)};
}

void learner::explore() noexcept {
  records_ = {};
  at_ = 0;
  exploring_ = true;
  ++epoch_;
}

void learner::called(call_times before) noexcept {
  bool const is_known = before.call != 0;
  if (is_known) note(decided_[told_], before);
  if (!exploring_ && ++calls_ == calls_to_next_) explore();
  bool const goes_on = exploring_ && (is_known || !pace_.gives_up);
  decide(goes_on ? next_to_explore() : step{best_, !exploring_});
}

void learner::note(step of, call_times took) noexcept {
  if (!of.counts || of.epoch != epoch_) return;
  if (!exploring_) {
    if (of.candidate == best_) settled_ ? watch(took) : settle(took);
    return;
  }
  add(records_[of.candidate], took);
}

void learner::add(record& to, call_times took) noexcept {
  if (to.calls < most_samples) to.call[to.calls++] = took.call;
  if (took.cycle != 0 && to.cycles < most_samples) to.cycle[to.cycles++] = took.cycle;
}

call_times learner::usual_of(record const& r) noexcept {
  return {typical(r.call, r.calls), r.cycles >= least_samples ? typical(r.cycle, r.cycles) : 0};
}

/// Calls between others of another storage take longer than calls among themselves, so a faster first window is what is
/// usual from now on. A slower one, or one slower than another candidate was, means that the state changed while candidates were
/// tried: what was learned holds no more.
void learner::settle(call_times took) noexcept {
  if (usual_.call == 0) return;
  record& first = records_[best_];
  add(first, took);
  if (first.calls < most_samples) return;
  settled_ = true;
  call_times const found = usual_of(first);
  bool const is_outdone = exceeds(by_cycle_ ? found.cycle : found.call, next_best_, outdone_percent);
  if (is_outdone || exceeds_by_state(found, usual_))
    deviate();
  else
    usual_ = found;
}

void learner::deviate() noexcept {
  if (calls_ < pause_) return;
  pause_ = std::clamp(2 * pause_, first_pause, longest_pause);  // choose() shortens it where that was worth it
  explore();
}

/// Cycles tell of another state where they decide, before or after: the caller may have begun to rewrite its array. That
/// can make a cycle many times as long, and only trying others tells it from a caller that has other work to do.
bool learner::exceeds_by_state(call_times slower, call_times faster) const noexcept {
  bool const cycles = slower.cycle != 0 && faster.cycle != 0 && faster.cycle <= longest_cycle * usual_.call;
  return exceeds(slower.call, faster.call, deviation_percent) ||
         (cycles && exceeds(slower.cycle, faster.cycle, deviation_percent));
}

void learner::watch(call_times took) noexcept {
  if (usual_.call == 0) return;
  auto const is_unusual = [&](call_times t) { return exceeds_by_state(t, usual_) || exceeds_by_state(usual_, t); };
  if (!alert_ && is_unusual(took)) {  // what was timed before tells of another time
    alert_ = true;
    watched_ = {};
  }
  add(watched_, took);
  if (watched_.calls < most_samples) return;
  call_times const found = usual_of(watched_);
  alert_ = false;
  watched_ = {};
  if (is_unusual(found)) deviate();
}

/// What the last call of a window took is known one call after the next one has been chosen, and later by as many as are decided
/// on ahead: so many more calls, of the best so far, end an exploration. In the first round a window ends with the first call that is far slower than another's;
/// such a candidate gets no second window.
learner::step learner::next_to_explore() noexcept {
  std::uint64_t const round = std::uint64_t{pace_.window} * candidates_;
  while (at_ / round < pace_.rounds) {
    std::uint32_t const into = at_ % pace_.window;
    auto const candidate = static_cast<std::uint8_t>(at_ / pace_.window % candidates_);
    if (pace_.gives_up && (into > pace_.skipped || at_ >= round) && is_far_slower(candidate)) {
      at_ += pace_.window - into;
      continue;
    }
    ++at_;
    return {candidate, into >= pace_.skipped};
  }
  if (at_ <= round * pace_.rounds + pace_.ahead) {
    ++at_;
    return {best_, false};
  }
  choose();
  return {best_, true};
}

call_times learner::least() const noexcept {
  call_times least{UINT32_MAX, UINT32_MAX};
  for (record const& r : records_) {
    call_times const took = fastest_of(r);
    least = {std::min(least.call, took.call), std::min(least.cycle, took.cycle)};
  }
  return least;
}

bool learner::has_far_slower_calls(unsigned candidate) const noexcept {
  record const& mine = records_[candidate];
  return mine.calls != 0 && exceeds(fastest_of(mine).call, least().call, hopeless_percent);
}

/// In its calls and, where they tell of it, in its cycles: slower calls may leave lines where the caller wants them. Of cycles no
/// fewer than two tell: one may be behind a rewritten array, and the next one not.
bool learner::is_far_slower(unsigned candidate) const noexcept {
  if (!has_far_slower_calls(candidate)) return false;
  record const& mine = records_[candidate];
  call_times const fastest = least();
  bool const cycles_tell = mine.cycles != 0 && fastest.cycle <= longest_cycle * fastest.call;
  if (!cycles_tell) return true;
  std::uint64_t least_cycle = UINT32_MAX;
  for (record const& r : records_)
    if (r.cycles > 1) least_cycle = std::min(least_cycle, mean(r.cycle, r.cycles));
  return mine.cycles > 1 && exceeds(mean(mine.cycle, mine.cycles), least_cycle, hopeless_percent);
}

bool learner::cycles_decide() const noexcept {
  std::uint64_t call = UINT32_MAX, cycle = UINT32_MAX;
  for (unsigned k = 0; k < candidates_; ++k) {
    record const& r = records_[k];
    if (is_far_slower(k)) continue;
    if (r.cycles < least_samples || r.calls < least_samples) return false;
    call = std::min<std::uint64_t>(call, typical(r.call, r.calls));
    cycle = std::min<std::uint64_t>(cycle, typical(r.cycle, r.cycles));
  }
  return cycle <= longest_cycle * call;
}

void learner::choose() noexcept {
  exploring_ = false;
  ++epoch_;
  calls_ = 0;
  alert_ = false;
  watched_ = {};
  by_cycle_ = cycles_decide();
  auto const time_of = [&](unsigned k) -> std::uint64_t {
    record const& r = records_[k];
    if (is_far_slower(k) || r.calls < least_samples) return UINT32_MAX;
    if (!by_cycle_) return typical(r.call, r.calls);
    std::uint64_t const cycle = typical(r.cycle, r.cycles);
    return has_far_slower_calls(k) ? cycle * slow_calls_percent / 100 : cycle;
  };
  unsigned found = 0;
  for (unsigned k = 1; k < candidates_; ++k) {
    if (exceeds(time_of(found) * worth_percent, time_of(k), 10'000)) found = k;
  }
  if (time_of(found) == UINT32_MAX) {  // nothing was learned
    calls_to_next_ = std::clamp(2 * calls_to_next_, fewest_calls, most_calls);
    return;
  }
  if (exceeds(time_of(best_), time_of(found), gain_percent)) pause_ /= 2;
  best_ = static_cast<std::uint8_t>(found);
  next_best_ = UINT32_MAX;
  for (unsigned k = 0; k < candidates_; ++k)
    if (k != found && time_of(k) != UINT32_MAX) next_best_ = std::min(next_best_, time_of(k));
  settled_ = false;
  usual_ = usual_of(records_[best_]);
  std::uint64_t others = 0;  // calls of the best one that measuring the others takes
  for (unsigned k = 0; k < candidates_; ++k) {
    record const& r = records_[k];
    if (k == best_ || r.calls == 0) continue;
    std::uint64_t const calls = is_far_slower(k) ? pace_.skipped + 3 : std::uint64_t{pace_.rounds} * pace_.window;
    others += calls * typical(r.call, r.calls) / std::max(usual_.call, 1u);
  }
  calls_to_next_ =
      static_cast<std::uint32_t>(std::clamp<std::uint64_t>(others * calls_per_measured, fewest_calls, most_calls));
  records_[best_] = {};
}

}  // namespace coset::choice
