// SPDX-License-Identifier: Apache-2.0
// Whole loops that add into arrays: target[key(i)] = op(target[key(i)], value(i)) for all iterations i, by the threads of a
// team.
#pragma once

#include "coset/detail/cxx20.hpp"

#include <concepts>
#include <cstddef>
#include <utility>

#include "coset/team.hpp"
#include "coset/updates/prepared.hpp"
#include "coset/updates/ranks.hpp"
#include "coset/verbs/barrier.hpp"

namespace coset::inline COSET_ABI {
namespace detail {

/// By the threads of a team that is not running.
template <class Loop>
void carry_out_by(team& with, Loop const& loop, scatter_options const& options) {
  carry_out(loop, with.size(), options, [&](auto& shared, std::size_t planned) {
    with.run([&](member& me) { shared.carry_out(me.rank(), me.size(), planned, [&me] { barrier(me); }); });
  });
}

}  // namespace detail

/// target[key(i)] = op(target[key(i)], value(i)) for all iterations i, by the threads of a team that is not running.
///
///     coset::scatter_add(team, bins, keys);                                        // counts
///     coset::scatter_add(team, bins, keys, weights);                               // sums of weights
///     coset::scatter_add(team, grid, n, [&](std::size_t i) { return cell_of(i); }, [&](std::size_t i) { return charge(i); });
///     coset::scatter_add(team, std::tie(gradient, hessian), keys, pairs);          // values are tuples
///
/// `target`: an array, one variable, a view like std::mdspan, into(array, operation), or a std::tuple (std::tie) of such, of
/// one length, which are updated at one index. `keys`: integers, or an array of them for the indices of a view. `values`:
/// what elements can be made of, std::tuple for several targets; one_each, or nothing, counts. Both are arrays in one piece,
/// or functions of the iteration, which are called by several threads at once, several times, in any order. Where both are
/// functions, the number of iterations stands before them. Operations need not commute; for way::atomics and bits::per_rank, noncommutative(op) says so.
///
/// Called by one thread; nobody else touches the target until it returns. Keys that are no element of the target are
/// undefined, as for an array; in debug builds (without NDEBUG) they throw argument_error.
/// Bits: with way::one_thread, owner_scan and partition, and always with bits::serial, those of the plain loop, for any
/// number of threads; else of every run with as many threads, but for way::atomics, which is chosen with bits::per_rank only or
/// where order decides no bits.
/// Cost: `coset why scatter_add`; memory is limited by scatter_options::most_bytes.
/// Throws what keys, values and the operation throw, the first of it; argument_error for keys and values of different
/// numbers, arrays of different lengths, a way that cannot be obeyed; std::bad_alloc. The target's elements are unspecified
/// after the first and the last of these, and as they were after argument_error of the arguments.
template <class Target, class Keys, class Values = detail::count_one, class Op = plus>
requires(!std::integral<Keys>) void scatter_add(team& with, Target&& target, Keys const& keys,
                                                Values const& values = {}, Op const& op = {},
                                                scatter_options const& options = {}) {
  detail::with_written_loop(std::forward<Target>(target), keys, values, op,
                            [&](auto const& loop) { detail::carry_out_by(with, loop, options); });
}
template <class Target, std::integral Count, class Keys, class Values = detail::count_one, class Op = plus>
void scatter_add(team& with, Target&& target, Count iterations, Keys const& keys, Values const& values = {},
                 Op const& op = {}, scatter_options const& options = {}) {
  detail::with_written_loop(
      std::forward<Target>(target), keys, values, op,
      [&](auto const& loop) { detail::carry_out_by(with, loop, options); }, iterations);
}

/// The same by the ranks of a running team, collective: each rank passes its own keys and values, of any number, all of them
/// the same target. The plain loop whose bits are promised takes one rank's updates after the other's.
///
/// Every rank passes arguments of the same types and an operation that does the same. A rank's keys and values have to stay
/// until it returns, which no rank does before all are done. `options` are rank 0's.
/// Cost: four flag rounds, and one for each phase.
/// Errors: as a collective's. What a key, value or operation throws leaves rank 0, the others throw aborted, run() the
/// first of all; argument_error is thrown on every rank, also for targets that differ and for teams over processes.
template <class Target, class Keys, class Values = detail::count_one, class Op = plus>
requires(!std::integral<Keys>) void scatter_add(member& me, Target&& target, Keys const& keys,
                                                Values const& values = {}, Op const& op = {},
                                                scatter_options const& options = {}) {
  detail::by_rank(me, options, [&](auto const& run) {
    detail::with_written_loop(std::forward<Target>(target), keys, values, op, run);
  });
}
template <class Target, std::integral Count, class Keys, class Values = detail::count_one, class Op = plus>
void scatter_add(member& me, Target&& target, Count iterations, Keys const& keys, Values const& values = {},
                 Op const& op = {}, scatter_options const& options = {}) {
  detail::by_rank(me, options, [&](auto const& run) {
    detail::with_written_loop(std::forward<Target>(target), keys, values, op, run, iterations);
  });
}

}  // namespace coset
