// SPDX-License-Identifier: Apache-2.0
// Lines of staging go back to their owner: its only reader stores there, too.

#include <algorithm>
#include <map>
#include <tuple>

#include "planning/program/operation.hpp"

namespace coset::program {
namespace {

/// Of staging. Layers have been assigned, so that one place holds several values one after the other.
using place = std::tuple<rank_t, std::uint32_t, schedule::block_t>;
place place_of(location const& p) { return {p.rank, p.layer, p.block}; }

/// What becomes of a value between the operation that leaves it in a place and the next one that writes there.
struct stay {
  operation* reader = nullptr;  ///< the latest
  location where = {};
  std::size_t readers = 0;
  bool is_own = false;  ///< written by the rank whose staging it is, as it will write there again
};

bool is_one_for_another(stay const& s) { return s.is_own && s.readers == 1 && s.reader->rank != s.where.rank; }

/// What the reader leaves is of no use to anybody: its first destination's value.
void give_back(stay const& s) {
  operation& o = *s.reader;
  auto const is_there = [&](location const& to) {
    return to.where == area::staging && place_of(to) == place_of(s.where);
  };
  bool const can = o.what == operation::kind::move && !o.to.empty() && !s.where.partial;
  if (!can || std::ranges::any_of(o.to, is_there)) return;
  location to = s.where;
  to.value = o.to.front().value;
  o.to.push_back(to);
}

}  // namespace

void return_lines(linear_order& order) {
  std::map<place, stay> stays;
  auto const end = [](stay const& s) {
    if (is_one_for_another(s)) give_back(s);
  };
  for (operation& o : order.operations) {
    for (location const& p : o.from) {
      if (p.where != area::staging) continue;
      stay& here = stays[place_of(p)];
      here.reader = &o;
      here.where = p;
      ++here.readers;
    }
    for (location const& p : o.to) {
      if (p.where != area::staging) continue;
      stay& here = stays[place_of(p)];
      end(here);
      here = {.is_own = p.rank == o.rank && o.what == operation::kind::move};
    }
  }
  for (auto const& [where, last] : stays) end(last);
}

}  // namespace coset::program
