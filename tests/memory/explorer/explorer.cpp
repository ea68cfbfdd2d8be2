// SPDX-License-Identifier: Apache-2.0
// What the operations of a program do.
#include "memory/explorer/explorer.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include "memory/explorer/execution.hpp"
#include "memory/explorer/memories.hpp"
#include "memory/explorer/sites.hpp"

namespace coset::memory_test {
namespace {

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
  all.done(touched, op.from, which == latest ? "reads" : "reads what is old", value);
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
    all.done(touched, op.from, "writes", op.operand);
    return 0;
  }
  if (op.what == operation::kind::compare_exchange) {
    std::uint64_t const there = of.latest_value(object);
    if (there != op.expected) {
      of.load(all.current(), object, of.latest(object), op.order_of_failure);
      all.done(touched, op.from, "does not exchange", there);
      return there;
    }
  }
  std::uint64_t const old =
      of.modify(all.current(), object, op.order, [&](std::uint64_t before) { return changed(op, before); });
  all.note_written(object);
  all.done(touched, op.from, "changes to", changed(op, old));
  return old;
}

/// What a thread touches that is about to change one thing, once it is its turn.
footprint turn_at(void const* what) {
  footprint touched;
  touched.add(what, true);
  at_work->go_on_with(touched);
  return touched;
}

void take(lock_state& mutex) {
  execution& all = *at_work;
  mutex.taken = true;
  all.model().acquire_from(mutex.released, all.current());
  all.mine().looks.clear();
}

void let_go(void const* mutex) {
  execution& all = *at_work;
  lock_state& taken = all.lock_at(mutex);
  taken.taken = false;
  all.model().release_to(taken.released, all.current());
}

/// Of those who sleep on something: not the thing itself.
void const* queue_of(void const* what) { return static_cast<char const*>(what) + 1; }

void sleep_until_woken(void const* on) {
  at_work->mine().sleeps_on = on;
  footprint const touched = turn_at(queue_of(on));
  at_work->done(touched, nullptr, "wakes up");
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

std::string told(findings const& found) {
  if (found.fault.empty()) return {};
  std::vector<void const*> from;
  for (event const& each : found.path) from.push_back(each.from);
  std::vector<std::string> const places = places_of(from);
  std::string text = found.fault;
  for (std::size_t k = 0; k < found.path.size(); ++k) {
    event const& each = found.path[k];
    text += "\n  thread " + std::to_string(each.thread) + " " + each.what;
    if (each.value) text += " " + std::to_string(*each.value);
    text += "  " + places[k];
  }
  return text;
}

bool is_explored() noexcept { return at_work != nullptr && at_work->is_inside() && !is_exploring; }

thread_number number_of_this_thread() noexcept { return is_explored() ? at_work->current() : 0; }

void expect(bool holds, char const* what) {
  exploring const here;
  if (!holds) at_work->fail(what);
}

std::uint64_t perform(operation const& op) {
  exploring const here;
  execution& all = *at_work;
  if (op.what == operation::kind::fence) {
    footprint const touched = turn_at(&all);  // fences have an order
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
  all.note(all.current(), writes ? "writes to memory" : "reads from memory", from);
  all.fail(race);
}

void allocated(void const* at, std::size_t bytes) {
  exploring const here;
  at_work->model().forget(at, bytes);
}

void* memory_for(std::size_t bytes, std::size_t alignment) {
  exploring const here;
  return memories::all().of_threads[at_work->current()].take(std::max<std::size_t>(bytes, 1), alignment);
}

void* pages_for(std::size_t bytes) {
  exploring const here;
  constexpr std::size_t page_bytes = 4096;
  return memories::all().pages.take(bytes, page_bytes);
}

std::uint64_t ticks() noexcept {
  exploring const here;
  std::uint64_t& clock = at_work->mine().clock;
  return clock += 10 * at_work->current() + clock % 7 + 10;
}

void lock(void const* mutex) {
  exploring const here;
  execution& all = *at_work;
  all.mine().wants = mutex;
  footprint const touched = turn_at(mutex);
  take(all.lock_at(mutex));
  all.done(touched, nullptr, "locks");
}

/// Who tries again and again waits in truth.
bool try_lock(void const* mutex) {
  exploring const here;
  execution& all = *at_work;
  thread& self = all.mine();
  if (self.tries == looks_in_vain) self.wants = mutex;
  footprint const touched = turn_at(mutex);
  lock_state& there = all.lock_at(mutex);
  bool const free = !there.taken;
  self.tries = free ? 0 : self.tries + 1;
  if (free) take(there);
  all.done(touched, nullptr, free ? "locks" : "finds it locked");
  return free;
}

void unlock(void const* mutex) {
  exploring const here;
  footprint const touched = turn_at(mutex);
  let_go(mutex);
  at_work->done(touched, nullptr, "unlocks");
}

/// The system looks at the word with its own lock, and at the latest value.
void sleep_on(void const* half, std::uint32_t seen) {
  exploring const here;
  execution& all = *at_work;
  auto const word = reinterpret_cast<void const*>(reinterpret_cast<std::uintptr_t>(half) & ~std::uintptr_t{7});
  footprint looking;
  looking.add(word, false);
  looking.add(queue_of(half), true);
  all.go_on_with(looking);
  std::uint32_t now;
  std::memcpy(&now, half, sizeof now);
  all.done(looking, nullptr, now == seen ? "goes to sleep" : "need not sleep");
  all.mine().looks.clear();
  if (now == seen) sleep_until_woken(half);
}

void wake_all(void const* half) {
  exploring const here;
  footprint const touched = turn_at(queue_of(half));
  at_work->wake(half);
  at_work->mine().looks.clear();
  at_work->done(touched, nullptr, "wakes others");
}

void wait_for_notice(void const* condition, void const* mutex) {
  {
    exploring const here;
    execution& all = *at_work;
    footprint touched;
    touched.add(mutex, true);
    touched.add(queue_of(condition), true);
    all.go_on_with(touched);
    let_go(mutex);
    all.done(touched, nullptr, "unlocks and goes to sleep");
    sleep_until_woken(condition);
  }
  lock(mutex);
}

}  // namespace coset::memory_test
