// SPDX-License-Identifier: Apache-2.0
// What the operations of a program do.
#include "memory/explorer/explorer.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include "memory/explorer/execution.hpp"
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
