// SPDX-License-Identifier: Apache-2.0
#include "planning/program/fetching.hpp"

#include <algorithm>

namespace coset::program {

fetching::fetching(compiled const& barrier, layout const& of_barrier, rank_t rank, rank_t pieces)
    : places(of_barrier), first_place(of_barrier.offset.size()), first_block(of_barrier.boundary.size()) {
  auto const ranks = static_cast<std::uint32_t>(barrier.of.size());
  code.ranks = barrier.ranks;
  code.layers = barrier.layers;
  code.span = barrier.span;
  code.full = barrier.full;
  code.storage = barrier.storage;
  code.most_operands = std::max(barrier.most_operands, 2u);
  code.of.resize(ranks);
  program& own = code.of[rank];
  own = barrier.of[rank];
  instruction copy{};
  copy.sources = copy.destinations = 1;
  copy.foreign = true;
  own.code.insert(own.code.begin(), pieces, copy);
  own.steps.insert(own.steps.begin(), pieces, 1);
  std::uint32_t const to = row_output * ranks + rank;
  for (rank_t k = 0; k < pieces; ++k) {
    instruction& i = own.code[k];
    auto const place = static_cast<std::uint32_t>(first_place) + k;
    i.operands = static_cast<std::uint32_t>(own.operands.size());
    i.block = static_cast<std::uint32_t>(first_block) + k;
    i.block_end = i.block + 1;
    std::uint32_t const from = row_input * ranks + (rank + ranks - k) % ranks;
    own.operands.push_back(caller_operand(from, place));
    own.operands.push_back(caller_operand(to, place + pieces));
  }
  own.forms.resize(own.operands.size(), detail::form::element);
  places.offset.resize(first_place + 2 * pieces);
  places.boundary.resize(first_block + pieces + 1);
}

}  // namespace coset::program
