// SPDX-License-Identifier: Apache-2.0
// Reductions of large arrays of which a region touches few elements. Part of coset/omp.hpp.
#pragma once

#include "coset/detail/cxx20.hpp"

#include <omp.h>

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "coset/omp/folds.hpp"
#include "coset/reducers/sparse_reducer.hpp"
#include "coset/reducers/targets.hpp"

namespace coset::inline COSET_ABI::omp {
/// As reduction, for one large array of which a region touches few elements; see sparse_reducer. local() gives a
/// sparse_array.
///
///     coset::omp::sparse_reduction sum(grid);
template <class T, class Op = plus>
class sparse_reduction {
 public:
  explicit sparse_reduction(std::span<T> array, Op op = {}, sparse_options const& options = {})
      : sparse_reduction(array, op, detail::known_identity<T, Op>(), options) {}
  sparse_reduction(std::span<T> array, sparse_options const& options)
      : sparse_reduction(array, detail::known_operation<Op>(), options) {}
  sparse_reduction(std::span<T> array, Op op, T identity, sparse_options const& options = {})
      : into_(array), copies_(array.size(), std::move(op), identity, options) {}
  /// Over the threads of all processes: what was touched travels, or all of it where that is less.
  template <team_over_processes Team, class... Options>
  explicit sparse_reduction(Team& all, std::span<T> array, Options&&... options)
      : sparse_reduction(array, std::forward<Options>(options)...) {
    all_ = region_room::processes(all);
  }

  /// Cost: some nanoseconds. Call it once per region and thread.
  sparse_array<T, Op> local() {
    if (omp_get_level() > 1) return copies_.local();
    return copies_.claimed(static_cast<std::uint32_t>(omp_get_thread_num()));
  }

  /// As reduction's.
  void combine(combining how = combining::add, destination const& where = {}) {
    if (all_)
      return region_room::folds::combine(
          all_, copies_.core(), [this] { return place(); }, how, where);
    region_room::folds::combine(copies_.core(), place().data(), how);
  }
  void combine(nowait_t, combining how = combining::add) {
    if (all_) return combine(how);
    region_room::folds::combine(nowait, copies_.core(), place().data(), how);
  }
  /// The same in split phase, as reduction's, but for one set of copies: no thread reduces until it is complete. What was
  /// touched is exchanged before this returns; what is left to wait for is the other threads of the process. If most of the
  /// array was touched all of it travels, in split phase.
  [[nodiscard]] started_combination start_combine(member& me, combining how = combining::assign) {
    all_.require_own(me);
    region_room::folds::come_as_ranks(copies_.core(), me.state());
    std::size_t const length = into_.size();
    return detail::start_combination(copies_.core(), place().data(), &length, me.state(),
                                     static_cast<std::uint32_t>(omp_get_thread_num()), how);
  }
  void reset() noexcept { detail::reset(copies_.core()); }
  std::string describe() const { return copies_.describe(); }

 private:
  std::array<void*, 1> place() const { return {into_.data()}; }

  std::span<T> into_;
  sparse_reducer<T, Op> copies_;
  region_room::processes all_;
};

template <class Array>
explicit sparse_reduction(Array&&, sparse_options const& = {}) -> sparse_reduction<detail::lasting_element<Array>>;
template <class Array, class Op>
explicit sparse_reduction(Array&&, Op, sparse_options const& = {})
    -> sparse_reduction<detail::lasting_element<Array>, Op>;
template <class Array, class Op>
explicit sparse_reduction(Array&&, Op, detail::lasting_element<Array>, sparse_options const& = {})
    -> sparse_reduction<detail::lasting_element<Array>, Op>;
template <team_over_processes Team, class Array>
explicit sparse_reduction(Team&, Array&&, sparse_options const& = {})
    -> sparse_reduction<detail::lasting_element<Array>>;
template <team_over_processes Team, class Array, class Op>
explicit sparse_reduction(Team&, Array&&, Op, sparse_options const& = {})
    -> sparse_reduction<detail::lasting_element<Array>, Op>;
template <team_over_processes Team, class Array, class Op>
explicit sparse_reduction(Team&, Array&&, Op, detail::lasting_element<Array>, sparse_options const& = {})
    -> sparse_reduction<detail::lasting_element<Array>, Op>;

}  // namespace coset::omp
