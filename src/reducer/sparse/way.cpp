// SPDX-License-Identifier: Apache-2.0
#include "reducer/sparse/way.hpp"

#include <algorithm>
#include <bit>

#include "base/text/format.hpp"
#include "coset/error.hpp"

namespace coset::reducer_room {
namespace {

/// A copy of so few bytes stays in a core's cache beside what else a loop reads: nothing is gained by keeping updates.
constexpr std::size_t short_bytes = std::size_t{512} << 10;
/// A part of the target stays in a core's cache while its updates are applied.
constexpr std::size_t part_bytes = std::size_t{512} << 10;
/// So many parts, that several threads have something to apply, and no more: each has a page that is being filled.
constexpr std::size_t least_parts = 64, most_parts = 2048;
/// With less memory pages would hardly be filled before they have to be applied; and each part has one in each thread.
constexpr std::size_t least_limit = std::size_t{32} << 20, limit_of_part = std::size_t{256} << 10;

unsigned shift_for(blocks const& shape, std::size_t limit) {
  auto const by_cache =
      static_cast<unsigned>(std::bit_width(std::max<std::size_t>(part_bytes / shape.element_bytes, 1)) - 1);
  auto const bits = static_cast<unsigned>(std::bit_width(shape.count));
  std::size_t const most = limit == 0 ? most_parts : std::clamp(limit / limit_of_part, std::size_t{1}, most_parts);
  auto const widest = static_cast<unsigned>(std::bit_width(least_parts) - 1),
             finest = static_cast<unsigned>(std::bit_width(most) - 1);
  unsigned shift = std::min(by_cache, bits > widest ? bits - widest : 0);
  shift = std::max(shift, bits > finest ? bits - finest : 0);
  // Whole words of marks, as threads that fold parts at the same time empty them.
  return std::max(shift, shape.shift + static_cast<unsigned>(std::countr_zero(word_blocks)));
}

}  // namespace

way_choice::way_choice(detail::reduced_array const& array, blocks const& shape, sparse_options const& options)
    : shape_(shape) {
  bool const could = array.later.apply_part != nullptr;
  if (options.by != way::chosen && options.by != way::partition && options.by != way::private_copies)
    throw argument_error(text::format("a sparse reducer has copies or keeps updates: there is no way {} for it",
                                      static_cast<int>(options.by)));
  if (options.by == way::partition && !could)
    throw argument_error(text::format("updates of {} bytes by {} cannot be kept for later", shape.element_bytes,
                                      array.reduction->operation));
  bool const is_order = options.by != way::chosen;
  bool const enough = options.most_bytes == 0 || options.most_bytes >= least_limit;
  // Scattered updates of copies that do not fit a limit would bring a page to the total each, and updates that are kept would
  // not leave them the memory.
  is_fixed_ = is_order || options.most_bytes != 0;
  keeps_ = could && shape.count > 0 &&
           (is_order ? options.by == way::partition : enough && shape.count * shape.element_bytes > short_bytes);
  if (!keeps_) return;
  record_bytes_ = shape.element_bytes + sizeof(std::uint32_t);
  shift_ = shift_for(shape, options.most_bytes);
  parts_ = ((shape.count - 1) >> shift_) + 1;
}

void way_choice::count(round_counts const& of) noexcept {
  updates_.fetch_add(of.updates, std::memory_order_relaxed);
  blocks_.fetch_add(of.blocks, std::memory_order_relaxed);
  copies_.fetch_add(of.copies, std::memory_order_relaxed);
}

void way_choice::forget() noexcept {
  for (auto* const each : {&updates_, &blocks_, &copies_}) each->store(0, std::memory_order_relaxed);
}

bool way_choice::next() noexcept {
  last_ = {updates_.load(std::memory_order_relaxed), blocks_.load(std::memory_order_relaxed),
           copies_.load(std::memory_order_relaxed)};
  forget();
  if (!may_keep()) return false;
  bool const before = keeps_;
  if (wants_copies_.load(std::memory_order_relaxed)) {
    keeps_ = false;
  } else if (is_fixed_ || (last_.updates == 0 && last_.blocks == 0)) {
    return false;
  } else if (keeps_) {
    keeps_ = !prefers_copies(last_);
    expected_ = 0;
  } else if (expected_ == 0) {
    expected_ = last_.blocks;
  } else {
    // Blocks say nothing of how many updates they got: if there are others, a round of updates is counted.
    keeps_ = last_.blocks > 2 * expected_ || last_.blocks < expected_ / 2;
  }
  return keeps_ != before;
}

/// The prices, in ns, are those of 64 Mi doubles on two cores: a kept update costs its way to the line and back; one of a copy
/// what the cache that holds its blocks takes, and each block is folded and emptied.
bool way_choice::prefers_copies(round_counts const& of) const noexcept {
  std::size_t const copies = std::max<std::size_t>(of.copies, 1), bytes = of.blocks * shape_.block_bytes();
  std::size_t const in_core = std::size_t{1} << 20, in_processor = std::size_t{16} << 20;
  std::size_t const each = bytes / copies <= in_core ? 1 : bytes / copies <= in_processor ? 3 : 8;
  std::size_t const by_copies = of.updates * each + bytes / 64 * 8, by_keeping = of.updates * 4;
  bool const fits = bytes <= shape_.count * shape_.element_bytes + of.updates * record_bytes_;
  return fits && by_copies < by_keeping;
}

}  // namespace coset::reducer_room
