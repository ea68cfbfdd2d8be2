// SPDX-License-Identifier: Apache-2.0
// Folding what was touched: runs of blocks that the same copies have touched, each in one pass, and updates that were kept.
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <vector>

#include "reducer/chunks.hpp"

namespace coset::reducer_room {
namespace {

using detail::mark;
using detail::reducer_core;
using detail::update_chunks;

constexpr std::uint64_t all_touched = 0x0101010101010101;
constexpr std::size_t most_prefetched_bytes = 512;

/// One thread's part of an array whose blocks are tracked.
class runs {
 public:
  runs(reducer_core& core, void* const* into, combining how)
      : chunks_(core, into, how, core.in_order().size()),
        shape_(core.shape()),
        everywhere_(chunks_.total() != nullptr || chunks_.replaces()) {
    for (owned_copy* const copy : core.in_order())
      if (copy->data != nullptr && chunks_.counts(*copy)) copies_.push_back(copy);
    words_.resize(copies_.size());
    run_ = now_ = words_;
  }

  /// Blocks [begin, end), from the beginning of a word to the end of one.
  void fold(std::size_t begin, std::size_t end) {
    if (copies_.empty() && !everywhere_) return;
    constexpr std::size_t of_group = blocks::blocks_of_group, stretch = of_group * sizeof(std::uint64_t);
    for (std::size_t at = begin; at < end;) {
      if (at % stretch == 0 && at + stretch <= end && is_untouched(at / of_group)) {
        at += stretch;
        continue;
      }
      std::size_t const next = std::min((at / of_group + 1) * of_group, end);
      for (; at < next; at += word_blocks) fold_word(at, std::min(at + word_blocks, end));
    }
    finish_run();
    while (folded_ < found_) fold_next();
    forget_groups(begin, end);
  }
  /// What the copies had touched, and where results are now.
  std::size_t touched() const { return touched_; }
  bool is_everywhere() const { return everywhere_; }
  std::byte* target() const { return chunks_.to(0); }

 private:
  /// Some blocks of some copies.
  struct range {
    interval blocks;
    std::vector<owned_copy*> from;
  };

  /// As many groups from this one on as a word has marks.
  bool is_untouched(std::size_t group) const {
    std::uint64_t any = 0, marks = 0;
    for (owned_copy const* const copy : copies_) {
      std::memcpy(&marks, copy->groups + group, sizeof marks);
      any |= marks;
    }
    return any == 0 && !everywhere_;
  }

  /// Others may read the marks of groups that lie in their blocks, too: those stay, and cost a look next time.
  void forget_groups(std::size_t begin, std::size_t end) {
    std::size_t const first = (begin + blocks::blocks_of_group - 1) >> detail::group_shift,
                      last = end == shape_.number() ? shape_.groups() : end >> detail::group_shift;
    for (owned_copy const* const copy : copies_)
      if (first < last && copy != chunks_.total()) std::memset(copy->groups + first, 0, last - first);
  }

  void fold_word(std::size_t begin, std::size_t end) {
    std::uint64_t any = 0;
    bool whole = end - begin == word_blocks;
    for (std::size_t c = 0; c < copies_.size(); ++c) {
      std::memcpy(&words_[c], copies_[c]->touched + begin, sizeof(std::uint64_t));
      any |= words_[c];
      whole = whole && (words_[c] == 0 || words_[c] == all_touched);
    }
    if (any == 0 && !everywhere_) return;
    if (whole) {
      std::copy(words_.begin(), words_.end(), now_.begin());
      return append(begin, end);
    }
    for (std::size_t block = begin; block < end; ++block) {
      std::size_t bits = 0;
      for (std::size_t c = 0; c < copies_.size(); ++c)
        bits |= now_[c] = copies_[c]->touched[block] == mark::touched ? 1 : 0;
      if (bits != 0 || everywhere_) append(block, block + 1);
    }
  }

  /// Blocks [begin, end) of the copies with now_[c] != 0.
  void append(std::size_t begin, std::size_t end) {
    bool const same = run_blocks_.end == begin && run_blocks_.begin < begin &&
                      std::equal(now_.begin(), now_.end(), run_.begin(),
                                 [](std::uint64_t now, std::uint64_t before) { return (now != 0) == (before != 0); });
    if (!same) {
      finish_run();
      run_blocks_.begin = begin;
      std::copy(now_.begin(), now_.end(), run_.begin());
    }
    run_blocks_.end = end;
  }

  void finish_run() {
    if (run_blocks_.begin == run_blocks_.end) return;
    if (found_ - folded_ == coming_.size()) fold_next();
    range& next = coming_[found_++ % coming_.size()];
    next.blocks = run_blocks_;
    next.from.clear();
    for (std::size_t c = 0; c < copies_.size(); ++c)
      if (run_[c] != 0) next.from.push_back(copies_[c]);
    // Scattered ranges miss all caches, one miss after the other unless prefetched; in long ranges the processor
    // prefetches. Inline, as g++ 12 drops calls of functions that do nothing but prefetch.
    std::size_t const begin = shape_.begin_bytes(run_blocks_.begin),
                      end = std::min(shape_.begin_bytes(run_blocks_.end), begin + most_prefetched_bytes);
    for (std::size_t at = begin; at < end; at += 64) {
      __builtin_prefetch(chunks_.to(0) + at, 1);
      for (owned_copy const* const copy : next.from) __builtin_prefetch(copy->data + at, 1);
    }
  }

