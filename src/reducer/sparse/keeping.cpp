// SPDX-License-Identifier: Apache-2.0
// Updates that threads keep for later instead of having copies.
#include <algorithm>
#include <cstring>
#include <exception>

#include "base/text/format.hpp"
#include "coset/error.hpp"
#include "reducer/chunks.hpp"

namespace coset::inline COSET_ABI::detail {

using namespace reducer_room;

namespace {

/// One in so many updates of a full chunk is looked at.
constexpr std::size_t stride_of_looks = 32;

}  // namespace

void reducer_core::require_memory(owned_copy& copy) {
  if (copy.data == nullptr) copy.give_memory(shape_, capped());
}

sparse_access reducer_core::access(private_copy& of) {
  auto& copy = static_cast<owned_copy&>(of);
  sparse_access found;
  if (!ways_.keeps() || copy.is_plain) {
    require_memory(copy);
    found.fills_late = tracking_ == tracking::fills_late;
    found.shift = shape_.shift;
    found.at = copy.data;
    found.touched = copy.touched;
    found.groups = copy.groups;
    return found;
  }
  if (!copy.kept) {
    auto fresh = std::make_unique<kept_updates>();
    fresh->parts.resize(ways_.parts());
    fresh->all.begin(ways_.parts());
    // As many as there are parts may have but one update.
    std::size_t const scattered = ways_.parts() + 16;
    fresh->chunks_left = fresh->chunks_granted =
        capped() ? scattered : std::max(bytes_ / share_of_copy / update_chunks::chunk_bytes, scattered);
    if (capped()) claimed_.fetch_add(scattered * update_chunks::chunk_bytes, std::memory_order_relaxed);
    copy.kept = std::move(fresh);
  }
  found.keeps_updates = true;
  found.shift = ways_.shift();
  found.ends = copy.kept->all.ends();
  return found;
}

/// The chunks' memory stays with the thread, and so does what it has claimed.
void reducer_core::forget_updates(owned_copy& copy) {
  kept_updates& kept = *copy.kept;
  kept.all.begin(ways_.parts());
  std::ranges::fill(kept.parts, kept_updates::part());
  kept.chunks_left = kept.chunks_granted;
  kept.applied = 0;
}

bool reducer_core::may_keep_more(owned_copy& copy) noexcept {
  if (!capped()) return false;
  constexpr std::size_t chunks = 16, more = chunks * update_chunks::chunk_bytes;
  if (claimed_.fetch_add(more, std::memory_order_relaxed) + more > most_bytes_) {
    claimed_.fetch_sub(more, std::memory_order_relaxed);
    return false;
  }
  copy.kept->chunks_left += chunks;
  copy.kept->chunks_granted += chunks;
  return true;
}

std::byte* reducer_core::next_chunk(private_copy& of, std::size_t part) {
  auto& copy = static_cast<owned_copy&>(of);
  kept_updates& kept = *copy.kept;
  if (kept.chunks_left == 0 && !may_keep_more(copy)) apply_early(copy);
  std::byte* const next = kept.all.next_chunk(part);
  --kept.chunks_left;
  if (++kept.parts[part].chunks > 1) look_at_chunk(kept, part);
  return next;
}

void reducer_core::look_at_chunk(kept_updates& kept, std::size_t part) const noexcept {
  std::size_t const updates = updates_of_chunk_, bytes = parts_[0].array.later.record_bytes;
  std::byte const* const begin = kept.all.ends()[part] - updates * bytes;
  for (std::size_t at = 0; at < updates; at += stride_of_looks, ++kept.parts[part].looks) {
    std::uint32_t key = 0;
    std::memcpy(&key, begin + at * bytes, sizeof key);
    kept.parts[part].seen |= std::uint64_t{1} << (key >> shape_.shift) % 64;
  }
}

/// To the thread's own copy, in the order of its updates; under a limit to the total, whose parts have locks.
void reducer_core::apply_early(owned_copy& copy) {
  runtime::computing_in const mode(mode_, computes_);
  if (!capped()) require_memory(copy);
  owned_copy& to = capped() ? total_for_spills() : copy;
  std::size_t applied = copy.kept->applied;
  for (std::size_t part = 0; part < ways_.parts(); ++part) {
    std::size_t const here = kept(copy, part);
    if (here > 0) apply_early(copy, part, to);
    applied += here;
  }
  forget_updates(copy);
  copy.kept->applied = applied;
  if (capped() && spills_.fetch_add(1, std::memory_order_relaxed) == 0) log();
}

void reducer_core::apply_early(owned_copy& copy, std::size_t part, owned_copy& to) {
  std::size_t const first = (part << ways_.shift()) >> shape_.shift;
  std::size_t const number = std::min((part + 1) << ways_.shift() >> shape_.shift, shape_.number()) - first;
  if (!capped()) {
    touch(to, first, number);
    return apply_part(copy, part, to.data);
  }
  std::lock_guard const lock(lock_of(first));
  for (std::size_t block = first; block < first + number; ++block)
    if (to.touched[block] == mark::untouched)
      parts_[0].fill(to.data, shape_.begin(block), shape_.begin(block + 1) - shape_.begin(block));
  to.mark_touched(first, number);
  apply_part(copy, part, to.data);
}

void reducer_core::make_plain(private_copy& of) {
  auto& copy = static_cast<owned_copy&>(of);
  require_memory(copy);
  if (!ways_.may_keep() || copy.is_plain) return;
  if (copy.kept) apply_early(copy);
  copy.is_plain = true;
  ways_.want_copies();
}

[[gnu::cold]] void reducer_core::count_and_empty(owned_copy& copy) {
  round_counts found{.updates = copy.kept ? copy.kept->applied : 0, .copies = 1};
  constexpr std::size_t of_group = reducer_room::blocks::blocks_of_group;
  for (std::size_t group = 0; copy.data != nullptr && group < shape_.groups(); ++group) {
    if (copy.groups[group] == mark::untouched) continue;
    auto const *const begin = copy.touched + group * of_group, *const end = copy.touched + shape_.number();
    found.blocks += static_cast<std::size_t>(std::count(begin, std::min(begin + of_group, end), mark::touched));
  }
  for (std::size_t part = 0; copy.kept && part < ways_.parts(); ++part)
    if (std::size_t const updates = kept(copy, part); updates > 0) {
      found.updates += updates;
      found.blocks += blocks_of(*this, copy, part, updates);
    }
  ways_.count(found);
  empty(copy);
}

[[gnu::cold]] void reducer_core::fill_untouched(owned_copy& copy) {
  renew(copy);
  require_memory(copy);
  if (copy.kept) apply_early(copy);
  for (std::size_t block = 0; tracking_ == tracking::fills_late && block < shape_.number(); ++block)
    if (copy.touched[block] == mark::untouched)
      parts_[0].fill(copy.data, shape_.begin(block), shape_.begin(block + 1) - shape_.begin(block));
}

[[gnu::cold]] void reducer_core::note_wire(wire_choice const& now) {
  bool const is_new = !wire_ || wire_->way != now.way;
  wire_ = now;
  if (is_new) log();
}

void reducer_core::finish_round() noexcept try {
  if (!ways_.may_keep()) return;
  for (owned_copy* const copy : in_order_)
    if (copy->kept && copy->generation == generation_) {
      ways_.count({.updates = copy->kept->applied});
      forget_updates(*copy);
    }
  if (ways_.next()) log();
} catch (std::exception const&) {
  // Without memory for the words of a log there are none.
}

sparse_access access_of(reducer_core& core, private_copy& copy) { return core.access(copy); }

std::byte* next_chunk(reducer_core& core, private_copy& copy, std::size_t part) { return core.next_chunk(copy, part); }

}  // namespace coset::detail
