// SPDX-License-Identifier: Apache-2.0
#include "memory/explorer/search.hpp"

#include <algorithm>
#include <bit>
#include <stdexcept>
#include <utility>

namespace coset::memory_test {
namespace {

thread_set only(thread_number t) { return thread_set{1} << t; }
bool contains(thread_set s, thread_number t) { return (s & only(t)) != 0; }

}  // namespace

void footprint::add(void const* what, bool writes) {
  if (number_ == touches_.size()) return add_everything();
  touches_[number_++] = {what, writes};
}

bool footprint::conflicts_with(footprint const& other) const {
  if (everything_ || other.everything_) return true;
  for (std::uint32_t a = 0; a < number_; ++a) {
    for (std::uint32_t b = 0; b < other.number_; ++b) {
      bool const writes = touches_[a].writes || other.touches_[b].writes;
      if (writes && touches_[a].what == other.touches_[b].what) return true;
    }
  }
  return false;
}

bool search::preempts(step const& s, thread_number t) const { return s.at.running && *s.at.running != t; }

bool search::may_take(step const& s, thread_number t) {
  unsigned const before = &s == path_.data() ? 0 : (&s - 1)->preemptions;
  if (before + (preempts(s, t) ? 1 : 0) <= most_preemptions_) return true;
  bounded_ = true;
  return false;
}

/// Threads whose next operation was tried instead of this step, and commutes with it: to make it afterwards leads where
/// others have been.
thread_set search::asleep_after(step const& s) const {
  thread_set still = 0;
  for (thread_number t = 0; t < most_threads; ++t) {
    bool const was = contains(s.asleep | s.done, t) && t != s.thread;
    if (was && !s.at.next[t].conflicts_with(s.what)) still |= only(t);
  }
  return still;
}

bool search::begin_next() {
  depth_ = 0;
  repeated_ = 0;
  if (!std::exchange(begun_, true)) return true;
  while (!path_.empty()) {
    step& last = path_.back();
    if (++last.outcome < last.outcomes) break;
    last.done |= only(last.thread);
    thread_set left = last.to_try & ~last.done & ~last.asleep;
    while (left != 0 && !may_take(last, static_cast<thread_number>(std::countr_zero(left)))) left &= left - 1;
    if (left != 0) {
      last.thread = static_cast<thread_number>(std::countr_zero(left));
      last.outcome = 0;
      last.outcomes = 1;
      break;
    }
    path_.pop_back();
  }
  if (!path_.empty()) repeated_ = path_.size() - 1;
  return !path_.empty();
}

bool search::is_as_before(crossing const& here) const {
  if (depth_ >= path_.size()) return true;
  crossing const& before = path_[depth_].at;
  return before.enabled == here.enabled && before.next == here.next;
}

std::optional<thread_number> search::choose_thread(crossing const& here, thread_number preferred) {
  if (depth_ < path_.size()) return path_[depth_].thread;
  step made;
  made.at = here;
  if (depth_ > 0) made.asleep = asleep_after(path_[depth_ - 1]);
  thread_set const awake = here.enabled & ~made.asleep;
  bool const only_spin = (awake & ~here.spinning) == 0 && awake != here.enabled;  // for ever, without the others
  if (awake == 0 || only_spin) return {};
  thread_number const first = here.running ? *here.running : preferred;
  made.thread = contains(awake, first) ? first : static_cast<thread_number>(std::countr_zero(awake));
  made.to_try = only(made.thread);
  path_.push_back(made);
  return made.thread;
}

bool search::is_before(std::size_t at, thread_number t) const {
  thread_number const by = path_[at].thread;
  for (std::size_t i = depth_; i-- > 0;) {
    if (path_[i].thread == t) return path_[i].happened[by] > path_[at].made[by];
  }
  return false;
}

std::uint32_t search::choose_outcome(std::uint32_t outcomes) {
  step& s = path_[depth_];
  if (s.outcomes != 1 && s.outcomes != outcomes) throw std::logic_error("a load has other values than before");
  s.outcomes = outcomes;
  return s.outcome;
}

void search::note(thread_number, footprint const& what) {
  step& s = path_[depth_];
  s.what = what;
  s.preemptions = (depth_ == 0 ? 0 : path_[depth_ - 1].preemptions) + (preempts(s, s.thread) ? 1 : 0);
  s.made = {};
  if (depth_ > 0) {
    s.made = path_[depth_ - 1].made;
    ++s.made[path_[depth_ - 1].thread];
  }
  find_races(depth_);
  ++depth_;
}

/// Steps with which this one could change places, the latest first: there, its thread has to be tried, too. Not where it
/// was waiting for that very step.
void search::find_races(std::size_t at) {
  step& s = path_[at];
  thread_number const t = s.thread;
  clock known{}, all{};
  for (std::size_t i = at; i-- > 0;) {
    if (path_[i].thread != t) continue;
    known = path_[i].happened;
    break;
  }
  all = known;
  for (std::size_t i = at; i-- > 0;) {
    step& other = path_[i];
    if (other.thread == t || !other.what.conflicts_with(s.what)) continue;
    for (thread_number u = 0; u < most_threads; ++u) all[u] = std::max(all[u], other.happened[u]);
    if (other.made[other.thread] < known[other.thread]) continue;
    bool const could = contains(other.at.enabled, t);
    bool const waited = !could && other.made[t] == s.made[t];
    if (waited) continue;
    for (thread_number u = 0; u < most_threads; ++u) known[u] = std::max(known[u], other.happened[u]);
    if (at >= repeated_) other.to_try |= could ? only(t) : other.at.enabled;
  }
  s.happened = all;
  s.happened[t] = s.made[t] + 1;
}

}  // namespace coset::memory_test
