// SPDX-License-Identifier: Apache-2.0
#include "planning/schedule/registry/permutation.hpp"

#include <algorithm>
#include <cctype>
#include <numeric>
#include <span>
#include <string_view>
#include <utility>

#include "base/text/format.hpp"
#include "planning/schedule/parts/part.hpp"

namespace coset::schedule {
namespace {

using order_of_ranks = std::vector<rank_t>;

[[noreturn]] void refuse(algorithm const& of, std::string_view why) {
  throw schedule_error(text::format("{}: permute {}", of.text(), why));
}

order_of_ranks as_numbered(rank_t ranks) {
  order_of_ranks order(ranks);
  std::iota(order.begin(), order.end(), rank_t{0});
  return order;
}

order_of_ranks with_stride(rank_t ranks, rank_t stride) {
  order_of_ranks order(ranks);
  rank_t at = 0;
  for (rank_t first = 0; first < stride && at < ranks; ++first)
    for (std::uint64_t r = first; r < ranks; r += stride) order[at++] = static_cast<rank_t>(r);
  return order;
}

/// Fisher and Yates' shuffle with Steele's splitmix64: no library's, whose numbers may differ.
void shuffle(order_of_ranks& order, std::uint64_t seed) {
  for (std::size_t left = order.size(); left > 1; --left) {
    std::uint64_t z = seed += 0x9E3779B97F4A7C15U;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
    std::swap(order[left - 1], order[(z ^ (z >> 31)) % left]);
  }
}

void require_every_rank_once(algorithm const& of, order_of_ranks const& order) {
  auto const ranks = static_cast<rank_t>(order.size());
  std::vector<char> is_there(ranks, false);
  rank_t wrong = 0, missing = 0;
  bool is_wrong = false;
  for (rank_t const r : order) {
    if (r >= ranks || is_there[r]) {
      wrong = r;
      is_wrong = true;
    } else {
      is_there[r] = true;
    }
  }
  if (!is_wrong) return;
  while (is_there[missing]) ++missing;
  refuse(of, text::format("has rank {} twice or beyond the last, and rank {} never", wrong, missing));
}

/// For 0 ranks, as many as a list has.
order_of_ranks order_in(algorithm const& of, rank_t ranks) {
  std::string const& text = of.value(permute);
  auto const form = std::string_view(text).substr(0, text.find(':') + 1);
  bool const is_list = !text.empty() && std::isdigit(static_cast<unsigned char>(text.front())) != 0;
  bool const is_shift = form == "rotate:" || form == "stride:" || form == "random:";
  std::vector<rank_t> numbers;
  if (is_list || is_shift || form == "nodes:") numbers = of.numbers(permute);
  if (is_list || form == "nodes:") {
    auto const listed = static_cast<rank_t>(numbers.size());
    if (ranks != 0 && ranks != listed) refuse(of, "lists more ranks than there are, or fewer");
    if (!is_list) return neighbours({}, numbers);
    require_every_rank_once(of, numbers);
    return numbers;
  }
  auto order = as_numbered(ranks);
  if (text == "reverse") {
    for (rank_t& r : order) r = ranks - 1 - r;
    return order;
  }
  bool const is_known = is_shift && numbers.size() == 1 && (form != "stride:" || numbers[0] > 0);
  if (!is_known)
    refuse(of, "takes every rank once, 3+1+0+2, or reverse, rotate:K, stride:K from 1, random:SEED, or nodes:0.1.0.1");
  if (form == "stride:") return with_stride(ranks, numbers[0]);
  if (form == "random:") {
    shuffle(order, numbers[0]);
  } else {
    for (rank_t& r : order) r = static_cast<rank_t>((std::uint64_t{r} + numbers[0]) % ranks);
  }
  return order;
}

/// Every block with the piece that it is in, which becomes that of the rank that plays its rank.
void move_pieces(schedule& s, order_of_ranks const& order) {
  std::vector<block_t> position(s.blocks.size());
  std::vector<rank_t> player(s.ranks), piece(s.blocks.size());
  for (rank_t x = 0; x < s.ranks; ++x) player[order[x]] = x;
  for (block_t b = 0; b < piece.size(); ++b) piece[b] = static_cast<rank_t>((s.blocks[b].offset * s.ranks).floor());
  auto const blocks = s.blocks;
  block_t at = 0;
  for (rank_t r = 0; r < s.ranks; ++r) {
    for (block_t b = 0; b < piece.size(); ++b) {
      if (piece[b] != player[r]) continue;
      s.blocks[at] = blocks[b];
      s.blocks[at].offset += fraction(std::int64_t{r} - piece[b], s.ranks);
      position[b] = at++;
    }
  }
  move_blocks(s, position);
}

}  // namespace

order_of_ranks neighbours(order_of_ranks const& order, std::vector<rank_t> const& group_of) {
  auto const ranks = static_cast<rank_t>(group_of.size());
  auto const all = order.empty() ? as_numbered(ranks) : order;
  order_of_ranks found;
  std::vector<char> is_there(ranks, false);
  for (rank_t const first : all) {
    if (is_there[first]) continue;
    for (rank_t const r : all) {
      if (group_of[r] != group_of[first]) continue;
      is_there[r] = true;
      found.push_back(r);
    }
  }
  return found;
}

bool is_permuted(algorithm const& a) { return a.parameters.contains(permute); }

order_of_ranks permutation_of(algorithm const& of, rank_t ranks) {
  return is_permuted(of) ? order_in(of, ranks) : order_of_ranks();
}

std::string permutation_text(order_of_ranks const& order) {
  auto const ranks = static_cast<rank_t>(order.size());
  if (ranks > 1 && order[1] > 0 && with_stride(ranks, order[1]) == order) return "stride:" + value_of(order[1]);
  return value_of(order, '+');
}

void permute_ranks(schedule& s, order_of_ranks const& order) {
  if (detail::is_of_pieces(s.verb)) move_pieces(s, order);
  for (source& from : s.sources) from.rank = order[from.rank];
  for (auto& step : s.steps) {
    for (assignment& a : step) {
      a.rank = order[a.rank];
      auto const from = std::span(s.sources).subspan(a.first, a.count);
      bool const are_inputs = std::ranges::all_of(from, [](source const& one) { return one.slot == 0; });
      if (are_inputs) std::ranges::stable_sort(from, {}, &source::rank);
    }
  }
  auto const played = s.result;
  for (rank_t x = 0; x < s.ranks; ++x) s.result[order[x]] = played[x];
  if (s.root) s.root = order[*s.root];
}

}  // namespace coset::schedule