  void fold_next() {
    range const& next = coming_[folded_++ % coming_.size()];
    chunks_.fold(next.from, 0, shape_.begin(next.blocks.begin), shape_.begin(next.blocks.end));
    std::size_t const begin = next.blocks.begin, number = next.blocks.end - begin;
    for (owned_copy const* const copy : next.from) std::memset(copy->touched + begin, 0, number);
    if (chunks_.total() != nullptr) chunks_.total()->mark_touched(begin, number);
    touched_ += number * next.from.size();
  }

  chunks chunks_;
  blocks const& shape_;
  bool const everywhere_;            ///< untouched blocks are filled, too
  std::vector<owned_copy*> copies_;  ///< that count
  std::vector<std::uint64_t> words_, now_, run_;
  interval run_blocks_;  ///< that the copies with run_[c] != 0 have touched
  std::array<range, 16> coming_ = {};
  std::size_t touched_ = 0;
  std::size_t found_ = 0, folded_ = 0;  ///< ranges so far; those between are prefetched and wait in coming_
};

/// The copies whose threads keep updates, in the order in which they are applied.
std::vector<owned_copy const*> keeping(reducer_core const& core) {
  std::vector<owned_copy const*> found;
  for (owned_copy const* const copy : core.in_order())
    if (copy->kept && copy->generation == core.generation()) found.push_back(copy);
  return found;
}

/// Parts of kept updates for one of several threads, so that all have as much to do. Every thread finds the same boundaries,
/// as updates are forgotten only when all have been applied.
interval fair_share(reducer_core const& core, std::vector<owned_copy const*> const& from, bool everywhere,
                    std::size_t share, std::size_t shares) {
  std::size_t const number = core.ways().parts();
  if (shares == 1) return {0, number};
  std::size_t const least = everywhere ? (std::size_t{1} << core.ways().shift()) * 4 : 256;
  std::vector<std::size_t> before(number + 1);
  for (std::size_t part = 0; part < number; ++part) {
    before[part + 1] = before[part] + least;
    for (owned_copy const* const copy : from) before[part + 1] += core.kept_bytes(*copy, part);
  }
  auto const boundary = [&](std::size_t k) {
    std::size_t const wanted = before[number] / shares * k + before[number] % shares * k / shares;
    return static_cast<std::size_t>(std::ranges::lower_bound(before, wanted) - before.begin());
  };
  return {share == 0 ? 0 : boundary(share), share + 1 == shares ? number : boundary(share + 1)};
}

}  // namespace

/// Sets in which most of the looks fell on the same few
/// tell how many those are; otherwise each update has one of its own until there are no more.
std::size_t blocks_of(reducer_core const& core, owned_copy const& copy, std::size_t part, std::size_t updates) {
  kept_updates::part const& of = copy.kept->parts[part];
  auto const seen = static_cast<std::size_t>(std::popcount(of.seen));
  if (seen > 0 && seen <= 48 && 2 * seen <= of.looks) return 2 * seen;
  return std::min(updates, std::size_t{1} << (core.ways().shift() - core.shape().shift));
}

void fold_tracked(reducer_core& core, void* const* into, combining how, std::size_t part, std::size_t parts) {
  blocks const& shape = core.shape();
  std::vector<owned_copy const*> from = keeping(core);
  runs folded(core, into, how);
  if (from.empty()) {
    // Whole words of marks, so that no part reads marks that another part writes.
    std::size_t const words = (shape.number() + word_blocks - 1) / word_blocks;
    folded.fold(words * part / parts * word_blocks, std::min(words * (part + 1) / parts * word_blocks, shape.number()));
    return core.ways().count({.blocks = folded.touched()});
  }
  way_choice& ways = core.ways();
  interval const mine = fair_share(core, from, folded.is_everywhere(), part, parts);
  auto const block = [&](std::size_t at) { return std::min(at << ways.shift() >> shape.shift, shape.number()); };
  folded.fold(block(mine.begin), block(mine.end));
  round_counts found{.blocks = folded.touched(), .copies = part == 0 ? from.size() : 0};
  for (std::size_t k = mine.begin; k < mine.end; ++k)
    for (owned_copy const* const copy : from) {
      // Few updates are one chunk, and its beginning one miss for each part, as many as there are updates.
      if (k + 8 < mine.end) {
        auto const end = reinterpret_cast<std::uintptr_t>(copy->kept->all.ends()[k + 8]);
        __builtin_prefetch(
            reinterpret_cast<void const*>((end - 1) / update_chunks::chunk_bytes * update_chunks::chunk_bytes));
      }
      std::size_t const updates = core.kept(*copy, k);
      if (updates == 0) continue;
      core.apply_part(*copy, k, folded.target());
      found.updates += updates;
      found.blocks += blocks_of(core, *copy, k, updates);
    }
  ways.count(found);
}

}  // namespace coset::reducer_room
