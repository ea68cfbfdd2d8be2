// SPDX-License-Identifier: Apache-2.0
// Teams over processes, as reductions see them.
#pragma once

#include "coset/detail/cxx20.hpp"

#include <concepts>
#include <exception>
#include <string>

#include "coset/detail/collective.hpp"
#include "coset/error.hpp"
#include "coset/team.hpp"

namespace coset::inline COSET_ABI {

/// coset::mpi::team, without its header and so without MPI.
///
/// Each process makes a reduction of its own with it, for targets of its own: `omp::reduction sum(all, bins)`. The team outlives
/// the reduction. Combining is collective: all pass the same `how` and destination, and each process has in its targets what all
/// have reduced; with combining::add each adds that to what its own targets hold. Threads that combine join the team meanwhile,
/// unless they have joined before. Cost: `coset why reduction`. Errors are a collective's, on all threads of all processes.
template <class Team>
concept team_over_processes = requires(Team& all, rank_t thread) {
  { all.join(thread) } -> std::same_as<member_guard>;
  { all.joined(thread) } -> std::same_as<detail::rank_state*>;
  { all.is_adopted() } -> std::convertible_to<bool>;
  { all.processes() } -> std::convertible_to<int>;
  { all.threads() } -> std::convertible_to<rank_t>;
};

namespace detail {

/// What work() throws is told to the ranks of all processes first, as they would wait for this one.
template <class Work>
decltype(auto) told_to_all(rank_state& me, Work const& work) {
  auto const tell = [&](char const* what) {
    try {
      refuse(me, std::string("combine: ") + what);
    } catch (argument_error const&) {
    }
  };
  try {
    return work();
  } catch (std::exception const& thrown) {
    tell(thrown.what());
    throw;
  } catch (...) {
    tell("an operation threw");
    throw;
  }
}

}  // namespace detail

}  // namespace coset
