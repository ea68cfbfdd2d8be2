// SPDX-License-Identifier: Apache-2.0
// Threads of a program are contexts of one thread of the system, of which one goes on at each atomic operation.
#include "memory/explorer.hpp"

#include <cxxabi.h>
#include <ucontext.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <stdexcept>
#include <utility>

#include "memory/search.hpp"
#include "memory/sites.hpp"

namespace coset::memory_test {
namespace {

constexpr std::size_t stack_bytes = 512 * 1024;
/// So often a loop is gone through in vain before it counts as one that waits for others.
constexpr std::size_t looks_in_vain = 2;
/// So often a thread may read the same in one place until others come first, and it reads what is new.
constexpr unsigned looks_in_turn = 3;
constexpr std::size_t longest_execution = 5000;

/// Of the C++ runtime: exceptions being handled. Each context has its own.
struct exceptions_under_way {
  void* caught;
  unsigned uncaught;
};

struct look {
  std::size_t object;
  std::uint32_t which;
  void const* from;
  friend bool operator==(look const&, look const&) = default;
};

struct thread {
  ucontext_t context{};
  std::unique_ptr<std::byte[]> stack = std::make_unique<std::byte[]>(stack_bytes);
  exceptions_under_way exceptions{};
  std::function<void()> body;
  bool has_begun = false, has_ended = false;

  footprint next;                   ///< what it is about to do
  void const* waits_at = nullptr;   ///< the code of it
  std::vector<look> loop;           ///< what it waits for to change; empty: it can go on
  void const* wants = nullptr;      ///< a lock
  void const* sleeps_on = nullptr;  ///< a futex; null: it can go on
  std::vector<look> looks;          ///< since it last wrote
  std::map<std::pair<std::size_t, void const*>, std::pair<std::uint32_t, unsigned>>
      same;            ///< [object, place]: read so often
  bool spins = false;  ///< it has read the same so often that it is the others' turn
};

struct event {
  thread_number thread;
  std::string what;
  void const* from;
};

struct lock_state {
  bool taken = false;
  view released;
};

class execution {
 public:
  execution(bounds const& within, findings& found) : within_(within), found_(found), search_(within.preemptions) {}

  bool begin_next(std::uint64_t number);
  void run(program const&);

  bool has_membarrier() const { return within_.membarrier; }
  bool is_inside() const { return inside_; }
  thread_number current() const { return current_; }
  thread& mine() { return threads_[current_]; }
  memory_test::model& model() { return model_; }

  void go_on_with(footprint const&);
  /// Of values [oldest, latest] of an object.
  std::uint32_t choose_value(std::size_t object, std::uint32_t oldest, std::uint32_t latest);
  void note_written(std::size_t object);
  void done(footprint const&, void const* from, std::string what);
  void fail(std::string const&);
  lock_state& lock_at(void const* mutex) { return locks_[mutex]; }
  void wake(void const* futex);

 private:
  static void enter();
  void start(thread_number);
  void start_all();
  void switch_to(thread_number);
  void switch_back();
  bool can_go_on(thread const&) const;
  std::optional<thread_number> choose_next();
  thread_number next_in_turn(thread_set) const;
  void nap_or_fail();

