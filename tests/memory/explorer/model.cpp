// SPDX-License-Identifier: Apache-2.0
#include "memory/explorer/model.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>

namespace coset::memory_test {
namespace {

bool acquires(std::memory_order order) {
  return order == std::memory_order_acquire || order == std::memory_order_consume ||
         order == std::memory_order_acq_rel || order == std::memory_order_seq_cst;
}

bool releases(std::memory_order order) {
  return order == std::memory_order_release || order == std::memory_order_acq_rel || order == std::memory_order_seq_cst;
}

/// Which of the eight bytes around it an access touches.
std::uint8_t bytes_of(std::uintptr_t begin, std::uintptr_t end, std::uintptr_t granule) {
  std::uint8_t touched = 0;
  for (std::uintptr_t at = std::max(begin, granule); at < std::min(end, granule + 8); ++at)
    touched = static_cast<std::uint8_t>(touched | 1u << (at - granule));
  return touched;
}

}  // namespace

void view::raise(std::size_t object, std::uint32_t to) {
  if (oldest.size() <= object) oldest.resize(object + 1);
  oldest[object] = std::max(oldest[object], to);
}

void view::join_values(view const& other) {
  if (oldest.size() < other.oldest.size()) oldest.resize(other.oldest.size());
  for (std::size_t o = 0; o < other.oldest.size(); ++o) oldest[o] = std::max(oldest[o], other.oldest[o]);
}

void view::join(view const& other) {
  join_values(other);
  for (std::size_t t = 0; t < most_threads; ++t) happened[t] = std::max(happened[t], other.happened[t]);
}

void model::begin() {
  objects_.clear();
  numbers_.clear();
  plain_.clear();
  known_ = {};
  of_fences_ = {};
  order_.clear();
  for (thread_number t = 0; t < most_threads; ++t) tick(t);
}

std::size_t model::object_at(void const* address, std::size_t bytes) {
  auto const [at, is_new] = numbers_.try_emplace(address, objects_.size());
  if (!is_new) {
    if (objects_[at->second].bytes != bytes) throw std::logic_error("an atomic object is used with two sizes");
    return at->second;
  }
  modified made{const_cast<void*>(address), bytes, {}, {}};
  std::uint64_t value = 0;
  std::memcpy(&value, address, bytes);
  made.written.push_back({value, {}});
  objects_.push_back(std::move(made));
  return objects_.size() - 1;
}

/// A sequentially consistent load reads nothing older than what one before it in S has read or written.
std::uint32_t model::oldest_for(thread_number t, std::size_t o, std::memory_order order) const {
  std::uint32_t oldest = known_[t].now.at(o);
  if (order != std::memory_order_seq_cst) return oldest;
  set_of_ordered const before = ordered_before(t);
  for (ordered const& each : objects_[o].in_order) {
    if (before[each.which]) oldest = std::max(oldest, each.value);
  }
  return oldest;
}

/// What happens before the thread's next operation comes before it in S, too.
model::set_of_ordered model::ordered_before(thread_number t) const {
  set_of_ordered all;
  for (std::size_t each = 0; each < order_.size(); ++each) {
    place_in_order const& of = order_[each];
    if (known_[t].now.happened[of.by] >= of.clock) all |= of.before | set_of_ordered().set(each);
  }
  return all;
}

/// Operations of one object have the order of the values that they read and write. Who reads an old value comes before those
/// that know a later one, and before all that come after these.
void model::take_place_in_order(thread_number t, std::size_t o, std::uint32_t value, bool writes) {
  std::size_t const self = order_.size();
  if (self == most_ordered) throw std::length_error("too many sequentially consistent operations");
  order_.push_back({t, known_[t].now.happened[t], ordered_before(t)});
  set_of_ordered& before = order_.back().before;
  std::vector<std::size_t> later;
  for (ordered const& each : objects_[o].in_order) {
    bool const is_before = each.value < value || (each.value == value && each.writes);
    if (is_before) before |= order_[each.which].before | set_of_ordered().set(each.which);
    if (each.value > value) later.push_back(each.which);
  }
  objects_[o].in_order.push_back({self, value, writes});
  set_of_ordered const with_self = set_of_ordered(before).set(self);
  for (std::size_t other = 0; other < self; ++other) {
    bool const comes_later =
        std::ranges::any_of(later, [&](std::size_t first) { return other == first || order_[other].before[first]; });
    if (comes_later) order_[other].before |= with_self;
  }
}

void model::take_in(thread_number t, std::size_t o, std::uint32_t which, std::memory_order order) {
  knowledge& mine = known_[t];
  message const& read = objects_[o].written[which];
  mine.now.raise(o, which);
  (acquires(order) ? mine.now : mine.by_acquire_fence).join(read.released);
}

std::uint64_t model::load(thread_number t, std::size_t o, std::uint32_t which, std::memory_order order) {
  tick(t);
  take_in(t, o, which, order);
  if (order == std::memory_order_seq_cst) take_place_in_order(t, o, which, false);
  return objects_[o].written[which].value;
}

std::uint64_t model::read_latest(thread_number t, std::size_t o, std::memory_order order) {
  tick(t);
  take_in(t, o, latest(o), order);
  return objects_[o].written.back().value;
}

/// A read-modify-write passes on what it has read: the release sequence goes on (C++20, [intro.races]).
void model::append(thread_number t, std::size_t o, std::uint64_t value, std::memory_order order, bool modifies) {
  knowledge& mine = known_[t];
  message made{value, modifies ? objects_[o].written.back().released : view{}};
  mine.now.raise(o, latest(o) + 1);
  made.released.join(releases(order) ? mine.now : mine.at_release_fence);
  objects_[o].written.push_back(std::move(made));
  if (order == std::memory_order_seq_cst) take_place_in_order(t, o, latest(o), true);
  tick(t);
  std::memcpy(objects_[o].address, &value, objects_[o].bytes);
}

void model::store(thread_number t, std::size_t o, std::uint64_t value, std::memory_order order) {
  append(t, o, value, order, false);
}

void model::fence(thread_number t, std::memory_order order) {
  knowledge& mine = known_[t];
  if (acquires(order)) mine.now.join(mine.by_acquire_fence);
  if (order == std::memory_order_seq_cst) {
    mine.now.join_values(of_fences_);
    of_fences_.join_values(mine.now);
  }
  if (releases(order)) mine.at_release_fence = mine.now;
  tick(t);
}

void model::fence_all() {
  for (int round = 0; round < 2; ++round) {
    for (thread_number t = 0; t < most_threads; ++t) fence(t, std::memory_order_seq_cst);
  }
}

std::string model::access(thread_number t, void const* at, std::size_t bytes, bool writes) {
  auto const begin = reinterpret_cast<std::uintptr_t>(at), end = begin + bytes;
  view const& now = known_[t].now;
  for (std::uintptr_t granule = begin & ~std::uintptr_t{7}; granule < end; granule += 8) {
    std::uint8_t const touched = bytes_of(begin, end, granule);
    shadow& there = plain_[granule];
    bool const was_written = there.writer != t && (there.written_bytes & touched) != 0;
    if (was_written && there.written > now.happened[there.writer])
      return "races with a plain write of thread " + std::to_string(there.writer);
    for (thread_number other = 0; writes && other < most_threads; ++other) {
      if (other != t && (there.read_bytes[other] & touched) != 0 && there.read[other] > now.happened[other])
        return "races with a plain read of thread " + std::to_string(other);
    }
    bool const goes_on =
        writes ? there.writer == t && there.written == now.happened[t] : there.read[t] == now.happened[t];
    if (writes) {
      there.written_bytes = static_cast<std::uint8_t>((goes_on ? there.written_bytes : 0) | touched);
      there.writer = t;
      there.written = now.happened[t];
    } else {
      there.read_bytes[t] = static_cast<std::uint8_t>((goes_on ? there.read_bytes[t] : 0) | touched);
      there.read[t] = now.happened[t];
    }
  }
  return {};
}

void model::forget(void const* at, std::size_t bytes) {
  auto const begin = reinterpret_cast<std::uintptr_t>(at);
  for (std::uintptr_t granule = begin & ~std::uintptr_t{7}; granule < begin + bytes; granule += 8)
    plain_.erase(granule);
}

}  // namespace coset::memory_test
