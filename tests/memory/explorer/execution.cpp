// SPDX-License-Identifier: Apache-2.0
#include "memory/explorer/execution.hpp"

#include <cxxabi.h>

#include <algorithm>
#include <bit>
#include <stdexcept>

#include "memory/explorer/memories.hpp"

namespace coset::memory_test {

thread_local execution* at_work = nullptr;
bool is_exploring = false;

namespace {

exceptions_under_way& exceptions() { return *reinterpret_cast<exceptions_under_way*>(abi::__cxa_get_globals()); }

}  // namespace

bool execution::begin_next(std::uint64_t number) {
  by_chance_ = within_.random != 0;
  if (by_chance_) {
    chance_.seed(number);
    return number < within_.random;
  }
  bool const more = search_.begin_next();
  found_.all = !more && !search_.was_bounded();
  return more && number < within_.executions;
}

void execution::run(program const& what) {
  model_.begin();
  locks_.clear();
  memories::all().begin();
  written_.clear();
  events_.clear();
  naps_ = within_.naps;
  is_old_ = false;
  number_ = what.threads.size();
  for (thread_number t = 0; t < number_; ++t) {
    thread& each = threads_[t];
    each.body = what.threads[t];
    each.exceptions = {};
    each.has_begun = each.has_ended = false;
    each.looks.clear();
    each.same.clear();
    each.spins = false;
    each.tries = each.clock = 0;
    each.loop.clear();
    each.sleeps_on = each.wants = nullptr;
  }
  start_all();
  if (found_.fault.empty()) {
    std::string const wrong = what.fault();
    if (!wrong.empty()) fail(wrong);
  }
  if (!is_old_) ++found_.executions;
  found_.longest = std::max<std::uint64_t>(found_.longest, events_.size());
}

void execution::enter() {
  execution& all = *at_work;
  thread& self = all.mine();
  try {
    is_exploring = false;
    self.body();
    is_exploring = true;
  } catch (std::exception const& thrown) {
    is_exploring = true;
    all.fail(std::string("a thread ends with an exception: ") + thrown.what());
  }
  self.has_ended = true;
  auto const next = all.choose_next();
  next ? all.switch_to(*next) : all.switch_back();
}

void execution::start(thread_number t) {
  thread& each = threads_[t];
  getcontext(&each.context);
  each.context.uc_stack = {};
  each.context.uc_stack.ss_sp = each.stack.get();
  each.context.uc_stack.ss_size = stack_bytes;
  each.context.uc_link = nullptr;
  makecontext(&each.context, &execution::enter, 0);
  current_ = t;
  exceptions() = each.exceptions;
  swapcontext(&outside_, &each.context);
}

/// Each comes to its first operation; then one of them goes on.
void execution::start_all() {
  inside_ = is_exploring = true;
  std::swap(exceptions_outside_, exceptions());
  for (thread_number t = 0; t < number_ && found_.fault.empty(); ++t) start(t);
  if (found_.fault.empty()) {
    if (auto const first = choose_next()) {
      current_ = *first;
      exceptions() = threads_[current_].exceptions;
      swapcontext(&outside_, &threads_[current_].context);
    }
  }
  exceptions() = exceptions_outside_;
  exceptions_outside_ = {};
  inside_ = is_exploring = false;
}

void execution::switch_to(thread_number to) {
  thread_number const from = std::exchange(current_, to);
  if (from == to) return;
  threads_[from].exceptions = exceptions();
  exceptions() = threads_[to].exceptions;
  swapcontext(&threads_[from].context, &threads_[to].context);
}

void execution::switch_back() {
  threads_[current_].exceptions = exceptions();
  swapcontext(&threads_[current_].context, &outside_);
}

bool execution::can_go_on(thread const& t) const {
  if (t.sleeps_on != nullptr) return false;
  if (t.wants != nullptr) {
    auto const at = locks_.find(t.wants);
    if (at != locks_.end() && at->second.taken) return false;
  }
  return t.loop.empty() ||
         std::ranges::any_of(t.loop, [&](look const& l) { return model_.latest(l.object) > l.which; });
}

std::optional<thread_number> execution::choose_next() {
  crossing here;
  bool all_ended = true, all_begun = true;
  for (thread_number t = 0; t < number_; ++t) {
    thread const& each = threads_[t];
    all_begun &= each.has_begun || each.has_ended;
    if (each.has_ended) continue;
    all_ended = false;
    here.next[t] = each.next;
    if (can_go_on(each)) here.enabled |= thread_set{1} << t;
    if (each.spins) here.spinning |= thread_set{1} << t;
  }
  if (!all_begun) return {};  // back to where they are started
  if (all_ended) return {};
  if (here.enabled == 0) {
    nap_or_fail();
    return found_.fault.empty() ? choose_next() : std::nullopt;
  }
  bool const goes_on = (here.enabled >> current_ & 1) != 0 && !threads_[current_].spins;
  if (goes_on) here.running = current_;
  if (by_chance_) {
    if (goes_on && chance_() % 4 != 0) return current_;
    std::vector<thread_number> able;
    for (thread_number t = 0; t < number_; ++t) {
      if ((here.enabled >> t & 1) != 0) able.push_back(t);
    }
    return able[chance_() % able.size()];
  }
  if (!is_old_) {
    if (!search_.is_as_before(here)) {
      for (thread_number t = 0; t < number_; ++t) note(t, "is about to go on", threads_[t].waits_at);
      fail("the program is not the same in each execution");
      return {};
    }
    auto const chosen = search_.choose_thread(here, next_in_turn(here.enabled));
    if (chosen) return chosen;
    is_old_ = true;  // it ends somehow, so that its threads leave nothing behind
  }
  return goes_on ? current_ : next_in_turn(here.enabled);
}

/// Those that do not spin come first, and then in a circle.
thread_number execution::next_in_turn(thread_set of) const {
  thread_set busy = of;
  for (thread_number t = 0; t < number_; ++t) {
    if (threads_[t].spins) busy &= ~(thread_set{1} << t);
  }
  if (busy != 0) return static_cast<thread_number>(std::countr_zero(busy));
  thread_number next = current_;
  do {
    next = (next + 1) % number_;
  } while ((of >> next & 1) == 0);
  return next;
}

/// Time passes when nobody can do anything: those who sleep for a while wake up.
void execution::nap_or_fail() {
  bool woke = false;
  for (thread_number t = 0; t < number_ && naps_ != 0; ++t) {
    if (threads_[t].has_ended || threads_[t].sleeps_on == nullptr) continue;
    threads_[t].sleeps_on = nullptr;
    woke = true;
  }
  if (woke) {
    --naps_;
    return;
  }
  for (thread_number t = 0; t < number_; ++t) {
    if (!threads_[t].has_ended) note(t, "waits", threads_[t].waits_at);
  }
  fail("nobody can go on");
}

void execution::go_on_with(footprint const& what) {
  thread& self = mine();
  self.next = what;
  self.has_begun = true;
  if (events_.size() > longest_execution) fail("this does not end");
  auto const next = choose_next();
  next ? switch_to(*next) : switch_back();
  self.wants = nullptr;
  self.loop.clear();
}

/// The latest, or one that is old although what replaced it had to come before. To read any other is the same as to read
/// it before it was replaced, which is another order.
std::uint32_t execution::choose_value(std::size_t object, std::uint32_t oldest, std::uint32_t latest) {
  if (by_chance_) return oldest + static_cast<std::uint32_t>(chance_() % (latest - oldest + 1));
  if (is_old_) return latest;
  std::uint32_t end = oldest;
  while (end < latest && search_.is_before(written_[{object, end + 1}], current_)) ++end;
  std::uint32_t const chosen = search_.choose_outcome(end - oldest + 1);
  return chosen == end - oldest ? latest : oldest + chosen;
}

void execution::note_written(std::size_t object) { written_[{object, model_.latest(object)}] = search_.depth(); }

void execution::done(footprint const& touched, void const* from, char const* what, std::optional<std::uint64_t> value) {
  if (!by_chance_ && !is_old_) search_.note(current_, touched);
  events_.push_back({current_, what, value, from});
}

void execution::note(thread_number t, char const* what, void const* from) { events_.push_back({t, what, {}, from}); }

void execution::fail(std::string const& why) {
  if (!found_.fault.empty()) return;
  found_.fault = why;
  found_.path = events_;
  if (inside_) switch_back();  // for good: what the threads hold is lost
}

void execution::wake(void const* futex) {
  for (thread& t : threads_) {
    if (t.sleeps_on == futex) t.sleeps_on = nullptr;
  }
}

}  // namespace coset::memory_test
