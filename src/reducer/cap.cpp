// SPDX-License-Identifier: Apache-2.0
// What happens if private copies may not use all the memory that they need.
#include <sys/mman.h>

#include <algorithm>
#include <cstring>

#include "reducer/core.hpp"

namespace coset::inline COSET_ABI::detail {

using namespace reducer_room;

namespace {

/// Each copy may hold this much, however many there are: with less, threads would fold page by page.
constexpr std::size_t always_granted_bytes = std::size_t{64} << 10;

}  // namespace

void reducer_core::claim(owned_copy& copy, std::size_t first, std::size_t number) {
  auto const missing = [&] {
    std::size_t bytes = 0;
    for (std::size_t block = first; block < first + number; ++block)
      bytes += copy.resident[block] == 0 ? shape_.block_bytes() : 0;
    return bytes;
  };
  std::size_t wanted = missing();
  if (wanted == 0) return;
  if (claimed_.fetch_add(wanted, std::memory_order_relaxed) + wanted > most_bytes_ &&
      copy.claimed + wanted > always_granted_bytes) {
    claimed_.fetch_sub(wanted, std::memory_order_relaxed);
    spill(copy);
    wanted = missing();
    claimed_.fetch_add(wanted, std::memory_order_relaxed);
  }
  for (std::size_t block = first; block < first + number; ++block) copy.resident[block] = 1;
  copy.claimed += wanted;
}

void reducer_core::spill(owned_copy& copy) {
  runtime::computing_in const mode(mode_, computes_);
  owned_copy& to = total_for_spills();
  for (std::size_t block = 0; block < shape_.number(); ++block)
    if (copy.touched[block] == mark::touched) spill_block(to, copy, block);
  std::size_t const page = numa::page_bytes(), bytes = shape_.begin_bytes(shape_.number()) / page * page;
  madvise(copy.data, bytes, MADV_DONTNEED);
  std::fill(copy.resident.begin(), copy.resident.end(), std::uint8_t{0});
  claimed_.fetch_sub(copy.claimed, std::memory_order_relaxed);
  copy.claimed = 0;
  if (spills_.fetch_add(1, std::memory_order_relaxed) == 0) log();
}

void reducer_core::spill_block(owned_copy& total, owned_copy& copy, std::size_t block) {
  std::lock_guard const lock(lock_of(block));
  void* const to = total.data + shape_.begin_bytes(block);
  void const* const from[] = {to, copy.data + shape_.begin_bytes(block)};
  bool const first = total.touched[block] == mark::untouched;
  std::uint32_t const sources = first ? 1 : 2;
  parts_[0].array.reduction->folds->for_sources(sources)(parts_[0].array.operation.get(), &to, 1,
                                                         from + (first ? 1 : 0), sources,
                                                         shape_.begin(block + 1) - shape_.begin(block));
  total.mark_touched(block, 1);
  copy.touched[block] = mark::untouched;
}

owned_copy& reducer_core::total_for_spills() {
  owned_copy& found = total();
  std::lock_guard const lock(making_);
  if (found.generation != generation_) {
    std::memset(found.touched, 0, shape_.number());
    std::memset(found.groups, 0, shape_.groups());
  }
  found.generation = generation_;
  total_is_known_ = false;
  return found;
}

}  // namespace coset::detail