  bounds const within_;
  findings& found_;
  memory_test::model model_;
  search search_;
  std::mt19937_64 chance_;
  bool by_chance_ = false, is_old_ = false;
  bool inside_ = false;
  std::array<thread, most_threads> threads_;
  std::size_t number_ = 0;
  thread_number current_ = 0;
  ucontext_t outside_{};
  exceptions_under_way exceptions_outside_{};
  std::unordered_map<void const*, lock_state> locks_;
  std::map<std::pair<std::size_t, std::uint32_t>, std::size_t> written_;  ///< in which step each value of an object was
  std::vector<event> events_;
  unsigned naps_ = 0;
};

thread_local execution* at_work = nullptr;  // threads of the system besides are not explored
/// The explorer's own work is not part of the program, though both may share instrumented code.
bool is_exploring = false;

struct exploring {
  exploring() { is_exploring = true; }
  ~exploring() { is_exploring = false; }
  exploring(exploring const&) = delete;
  exploring& operator=(exploring const&) = delete;
};

exceptions_under_way& exceptions() { return *reinterpret_cast<exceptions_under_way*>(abi::__cxa_get_globals()); }

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
      std::string now = "the program is not the same in each execution:";
      for (thread_number t = 0; t < number_; ++t)
        now += " thread " + std::to_string(t) + " is at " + place_of(threads_[t].waits_at);
      fail(now);
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
  std::string stuck = "nobody can go on:";
  for (thread_number t = 0; t < number_; ++t) {
    if (!threads_[t].has_ended) stuck += " thread " + std::to_string(t) + " waits at " + place_of(threads_[t].waits_at);
  }
  fail(stuck);
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

void execution::done(footprint const& what, void const* from, std::string said) {
  if (!by_chance_ && !is_old_) search_.note(current_, what);
  events_.push_back({current_, std::move(said), from});
}

void execution::fail(std::string const& why) {
  if (!found_.fault.empty()) return;
  found_.fault = why;
  for (event const& e : events_)
    found_.fault += "\n  thread " + std::to_string(e.thread) + ": " + e.what + "  " + place_of(e.from);
  if (inside_) switch_back();  // for good: what the threads hold is lost
}

void execution::wake(void const* futex) {
  for (thread& t : threads_) {
    if (t.sleeps_on == futex) t.sleeps_on = nullptr;
  }
}

/// What a thread waits for that has twice read the same values in the same places, one after another, and is about to
/// begin once more: for one of them to change.
std::vector<look> loop_at(thread const& t, std::size_t object, void const* from) {
  auto const& looks = t.looks;
  for (std::size_t length = 1; length * looks_in_vain <= looks.size(); ++length) {
    auto const last = looks.end() - static_cast<std::ptrdiff_t>(length);
    if (last->object != object || last->from != from) continue;
    return std::equal(last, looks.end(), last - static_cast<std::ptrdiff_t>(length))
               ? std::vector<look>(last, looks.end())
               : std::vector<look>();
  }
  return {};
}

std::string number(std::uint64_t n) { return std::to_string(n); }

std::uint64_t load(operation const& op, std::size_t object) {
  execution& all = *at_work;
  model& of = all.model();
  thread& self = all.mine();
  footprint touched;
  touched.add(op.address, false);
  std::vector<look> const loop = loop_at(self, object, op.from);
  self.loop = loop;
  self.waits_at = op.from;
  for (look const& l : loop) touched.add(of.address_of(l.object), false);
  auto& [same, times] = self.same[{object, op.from}];
  self.spins = times >= looks_in_turn && same == of.latest(object);
  all.go_on_with(touched);
  self.spins = false;
  std::uint32_t oldest = of.oldest_for(all.current(), object, op.order);
  std::uint32_t const latest = of.latest(object);
  if (times >= looks_in_turn && latest > same) oldest = std::max(oldest, same + 1);
  if (!loop.empty() && latest > loop.front().which) oldest = std::max(oldest, loop.front().which + 1);
  std::uint32_t const which = all.choose_value(object, oldest, latest);
  std::uint64_t const value = of.load(all.current(), object, which, op.order);
  self.looks.push_back({object, which, op.from});
  times = same == which ? times + 1 : 1;
  same = which;
  all.done(touched, op.from, "reads " + number(value) + (which == latest ? "" : ", which is old,"));
  return value;
}

std::uint64_t changed(operation const& op, std::uint64_t old) {
  std::uint64_t const mask = op.bytes == 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << 8 * op.bytes) - 1;
  switch (op.what) {
    case operation::kind::add:
      return (old + op.operand) & mask;
    case operation::kind::subtract:
      return (old - op.operand) & mask;
    case operation::kind::bit_and:
      return old & op.operand;
    case operation::kind::bit_or:
      return old | op.operand;
    default:
      return op.operand;
  }
}

std::uint64_t write(operation const& op, std::size_t object) {
  execution& all = *at_work;
  model& of = all.model();
  footprint touched;
  touched.add(op.address, true);
  all.mine().waits_at = op.from;
  all.go_on_with(touched);
  all.mine().looks.clear();
  if (op.what == operation::kind::store) {
    of.store(all.current(), object, op.operand, op.order);
    all.note_written(object);
    all.done(touched, op.from, "writes " + number(op.operand));
    return 0;
  }
  if (op.what == operation::kind::compare_exchange) {
    std::uint64_t const there = of.latest_value(object);
    if (there != op.expected) {
      of.load(all.current(), object, of.latest(object), op.order_of_failure);
      all.done(touched, op.from, "does not exchange " + number(there));
      return there;
    }
  }
  std::uint64_t const old =
      of.modify(all.current(), object, op.order, [&](std::uint64_t before) { return changed(op, before); });
  all.note_written(object);
  all.done(touched, op.from, "changes " + number(old) + " to " + number(changed(op, old)));
  return old;
}

}  // namespace

