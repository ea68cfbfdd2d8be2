// SPDX-License-Identifier: Apache-2.0
#include "schedule/registry/permutation.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <numeric>
#include <string_view>
#include <utility>

namespace coset::schedule {
namespace {

using order_of_ranks = std::vector<rank_t>;

order_of_ranks in_turn(rank_t ranks) {
  order_of_ranks order(ranks);
  std::iota(order.begin(), order.end(), rank_t{0});
  return order;
}

/// Ranks with a smaller key first, those with equal ones as they were.
template <class Key>
order_of_ranks sorted_by(rank_t ranks, Key key) {
  auto order = in_turn(ranks);
  std::ranges::stable_sort(order, {}, key);
  return order;
}

order_of_ranks with_stride(rank_t ranks, rank_t stride) {
  return sorted_by(ranks, [stride](rank_t r) { return r % stride; });
}

/// Fisher and Yates' shuffle with Steele's splitmix64: no library's, whose numbers may differ.
order_of_ranks shuffled(rank_t ranks, std::uint64_t seed) {
  auto const next = [&seed] {
    std::uint64_t z = seed += 0x9E3779B97F4A7C15U;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
    return z ^ (z >> 31);
  };
  auto order = in_turn(ranks);
  for (rank_t left = ranks; left > 1; --left) std::swap(order[left - 1], order[next() % left]);
  return order;
}

struct named_form {
  std::string_view name;
  std::size_t numbers;  ///< that it takes; 0: as many as there are ranks
  order_of_ranks (*make)(rank_t ranks, std::vector<std::uint32_t> const&);
};

constexpr std::array forms{
    named_form{"rotate", 1,
               [](rank_t ranks, auto const& n) {
                 auto order = in_turn(ranks);
                 std::ranges::rotate(order, order.begin() + n[0] % ranks);
                 return order;
               }},
    named_form{"stride", 1, [](rank_t ranks, auto const& n) { return with_stride(ranks, n[0]); }},
    named_form{"random", 1, [](rank_t ranks, auto const& n) { return shuffled(ranks, n[0]); }},
    named_form{"nodes", 0,
               [](rank_t ranks, auto const& n) { return sorted_by(ranks, [&n](rank_t r) { return n[r]; }); }},
};

[[noreturn]] void refuse(algorithm const& of, std::string const& why) { throw schedule_error(of.text() + ": " + why); }

bool is_list(std::string const& text) { return std::isdigit(static_cast<unsigned char>(text.front())) != 0; }

/// "stride:4", "nodes:0.1.0.1".
std::pair<named_form const*, std::vector<std::uint32_t>> form_in(algorithm const& of) {
  std::string const& text = of.value(permute);
  auto const colon = text.find(':');
  auto const* const found = std::ranges::find(forms, std::string_view(text).substr(0, colon), &named_form::name);
  if (found == forms.end() || colon == std::string::npos)
    refuse(of,
           "permute takes every rank once, like 3+1+0+2, or reverse, rotate:K, stride:K, random:SEED or "
           "nodes:0.1.0.1, the node of each rank");
  algorithm part{of.name, {{permute, text.substr(colon + 1)}}};
  std::ranges::replace(part.parameters[permute], '.', '+');
  auto numbers = part.numbers(permute);
  if (found->numbers != 0 && numbers.size() != found->numbers)
    refuse(of, "permute=" + std::string(found->name) + " takes one number");
  if (found->name == "stride" && numbers[0] == 0) refuse(of, "permute=stride:0 goes nowhere; take 1 or more");
  return {found, std::move(numbers)};
}

void require_every_rank_once(algorithm const& of, order_of_ranks const& order) {
  auto const ranks = static_cast<rank_t>(order.size());
  std::vector<char> is_there(ranks, false);
  rank_t twice = ranks;
  for (rank_t const r : order) {
    if (r >= ranks)
      refuse(of, "permute: rank " + std::to_string(r) + " is none of " + std::to_string(ranks) + " ranks");
    if (is_there[r] && twice == ranks) twice = r;
    is_there[r] = true;
  }
  if (twice == ranks) return;
  auto const missing = std::ranges::find(is_there, false) - is_there.begin();
  refuse(of, "permute has rank " + std::to_string(twice) + " twice and rank " + std::to_string(missing) + " never");
}

/// Those that every block is moved to, and the blocks there: a block of the piece [x/P, (x+1)/P) lies in that of order[x].
std::vector<block_t> with_their_ranks(std::vector<block>& blocks, order_of_ranks const& order) {
  auto const ranks = static_cast<std::int64_t>(order.size());
  auto moved = blocks;
  for (block& b : moved) {
    auto const piece = (b.offset * ranks).floor();
    b.offset += fraction(std::int64_t{order[static_cast<std::size_t>(piece)]} - piece, ranks);
  }
  std::vector<block_t> by_offset(blocks.size()), position(blocks.size());
  std::iota(by_offset.begin(), by_offset.end(), block_t{0});
  std::ranges::sort(by_offset, {}, [&](block_t b) { return moved[b].offset; });
  for (block_t at = 0; at < by_offset.size(); ++at) {
    position[by_offset[at]] = at;
    blocks[at] = moved[by_offset[at]];
  }
  return position;
}

}  // namespace

order_of_ranks permutation_of(algorithm const& of, rank_t ranks) {
  auto const given = of.parameters.find(permute);
  if (given == of.parameters.end()) return {};
  std::string const& text = given->second;
  order_of_ranks order;
  if (text == "reverse") {
    order = in_turn(ranks);
    std::ranges::reverse(order);
    return order;
  }
  auto const count = [&](std::size_t listed) {
    if (listed != ranks)
      refuse(of, "permute lists " + std::to_string(listed) + " ranks, there are " + std::to_string(ranks));
  };
  if (is_list(text)) {
    order = of.numbers(permute);
    count(order.size());
    require_every_rank_once(of, order);
    return order;
  }
  auto const [how, numbers] = form_in(of);
  if (how->numbers == 0) count(numbers.size());
  return how->make(ranks, numbers);
}

std::string permutation_text(order_of_ranks const& order) {
  auto const ranks = static_cast<rank_t>(order.size());
  if (ranks > 1 && order[1] > 0 && with_stride(ranks, order[1]) == order) return "stride:" + std::to_string(order[1]);
  return value_of(order, '+');
}

void require_readable_permutation(algorithm const& of) {
  auto const given = of.parameters.find(permute);
  if (given == of.parameters.end() || given->second == "reverse") return;
  if (!is_list(given->second)) return (void)form_in(of);
  auto const order = of.numbers(permute);
  require_every_rank_once(of, order);
}

schedule permuted(schedule s, order_of_ranks const& order) {
  bool const is_by_pieces = s.verb == collective::reduce_scatter || s.verb == collective::allgather;
  std::vector<block_t> position;
  if (is_by_pieces) position = with_their_ranks(s.blocks, order);
  auto const place_of = [&](block_t b) { return is_by_pieces ? position[b] : b; };
  for (source& from : s.sources) from.rank = order[from.rank];  // once: assignments may share them
  for (auto& step : s.steps) {
    for (assignment& a : step) {
      a.rank = order[a.rank];
      a.block = place_of(a.block);
      auto const from = std::span(s.sources).subspan(a.first, a.count);
      bool const are_inputs = std::ranges::all_of(from, [](source const& one) { return one.slot == 0; });
      if (are_inputs) std::ranges::stable_sort(from, {}, &source::rank);
    }
  }
  auto result = s.result;
  for (rank_t x = 0; x < s.ranks; ++x) {
    for (block_t b = 0; b < s.blocks.size(); ++b) result[order[x]][place_of(b)] = s.result[x][b];
  }
  s.result = std::move(result);
  if (s.root) s.root = order[*s.root];
  return s;
}

}  // namespace coset::schedule
