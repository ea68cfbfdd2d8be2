// SPDX-License-Identifier: Apache-2.0
// Hosts that each make their own part: where their ranks are, and what they are asked.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "planning/program/bind.hpp"
#include "planning/schedule/parts/make_part.hpp"

namespace coset::program::testing {

using element = std::uint64_t;

/// What runs where.
struct shape {
  std::vector<rank_t> hosts;
  rank_t carriers = 1;  ///< of each host
};

inline distribution spread_over(shape const& s) {
  distribution d;
  rank_t first = 0;
  for (rank_t const ranks : s.hosts) {
    d.domains.push_back(first);
    d.processes.push_back({first, std::min(ranks, s.carriers)});
    first += ranks;
  }
  d.domains.push_back(first);
  return d;
}

struct question {
  std::string algorithm;
  shape where;
  coset::verb verb = verb::allreduce;
  rank_t root = 0;
  std::string storage = "staged";
};

inline bool by_pieces(verb what) { return what == verb::reduce_scatter || what == verb::allgather; }

/// Where the ranks' pieces begin in a vector of so many elements: pieces of different lengths, some of them empty.
inline std::vector<std::size_t> pieces_of(rank_t ranks, std::size_t count) {
  std::vector<std::size_t> at{0};
  for (rank_t r = 0; r < ranks; ++r) at.push_back(std::min(at.back() + r * 7 % 5 * count / ranks / 2, count));
  at.back() = count;
  return at;
}

inline layout bound(compiled const& code, verb what, std::size_t count, item_bytes items) {
  if (by_pieces(what)) return coset::program::bind(code, rank_pieces(pieces_of(code.ranks, count)), items);
  return coset::program::bind(code, count, items);
}

/// As calls have it.
inline policy storage_of(question const& q) {
  policy storage = parse_policy(q.storage);
  storage.in_place = by_pieces(q.verb);
  return storage;
}

inline std::string two_level(std::vector<rank_t> const& hosts, std::string const& more) {
  return "two_level(nodes=" + schedule::value_of(hosts, '+') + (more.empty() ? "" : ",") + more + ")";
}

inline std::string scan_over(std::vector<rank_t> const& hosts, std::string const& more) {
  return "two_level_scan(nodes=" + schedule::value_of(hosts, '+') + (more.empty() ? "" : ",") + more + ")";
}

/// What one host compiles alone; d.own tells which.
inline compiled compiled_by(question const& q, distribution const& d, bool widens = false) {
  auto const algorithm = schedule::algorithm::parse(q.algorithm);
  policy storage = storage_of(q);
  storage.widens = widens;
  return compile(schedule::make_part(algorithm, d.domains, d.own, q.verb, q.root), storage, {}, d);
}

inline std::vector<compiled> all_compiled(question const& q) {
  distribution d = spread_over(q.where);
  std::vector<compiled> all;
  for (d.own = 0; d.own + 1 < d.domains.size(); ++d.own) all.push_back(compiled_by(q, d));
  return all;
}

inline std::vector<rank_t> const equal{3, 3, 3, 3, 3, 3}, unequal{1, 4, 2, 3, 1, 5, 2};

}  // namespace coset::program::testing
