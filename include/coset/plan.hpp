// SPDX-License-Identifier: Apache-2.0
// Plans: choosing how a collective runs apart from running it.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "coset/detail/collective.hpp"

namespace coset {

/// Which ranks must agree bit for bit.
enum class bits : std::uint8_t {
  same_on_all_ranks,  ///< plans whose ranks bracket differently are refused for inexact operations
  per_rank            ///< any valid plan
};

/// How to run, where the caller knows better than the library.
struct plan_options {
  std::string algorithm = "auto";              ///< "direct", "ring", "generalized(radix=4,saved_steps=1)", "product(dims=4x3)" …
  std::string storage = "auto";                ///< where peers meet: "staged", "eager", "output", "zero_copy", "pull", "push" …
  bits required = bits::same_on_all_ranks;
};

namespace detail {

struct bound_plan;
bound_plan const& plan_allreduce(team_state&, std::size_t count, reduction_table const&, bool in_place, plan_options const&);
void execute(rank_state&, bound_plan const&, void const* in, void* out, void const* context);
std::string describe(bound_plan const&);

}  // namespace detail

/// A persistent allreduce of `count` elements: made once, executed any number of times by every rank of its team.
template <element T, reduction<T> Op = plus>
class plan {
 public:
  /// May be called by any thread. Throws schedule_error if the algorithm or storage does not exist, is undefined for
  /// this many ranks, or does not give the bits required; the message says what would do.
  plan(team& owner, std::size_t count, Op op = {}, plan_options const& options = {})
      : op_(op),
        count_(count),
        apart_(&detail::plan_allreduce(owner.state(), count, detail::table_of<T, Op>(), false, options)),
        in_place_(&detail::plan_allreduce(owner.state(), count, detail::table_of<T, Op>(), true, options)) {}

  /// Collective: every rank executes the same plan. `in` may be `out`.
  template <elements In, writable_elements Out>
    requires std::same_as<std::ranges::range_value_t<In>, T> && std::same_as<std::ranges::range_value_t<Out>, T>
  void execute(member& me, In const& in, Out&& out) const {
    detail::require_same_length(me.state(), "plan", std::ranges::size(in), count_);
    detail::require_same_length(me.state(), "plan", count_, std::ranges::size(out));
    T const* const from = std::ranges::data(in);
    T* const to = std::ranges::data(out);
    detail::execute(me.state(), from == to && count_ > 0 ? *in_place_ : *apart_, from, to, &op_);
  }

  std::size_t count() const noexcept { return count_; }
  /// "direct, staged, forward, 2 steps", for logs.
  std::string describe() const { return detail::describe(*apart_); }

 private:
  Op op_;
  std::size_t count_;
  detail::bound_plan const* apart_;
  detail::bound_plan const* in_place_;
};

template <element T, reduction<T> Op = plus>
plan<T, Op> make_plan(team& owner, std::size_t count, Op op = {}, plan_options const& options = {}) {
  return plan<T, Op>(owner, count, op, options);
}

}  // namespace coset
