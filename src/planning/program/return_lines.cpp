// SPDX-License-Identifier: Apache-2.0
// Lines of staging go back to their owner: its only reader stores there, too.

#include <algorithm>
#include <vector>

#include "planning/program/operation.hpp"

namespace coset::program {
namespace {

/// What becomes of a value between the operation that leaves it in a place and the next one that writes there.
struct stay {
  operation* reader = nullptr;  ///< the latest
  std::uint32_t source = 0;     ///< its place among the reader's sources
  std::uint32_t readers = 0;
  bool is_own = false;  ///< written by the rank whose staging it is, as it will write there again
};

bool is_same_place(location const& a, location const& b) {
  return a.where == area::staging && b.where == area::staging && a.rank == b.rank && a.layer == b.layer &&
         a.block == b.block;
}

/// What the reader leaves there is of no use to anybody.
void end(stay const& s) {
  if (!s.is_own || s.readers != 1) return;
  operation& o = *s.reader;
  location back = o.from[s.source];
  bool const is_for_another = o.what == operation::kind::move && o.rank != back.rank && !o.to.empty() && !back.partial;
  if (!is_for_another || std::ranges::any_of(o.to, [&](location const& to) { return is_same_place(to, back); })) return;
  back.value = o.to.front().value;
  o.to.push_back(back);
}

}  // namespace

void return_lines(linear_order& order) {
  std::vector<stay> stays(std::size_t{order.ranks} * order.layers * order.blocks);
  auto const at = [&](location const& p) -> stay& {
    return stays[(std::size_t{p.rank} * order.layers + p.layer) * order.blocks + p.block];
  };
  for (operation& o : order.operations) {
    for (std::uint32_t k = 0; k < o.from.size(); ++k) {
      if (o.from[k].where != area::staging) continue;
      stay& here = at(o.from[k]);
      here = {&o, k, here.readers + 1, here.is_own};
    }
    for (location const& p : o.to) {
      if (p.where != area::staging) continue;
      stay& here = at(p);
      end(here);  // of another operation than `o`, or there already
      here = {.is_own = p.rank == o.rank && o.what == operation::kind::move};
    }
  }
  for (stay const& last : stays) end(last);
}

}  // namespace coset::program
