// SPDX-License-Identifier: Apache-2.0
// A rank that has read a line of another's staging is the next to write there. Then each line crosses once an operation, where
// else its owner would have to ask for it first, and nobody has to wait before it writes: it was itself the last to read.

#include <numeric>
#include <vector>

#include "planning/program/operation.hpp"

namespace coset::program {
namespace {

constexpr rank_t nobody = UINT32_MAX, several = nobody - 1;

/// Who touches a block of staging in the whole program.
struct users {
  rank_t writer = nobody, reader = nobody;
};

void note(rank_t& who, rank_t rank) { who = who == nobody || who == rank ? rank : several; }

}  // namespace

std::vector<std::size_t> exchange_lines(linear_order const& order) {
  std::vector<users> of(std::size_t{order.ranks} * order.layers * order.blocks);
  std::vector<std::size_t> writes(of.size(), 0), exchanged(of.size());
  std::iota(exchanged.begin(), exchanged.end(), std::size_t{0});
  std::vector<std::size_t> in_order_of_writes;
  auto const at = [&](location const& p) {
    return (std::size_t{p.rank} * order.layers + p.layer) * order.blocks + p.block;
  };
  for (operation const& o : order.operations) {
    bool const moves = o.what == operation::kind::move;
    for (location const& p : o.from)
      if (p.where == area::staging) note(of[at(p)].reader, moves ? o.rank : several);
    for (location const& p : o.to) {
      if (p.where != area::staging) continue;
      note(of[at(p)].writer, moves && p.rank == o.rank ? o.rank : several);
      if (++writes[at(p)] == 1) in_order_of_writes.push_back(at(p));
    }
  }
  // What is written once by its owner, for one other to read: from whom that one gets the same, block for block.
  std::size_t const ranks = order.ranks;
  std::vector<std::size_t> begins(ranks * ranks + 1, 0);
  for (std::size_t const block : in_order_of_writes) {
    auto const [writer, reader] = of[block];
    if (writes[block] != 1 || writer >= ranks || reader >= ranks || reader == writer) return {};
    ++begins[writer * ranks + reader + 1];
  }
  for (std::size_t pair = 0; pair < ranks * ranks; ++pair) begins[pair + 1] += begins[pair];
  std::vector<std::size_t> blocks(in_order_of_writes.size()), next = begins;
  for (std::size_t const block : in_order_of_writes)
    blocks[next[of[block].writer * ranks + of[block].reader]++] = block;
  for (std::size_t writer = 0; writer < ranks; ++writer)
    for (std::size_t reader = 0; reader < ranks; ++reader) {
      std::size_t const given = writer * ranks + reader, taken = reader * ranks + writer;
      std::size_t const count = begins[given + 1] - begins[given];
      if (begins[taken + 1] - begins[taken] != count) return {};
      for (std::size_t k = 0; k < count; ++k) exchanged[blocks[begins[given] + k]] = blocks[begins[taken] + k];
    }
  return exchanged;
}

}  // namespace coset::program
