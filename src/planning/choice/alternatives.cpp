// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "planning/choice/choose.hpp"
#include "planning/choice/price.hpp"
#include "planning/choice/storages.hpp"

namespace coset::choice {
namespace {

using program::copies;

/// Two looks at a clock, a record and the executor take some 70 ns of a call that is timed, and every further rank a look at its line:
/// of two ranks up to here, where storages differ by less than a third, a tenth of the call or more.
constexpr std::size_t fewest_bytes = 8 * kibibyte;
/// Staging stays as long as the team: not for trials of large arrays, unless it is cut and may serve.
constexpr std::size_t most_staged_bytes = 256 * kibibyte;
/// Streaming results past the caches cannot pay for less.
constexpr std::size_t fewest_streamed_bytes = 1 * mebibyte;

/// Of a core's own cache, what a segment may take: a rank writes and reads two layers of it in either parity, and its own
/// arrays pass through as well.
constexpr std::uint64_t part_of_cache = 8;
/// What a rank folds or copies of a segment at least, so that meeting the others costs little beside it.
constexpr std::uint64_t least_per_rank = 16 * kibibyte;
/// Arrays up to twice that cache gain nothing.
constexpr std::uint64_t caches_without_gain = 2;

/// Segments move the borders of blocks. Whatever brackets by block would give other bits on another machine.
bool brackets_alike_everywhere(question const& q, answer const& chosen) {
  return chosen.algorithm.name == "direct" || detail::only_moves(q.what);
}

}  // namespace

std::vector<program::policy> alternatives(question const& asked, answer const& chosen) {
  question const q = as_served(asked);
  bool const has_choice = !detail::is_barrier(q.what) && !has_view(q);
  if (!has_choice || q.bytes <= fewest_bytes * std::max<rank_t>(1, q.ranks / 8) || q.ranks < 2) return {};
  std::vector<program::policy> all = storages_for(q, schedule_kind::one_fold);
  std::erase_if(all, [&](program::policy const& p) {
    bool const is_long = q.bytes > most_staged_bytes && !p.returns && !is_staged_at_length(q);
    bool const is_at_once = p.how == copies::pull && p.first == program::area::staging;
    return is_at_once || (p.first == program::area::staging && is_long) ||
           (p.streams && q.bytes < fewest_streamed_bytes);
  });
  for (program::policy& p : all) {
    p.in_place = chosen.storage.in_place;
    // Over levels copies are handed on as the answer has it.
    if (p.how == copies::forward && chosen.storage.how == copies::push) p.how = copies::push;
  }
  std::erase(all, chosen.storage);
  // Of staging with and without return the one that the machine's lines speak against comes last.
  if (std::ranges::any_of(all, &program::policy::returns) || chosen.storage.returns)
    std::stable_partition(all.begin(), all.end(), [&](program::policy const& p) {
      return p.first != program::area::staging || p.returns == q.memory.hands_over;
    });
  if (all.size() > 3) all.resize(3);
  return all;
}

std::size_t staged_segment(question const& q, answer const& chosen) {
  std::uint64_t const cache = q.memory.own_cache_bytes;
  if (cache == 0 || q.crowded || q.bytes <= caches_without_gain * cache || !brackets_alike_everywhere(q, chosen))
    return 0;
  return std::max(cache / part_of_cache, q.ranks * least_per_rank);
}

std::size_t shared_segment(question const& q) {
  return q.memory.own_cache_bytes == 0 ? 0 : std::max<std::size_t>(128 * kibibyte, q.ranks * least_per_rank);
}

}  // namespace coset::choice