findings explore(std::function<program()> const& make, bounds const& within) {
  findings found;
  auto const all = std::make_unique<execution>(within, found);
  at_work = all.get();
  for (std::uint64_t number = 0; found.fault.empty() && all->begin_next(number); ++number) all->run(make());
  at_work = nullptr;
  return found;
}

bool is_explored() noexcept { return at_work != nullptr && at_work->is_inside() && !is_exploring; }

void expect(bool holds, char const* what) {
  exploring const here;
  if (!holds) at_work->fail(what);
}

std::uint64_t perform(operation const& op) {
  exploring const here;
  execution& all = *at_work;
  if (op.what == operation::kind::fence) {
    footprint touched;
    touched.add(&all, true);  // fences have an order
    all.go_on_with(touched);
    all.model().fence(all.current(), op.order);
    all.done(touched, op.from, "makes a fence");
    return 0;
  }
  std::size_t const object = all.model().object_at(op.address, op.bytes);
  return op.what == operation::kind::load ? load(op, object) : write(op, object);
}

void perform_fence_of_all() {
  exploring const here;
  execution& all = *at_work;
  if (!all.has_membarrier()) return;
  footprint touched;
  touched.add_everything();
  all.go_on_with(touched);
  all.model().fence_all();
  all.done(touched, nullptr, "makes a fence of all threads");
}

void access(void const* at, std::size_t bytes, bool writes, void const* from) {
  exploring const here;
  execution& all = *at_work;
  auto const stack = reinterpret_cast<std::uintptr_t>(all.mine().stack.get());
  if (reinterpret_cast<std::uintptr_t>(at) - stack < stack_bytes) return;
  std::string const race = all.model().access(all.current(), at, bytes, writes);
  if (race.empty()) return;
  all.fail("thread " + number(all.current()) + (writes ? " writes: " : " reads: ") + race + "  " + place_of(from));
}

void allocated(void const* at, std::size_t bytes) {
  exploring const here;
  at_work->model().forget(at, bytes);
}

void lock(void const* mutex) {
  exploring const here;
  execution& all = *at_work;
  footprint touched;
  touched.add(mutex, true);
  all.mine().wants = mutex;
  all.go_on_with(touched);
  lock_state& taken = all.lock_at(mutex);
  taken.taken = true;
  all.model().acquire_from(taken.released, all.current());
  all.mine().looks.clear();
  all.done(touched, nullptr, "locks");
}

bool try_lock(void const* mutex) {
  exploring const here;
  execution& all = *at_work;
  footprint touched;
  touched.add(mutex, true);
  all.go_on_with(touched);
  lock_state& there = all.lock_at(mutex);
  bool const free = !std::exchange(there.taken, true);
  if (free) all.model().acquire_from(there.released, all.current());
  all.done(touched, nullptr, free ? "locks" : "finds it locked");
  return free;
}

void unlock(void const* mutex) {
  exploring const here;
  execution& all = *at_work;
  footprint touched;
  touched.add(mutex, true);
  all.go_on_with(touched);
  lock_state& taken = all.lock_at(mutex);
  taken.taken = false;
  all.model().release_to(taken.released, all.current());
  all.done(touched, nullptr, "unlocks");
}

/// The system looks at the word with its own lock, and at the latest value.
void sleep_on(void const* half, std::uint32_t seen) {
  exploring const here;
  execution& all = *at_work;
  auto const word = reinterpret_cast<void const*>(reinterpret_cast<std::uintptr_t>(half) & ~std::uintptr_t{7});
  footprint looking;
  looking.add(word, false);
  looking.add(static_cast<char const*>(half) + 1, true);  // the queue
  all.go_on_with(looking);
  std::uint32_t now;
  std::memcpy(&now, half, sizeof now);
  all.done(looking, nullptr, now == seen ? "goes to sleep" : "need not sleep");
  all.mine().looks.clear();
  if (now != seen) return;
  all.mine().sleeps_on = half;
  footprint waking;
  waking.add(static_cast<char const*>(half) + 1, true);
  all.go_on_with(waking);
  all.done(waking, nullptr, "wakes up");
}

void wake_all(void const* half) {
  exploring const here;
  execution& all = *at_work;
  footprint touched;
  touched.add(static_cast<char const*>(half) + 1, true);
  all.go_on_with(touched);
  all.wake(half);
  all.mine().looks.clear();
  all.done(touched, nullptr, "wakes others");
}

}  // namespace coset::memory_test
