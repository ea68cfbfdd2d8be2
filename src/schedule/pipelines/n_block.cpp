// SPDX-License-Identifier: Apache-2.0
// Root and ranks form a circulant graph: in round k everybody gives to the rank s_k behind it.
#include "schedule/pipelines/n_block.hpp"

#include <algorithm>
#include <numeric>

#include "schedule/pipelines/read_steps.hpp"

namespace coset::schedule {
namespace {

/// The first block of a rank comes along the skips that sum up to its distance, each the largest that fits: in the round of
/// the smallest of them, as the root gives away block k in round k. q for the root.
std::size_t first_block(std::vector<std::uint64_t> const& skips, std::uint64_t distance) {
  std::size_t k = skips.size() - 1;
  std::size_t first = k;
  for (; distance > 0; --k)
    if (skips[k] <= distance) {
      distance -= skips[k];
      first = k;
    }
  return first;
}

/// For each round k a rank between s_k and s_{k+1} before this one, whose first block is what is received then. They are
/// looked for along paths from the root over ever smaller skips, the longest skips first, no block twice.
class rank_search {
 public:
  rank_search(std::vector<std::uint64_t> const& skips, std::uint64_t distance)
      : skips_(skips), here_(skips.back() + distance), last_(2 * skips.back()), used_(skips.size()) {
    if (distance > 0) used_[first_block(skips, distance)] = true;
    follow(0, rounds());
  }

  /// By round; `rounds` for the block that the root gives this rank's path first.
  std::vector<std::size_t> const& found() const { return found_; }

 private:
  std::size_t rounds() const { return skips_.size() - 1; }
  bool is_complete() const { return found_.size() == rounds(); }
  bool reaches(std::uint64_t at, std::size_t skip) const { return at + skips_[skip] <= here_; }

  void follow(std::uint64_t at, std::size_t largest) {
    for (std::size_t k = largest + 1; k-- > 0 && !is_complete();) {
      std::uint64_t const next = at + skips_[k];
      if (used_[k] || !reaches(next, found_.size()) || next >= last_) continue;
      if (reaches(next, found_.size() + 1)) follow(next, k);
      if (is_complete() || !reaches(at, found_.size() + 1)) return;
      last_ = next;
      used_[k] = true;
      found_.push_back(k);
    }
  }

  std::vector<std::uint64_t> const& skips_;
  std::uint64_t here_, last_;  // the root is at 0 and at P, this rank behind it; the last rank that was found
  std::vector<bool> used_;
  std::vector<std::size_t> found_;
};

/// All pieces are alike, so what happens is the same for each root, as far behind it.
struct piece_roots {
  std::vector<rank_t> of;  ///< by piece
  block_t blocks;          ///< of each piece
};

read_steps broadcasts(rank_t ranks, piece_roots const& pieces) {
  auto const skips = halving_skips(ranks);
  std::size_t const rounds = skips.size() - 1;
  read_steps steps(rounds == 0 ? 0 : pieces.blocks - 1 + rounds);
  if (steps.empty()) return steps;
  // The last round of all is to be the last of its q rounds: the first ones, in which nothing would exist, are left out.
  std::size_t const left_out = (rounds - steps.size() % rounds) % rounds;
  for (rank_t distance = 1; distance < ranks; ++distance) {
    auto const received = received_blocks(ranks, distance);
    bool has_last = false;
    for (std::size_t step = 0; step < steps.size(); ++step) {
      std::size_t const round = step + left_out, k = round % rounds;
      std::int64_t const number = received[k] + static_cast<std::int64_t>(round / rounds * rounds - left_out);
      // What lies behind the last block stands for it, and comes only if it is new.
      auto const block = std::min<std::int64_t>(number, std::int64_t{pieces.blocks} - 1);
      bool const is_last = block + 1 == pieces.blocks;
      if (block < 0 || (is_last && has_last)) continue;
      has_last = is_last;
      auto const giver = static_cast<rank_t>(distance >= skips[k] ? distance - skips[k] : distance + ranks - skips[k]);
      for (std::size_t p = 0; p < pieces.of.size(); ++p) {
        auto const behind = [&](std::uint64_t d) { return static_cast<rank_t>((pieces.of[p] + d) % ranks); };
        steps[step].push_back({behind(distance), behind(giver), static_cast<block_t>(p * pieces.blocks + block)});
      }
    }
  }
  return steps;
}

schedule of_all_pieces(rank_t ranks, collective verb, block_t blocks) {
  piece_roots all{std::vector<rank_t>(ranks), blocks};
  std::iota(all.of.begin(), all.of.end(), rank_t{0});
  std::size_t const number = std::size_t{ranks} * blocks;
  require_room(ranks, number);
  auto const gathered = broadcasts(ranks, all);
  if (verb == collective::allgather) return schedule_of_reads(ranks, number, gathered, collective::broadcast, 0);
  schedule made = schedule_of_reads(ranks, number, reversed(gathered), collective::allreduce, 0);
  for (rank_t r = 0; r < ranks; ++r)
    for (std::size_t b = 0; b < number; ++b)
      if (b / blocks != r) made.result[r][b] = no_slot;
  return made;
}

}  // namespace

std::vector<std::uint64_t> halving_skips(rank_t ranks) {
  std::vector<std::uint64_t> skips{ranks};
  while (skips.back() > 1) skips.push_back((skips.back() + 1) / 2);
  std::ranges::reverse(skips);
  return skips;
}

std::vector<int> received_blocks(rank_t ranks, rank_t distance) {
  auto const skips = halving_skips(ranks);
  auto const rounds = static_cast<int>(skips.size() - 1);
  std::vector<int> blocks;
  rank_search const search(skips, distance);
  for (std::size_t const found : search.found()) {
    auto const block = static_cast<int>(found);
    blocks.push_back(block == rounds ? static_cast<int>(first_block(skips, distance)) : block - rounds);
  }
  return blocks;
}

schedule n_block(rank_t ranks, collective verb, rank_t root, block_t blocks) {
  require_room(ranks, blocks);
  if (verb == collective::allgather || verb == collective::reduce_scatter) return of_all_pieces(ranks, verb, blocks);
  rank_t const from = verb == collective::allreduce ? 0 : root;
  return schedule_of_broadcast(ranks, blocks, broadcasts(ranks, {{from}, blocks}), verb, from);
}

}  // namespace coset::schedule
