// SPDX-License-Identifier: Apache-2.0
// Each way of updating with each operation on one type of elements.
#pragma once

#include "updates/loops.hpp"

namespace coset::updates_test {

/// By teams; the interfaces differ in the threads that they bring, not in what these do.
template <class T>
class Ways : public ::testing::Test {
 protected:
  template <class Op, class TargetOf = whole>
  void expect_plain_loops(Op const& op, TargetOf const& target_of = {}) {
    for (rank_t const threads : {1u, 2u, 5u}) {
      team all({.ranks = threads, .place = placement::unbound});
      for (auto const& [length, count] : {std::pair<std::size_t, std::size_t>{1, 400}, {9, 2000}, {30'000, 6000}}) {
        updates<T> const loop(length, count);
        expect_plain_loop(loop, op, target_of, [&](auto&& target, auto const& by, scatter_options const& options) {
          scatter_add(all, target, loop.keys, loop.values, by, options);
        });
        ASSERT_FALSE(this->HasFailure()) << threads << " threads";
      }
    }
  }

  /// The operation is another, the ways are the same: nothing that sanitizers would notice.
  template <class... Op>
  void expect_plain_loops_of_others(Op const&... op) {
    if constexpr (!test::is_sanitized) (expect_plain_loops(op), ...);
  }
};

}  // namespace coset::updates_test
