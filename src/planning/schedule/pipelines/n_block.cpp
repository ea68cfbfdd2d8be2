// SPDX-License-Identifier: Apache-2.0
#include "planning/schedule/pipelines/n_block.hpp"

#include <algorithm>
#include <utility>

#include "planning/schedule/core/verbs.hpp"
#include "planning/schedule/pipelines/block_reads.hpp"

namespace coset::schedule {

circulant_rounds::circulant_rounds(rank_t ranks) {
  for (std::uint64_t skip = ranks; skip > 1; skip = (skip + 1) / 2) ++rounds_;
  skips_[rounds_] = ranks;
  for (std::size_t k = rounds_; k-- > 0;) skips_[k] = (skips_[k + 1] + 1) / 2;
}

/// The first block of a rank comes along the skips that sum up to its distance, each the largest that fits: in the round of
/// the smallest of them, as the root gives away block k in round k. q for the root.
std::size_t circulant_rounds::first_block(std::uint64_t distance) const {
  std::size_t first = rounds_;
  for (std::size_t k = rounds_; distance > 0; --k)
    if (skips_[k] <= distance) {
      distance -= skips_[k];
      first = k;
    }
  return first;
}

/// For each round k a rank between s_k and s_{k+1} before this one, whose first block is what is received then. They are
/// looked for along paths from the root over ever smaller skips, the longest skips first, no block twice.
class circulant_rounds::search {
 public:
  search(circulant_rounds const& all, std::uint64_t distance) : all_(all) {
    here_ = all.skip(all.rounds()) + distance;
    last_ = 2 * all.skip(all.rounds());
    if (distance > 0) used_ = std::uint64_t{1} << all.first_block(distance);
    follow(0, all.rounds());
  }

  /// By round; q where the root gives what this rank's path begins with.
  blocks const& found() const { return found_; }

 private:
  bool is_complete() const { return number_ == all_.rounds(); }
  /// Whether a rank is early enough for the round that so many others have been found before.
  bool reaches(std::uint64_t at, std::size_t others) const { return at + all_.skip(others) <= here_; }

  void follow(std::uint64_t at, std::size_t largest) {
    for (std::size_t k = largest + 1; k-- > 0 && !is_complete();) {
      std::uint64_t const next = at + all_.skip(k), bit = std::uint64_t{1} << k;
      if ((used_ & bit) != 0 || !reaches(next, number_) || next >= last_) continue;
      if (reaches(next, number_ + 1)) follow(next, k);
      if (is_complete() || !reaches(at, number_ + 1)) return;
      last_ = next;
      used_ |= bit;
      found_[number_++] = static_cast<std::int32_t>(k);
    }
  }

  circulant_rounds const& all_;
  std::uint64_t here_, last_;  // the root is at 0 and at P, this rank behind it; the last rank that was found
  std::uint64_t used_ = 0;     // by block
  std::size_t number_ = 0;
  blocks found_{};
};

circulant_rounds::blocks circulant_rounds::received(rank_t distance) const {
  auto const rounds = static_cast<std::int32_t>(rounds_), first = static_cast<std::int32_t>(first_block(distance));
  blocks found = search(*this, distance).found();
  for (std::int32_t& block : found) block = block == rounds ? first : block - rounds;
  return found;
}

namespace {

/// What the rank `distance` behind the root of a piece reads of its blocks, in as few steps as can be: the first rounds, in which nothing
/// would exist, are left out such that the last step of all is the last of its q rounds.
void append_reads(circulant_rounds const& graph, rank_t distance, rank_t root, block_t first, block_t blocks,
                  block_reads& to) {
  auto const rounds = graph.rounds();
  auto const ranks = graph.skip(rounds);
  std::size_t const steps = blocks - 1 + rounds, left_out = (rounds - steps % rounds) % rounds;
  auto const received = graph.received(distance);
  std::int64_t const last = std::int64_t{blocks} - 1;
  for (std::size_t round = left_out; round < steps + left_out; ++round) {
    std::size_t const k = round % rounds;
    std::int64_t const number =
        received[k] + static_cast<std::int64_t>(round - k) - static_cast<std::int64_t>(left_out);
    if (number < 0) continue;
    auto const behind_root = [&](std::uint64_t d) { return static_cast<rank_t>((root + d) % ranks); };
    // Of the last q rounds one has a number that is not before the last block's, the first block's: then that one comes.
    block_t const block = first + static_cast<block_t>(std::min(number, last));
    append(to,
           {static_cast<std::uint32_t>(round - left_out), behind_root(distance),
            behind_root(distance + ranks - graph.skip(k)), block},
           0, block + 1);
  }
}

}  // namespace

schedule n_block(rank_t ranks, verb what, rank_t root, block_t blocks) {
  require_blocks(ranks, blocks);
  bool const has_pieces = detail::is_half(what);
  rank_t const first = detail::is_rooted(what) ? root : 0;
  rank_t const pieces = has_pieces ? ranks : 1;
  require_room(ranks, std::size_t{pieces} * blocks);
  circulant_rounds const graph(ranks);
  block_reads reads;
  for (rank_t piece = 0; piece < pieces; ++piece)
    for (rank_t distance = 1; distance < ranks; ++distance)
      append_reads(graph, distance, first + piece, piece * blocks, blocks, reads);
  schedule made = schedule_of_broadcast(ranks, std::size_t{pieces} * blocks, std::move(reads), what, first);
  made.verb = what;
  if (detail::gets_pieces(what)) keep_required_results(made);
  return made;
}

}  // namespace coset::schedule
