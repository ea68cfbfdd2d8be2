// SPDX-License-Identifier: Apache-2.0
// From what is asked for to a bound plan.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "team/team_state.hpp"

namespace coset::team_room {

/// Where staging cannot grow a vector goes in segments, but not one whose pieces are the ranks' own.
struct lacks_staging : argument_error {
  using argument_error::argument_error;
};

inline bool by_pieces(verb what) { return what == verb::reduce_scatter || what == verb::allgather; }
/// Verbs that leave a rank its own input, or write only where nothing is read any more, have one program for input and
/// output in one array or apart.
inline bool in_place_always(verb what) { return what == verb::reduce || what == verb::broadcast || by_pieces(what); }
/// Whether `in` and `out` of a call are one array to its plan.
inline bool in_place(detail::call const& c) {
  return in_place_always(c.what) || (c.in == c.out && c.count > 0 && c.out != nullptr);
}

inline std::uint64_t counts_hash(std::span<std::size_t const> counts) {
  std::uint64_t h = 0;
  for (std::size_t c : counts) h = mixed(h + 1, c);
  return counts.empty() ? 0 : h | 1;
}

/// The plan that the library chooses for a call of this rank: bound the first time, kept under its key. May throw
/// lacks_staging.
detail::bound_plan const& bind_anew(detail::rank_state&, detail::call const&, plan_key const&);
/// The same, found again after.
inline detail::bound_plan const& plan_for(detail::rank_state& me, detail::call const& c) {
  plan_key const key{c.reduction, c.count, c.what, in_place(c), c.root, counts_hash(c.counts)};
  auto const& [known, plan] = me.plans.front_of(key);
  return plan != nullptr && known == key ? *plan : bind_anew(me, c, key);
}

/// The rules of the team's table that cannot serve an ordinary call, sums of floats of some sizes by every verb, each
/// once for each reason: "COSET_ALLREDUCE, direct(saved_steps=1)/output: …". Compiles what the rules name.
std::vector<std::string> refused_rules(detail::team_state&);

}  // namespace coset::team_room
